"""A look at C++ text that skips comments and string literals."""

import re

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def without_comments(source: str) -> str:
    """``source`` with comments and literals blanked. Newlines stay, so that lines keep their numbers."""
    return _SKIPPED.sub(lambda match: "\n" * match.group().count("\n") or " ", source)
