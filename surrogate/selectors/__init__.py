"""Reads of the surrogate. Who may see which submission is decided above: these know none."""
