"""Assembly linked to the lines of the source."""

import re
from typing import Any

_FILE = re.compile(r"\s*\.file\s+(\d+)\s+(?:\"[^\"]*\"\s+)?\"([^\"]*)\"")
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_DIRECTIVE = re.compile(r"\s*\.(?!L)|\s*#|\.L(?:BB|BE|VL|LST|FB|FE|func|text|debug|frame|ASF|EFDE|SFDE)")
_MOST_LINES = 4000


def listing(assembly: str, source_name: str) -> dict[str, Any]:
    """``{"kind": "asm", "lines": [[source line or None, text], …]}`` from the output of ``g++ -g1 -S``."""
    files: dict[str, str] = {}
    line: int | None = None
    lines: list[list[Any]] = []
    for text in assembly.splitlines():
        if match := _FILE.match(text):
            files[match[1]] = match[2]
        elif match := _LOCATION.match(text):
            ours = files.get(match[1], "").rpartition("/")[2] == source_name
            line = int(match[2]) if ours and match[2] != "0" else None
        elif re.match(r"\s*\.section\s+\.debug", text):
            break
        elif text.strip() and not _DIRECTIVE.match(text):
            lines.append([line, text.expandtabs(8)])
            if len(lines) == _MOST_LINES:
                lines.append([None, f"… more than {_MOST_LINES} lines"])
                break
    return {"kind": "asm", "lines": lines}
