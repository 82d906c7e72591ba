"""Whole numbers that come from outside as text."""


def whole_number(text: str, digits: int = 15) -> int | None:
    """The number that ``text`` writes with at most so many ASCII digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None
