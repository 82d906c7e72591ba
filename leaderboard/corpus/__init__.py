"""Submissions of hostile intent as data: reading them, running them, and judging what became of each."""
