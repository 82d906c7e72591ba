"""Writes of the surrogate. None of them may fail or delay what it is about: a submission."""
