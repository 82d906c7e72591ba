"""A look at C and C++ text that skips comments and literals. Linear in the text: it is a stranger's."""

import re

#: What can begin a token that matters: comments, strings, characters, names and numbers.
_TOKEN = re.compile(r"""//|/\*|"|'|[A-Za-z_]\w*|\d[\w']*""")
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"?', re.DOTALL)
_CHARACTER = re.compile(r"'(?:\\.|[^'\\\n])*'?", re.DOTALL)
_RAW_DELIMITER = re.compile(r'"([^()\\\s]{0,16})\(')
_CALL = re.compile(r"\s*\(")


def mentions_function(text: str, name: str) -> bool:
    """Whether ``name (`` stands outside comments and literals."""
    position = 0
    while match := _TOKEN.search(text, position):
        found, position = match.group(), match.end()
        if found == "//":
            position = _after(text, "\n", position)
        elif found == "/*":
            position = _after(text, "*/", position)
        elif found == '"':
            position = _end(_STRING, text, match.start())
        elif found == "'":
            position = _end(_CHARACTER, text, match.start())
        elif found.endswith("R") and (raw := _RAW_DELIMITER.match(text, position)):
            position = _after(text, f'){raw.group(1)}"', raw.end())
        elif found == name and _CALL.match(text, position):
            return True
    return False


def _after(text: str, mark: str, position: int) -> int:
    found = text.find(mark, position)
    return len(text) if found < 0 else found + len(mark)


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start + 1
