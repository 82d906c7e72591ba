"""Telling of an error without its message, which may quote a text that somebody is typing: logs are kept."""

import traceback
from pathlib import Path


def place_of(error: BaseException) -> str:
    """Kind and place of an error and of what caused it: ``ValueError at desk.py:189 in _asked``.

    Neither its message nor lines of source: a SyntaxError's traceback ends with the very text it is about.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames)
    told = f"{type(error).__name__} at {places}" if places else type(error).__name__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{told}; from {place_of(cause)}" if cause is not None else told
