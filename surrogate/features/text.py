"""Source text without what should not count: comments, docstrings and spacing.

Comments go because published kernels state their own target speed in them, which would be read instead of
the code.
"""

import hashlib
import io
import re
import tokenize
from functools import lru_cache

_C_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
_LOOKS_LIKE_C = re.compile(r"#include|__global__|__device__|\bvoid\b|torch::")
_QUIET = {tokenize.NL, tokenize.COMMENT}
_STARTS_STATEMENT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


@lru_cache(maxsize=4096)
def strip_comments(language: str, source: str) -> str:
    """``source`` without comments and docstrings, and without blank lines and trailing spaces.

    Python that does not parse is returned with its ``#`` comments cut line by line.
    """
    text = _strip_python(source) if language == "python" else _strip_c(source)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


@lru_cache(maxsize=4096)
def tokens(language: str, source: str) -> tuple[str, ...]:
    """Normalised tokens: comments gone, every number one token."""
    return tuple(
        "0" if token[0].isdigit() else token for token in _TOKEN.findall(strip_comments(language, source))
    )


@lru_cache(maxsize=4096)
def text_digest(language: str, source: str) -> str:
    """Equal for sources that differ only in comments and spacing; 32 hex digits."""
    joined = " ".join(_TOKEN.findall(strip_comments(language, source)))
    return hashlib.blake2b(joined.encode(), digest_size=16).hexdigest()


def _strip_c(source: str) -> str:
    return _C_COMMENT.sub(lambda match: match[1] or " ", source)


def _strip_python(source: str) -> str:
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return re.sub(r"#[^\n]*", "", source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    kept: list[str] = []
    position = 0
    before = tokenize.ENCODING
    for index, token in enumerate(found):
        replacement: str | None = None
        if token.type == tokenize.COMMENT:
            replacement = ""
        elif token.type == tokenize.STRING:
            after = found[index + 1].type
            if before in _STARTS_STATEMENT and after in (tokenize.NEWLINE, tokenize.ENDMARKER):
                replacement = '""'  # a docstring
            elif _LOOKS_LIKE_C.search(token.string):
                replacement = _strip_c_literal(token.string)
        if token.type not in _QUIET:
            before = token.type
        if replacement is not None:
            start = starts[token.start[0] - 1] + token.start[1]
            kept += [source[position:start], replacement]
            position = starts[token.end[0] - 1] + token.end[1]
    return "".join([*kept, source[position:]])


def _strip_c_literal(literal: str) -> str:
    """Strip C comments inside a Python string literal, leaving its own quotes alone."""
    quote = 3 if literal.endswith(('"""', "'''")) else 1
    opening = literal.index(literal[-1]) + quote
    return literal[:opening] + _strip_c(literal[opening:-quote]) + literal[-quote:]
