"""Whether a stored forecast says anything of seconds, and what is told in its place where it does not."""

#: Octaves of one standard deviation, about a factor of six, from which a forecast tells no time.
WIDEST = 2.5
UNTOLD = "none: nothing like it has a time yet that a forecast could start from"


def is_told(seconds: float | None, spread: float | None, p_better: float | None) -> bool:
    """Forecasts are relative to what the search has measured.

    Before anything has passed there is no probability of beating it either; before the first of a template's
    kernels has passed, where in time they lie is anybody's guess, and the spread says so.
    """
    return seconds is not None and p_better is not None and (spread is None or spread < WIDEST)
