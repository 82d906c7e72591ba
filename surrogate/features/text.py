"""Source text without what should not count: comments, docstrings and spacing.

Comments go because published kernels state their own target speed in them, which would be read instead of
the code.
"""

import hashlib
import re

from surrogate.features.cache import remembered

#: Longer sources are read up to here: nobody should be able to keep a forecaster busy with one text.
MOST_READ = 200_000

# The closing quotes are optional so that an open string cannot make the search start over at each character.
_C_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|//[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
_LOOKS_LIKE_C = re.compile(r"#include|__global__|__device__|\bvoid\b|torch::")
_PYTHON = re.compile(
    r"""
    (?P<string>[rbuf]{0,2}(?:
        \"""(?:\\.|[^\\])*?(?:\"""|\Z) | \'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)
        | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?
    ))
    | (?P<comment>\#[^\n]*) | (?P<opened>[(\[{]) | (?P<closed>[)\]}])
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_LINE_ENDS = re.compile(r"[ \t]*(?:#|\n|\Z)")


@remembered(2048)
def strip_comments(language: str, source: str) -> str:
    """``source`` without comments and docstrings, and without blank lines and trailing spaces.

    Any text will do, whether it parses or not. Only the first ``MOST_READ`` characters are read.
    """
    source = source[:MOST_READ]
    text = _strip_python(source) if language == "python" else _strip_c(source)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def tokens(language: str, source: str) -> tuple[str, ...]:
    """Normalised tokens: comments gone, every number one token."""
    return tuple(
        "0" if token[0].isdigit() else token for token in _TOKEN.findall(strip_comments(language, source))
    )


@remembered(2048)
def text_digest(language: str, source: str) -> str:
    """Equal for sources that differ only in comments and spacing; 32 hex digits."""
    read = " ".join(_TOKEN.findall(strip_comments(language, source)))
    # What is past the limit counts as it stands, so that long sources with equal beginnings differ.
    return hashlib.blake2b((read + source[MOST_READ:]).encode(errors="replace"), digest_size=16).hexdigest()


def _strip_c(source: str) -> str:
    return _C_COMMENT.sub(lambda match: match[1] or " ", source)


def _strip_python(source: str) -> str:
    """Our own scan and not ``tokenize``, which needs quadratic time for a line of open quotes."""
    kept: list[str] = []
    position = depth = 0
    for match in _PYTHON.finditer(source):
        text = match[0]
        replacement = text
        if match.lastgroup == "opened":
            depth += 1
        elif match.lastgroup == "closed":
            depth = max(0, depth - 1)
        elif match.lastgroup == "comment":
            replacement = ""
        elif depth == 0 and _stands_alone(source, match.start(), match.end()):
            replacement = '""'  # a docstring, or a string used as a comment
        elif _LOOKS_LIKE_C.search(text):
            replacement = _strip_c_literal(text)
        kept += [source[position : match.start()], replacement]
        position = match.end()
    return "".join([*kept, source[position:]])


def _stands_alone(source: str, start: int, end: int) -> bool:
    """Whether what lies between is all there is on its lines."""
    before = source[max(0, start - 200) : start].rpartition("\n")
    begins = not before[2].strip() and (bool(before[1]) or start <= 200)
    return begins and _LINE_ENDS.match(source, end) is not None


def _strip_c_literal(literal: str) -> str:
    """Strip C comments inside a Python string literal, leaving its own quotes alone."""
    quote = 3 if literal.endswith(('"""', "'''")) else 1
    opening = literal.index(literal[-1]) + quote if literal[-1] in "\"'" else 0
    if opening + quote > len(literal):  # an open string
        return _strip_c(literal)
    return literal[:opening] + _strip_c(literal[opening:-quote]) + literal[-quote:]
