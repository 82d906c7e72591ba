"""Reading what nvdisasm prints of a cubin with ``-c -gi``: machine code with the lines it came from."""

import re
from collections.abc import Mapping

from runners.backends.cuda.ptx import Line

_SECTION = re.compile(r"\s*\.section\s+\.text\.([\w$.]+),")
_LOCATION = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/\s+(.*?)\s*;?\s*$")
_LABEL = re.compile(r"(\.L_x_\d+):")


def listing(text: str, source_name: str, names: Mapping[str, str]) -> list[Line]:
    """Instructions with their lines of ``source_name``. ``names`` gives the readable name of each symbol.

    Where code was inlined, nvdisasm names the innermost place first and then who called it; the first of them
    that lies in the submission counts.
    """
    lines: list[Line] = []
    current: int | None = None
    in_locations = False
    for line in text.splitlines():
        if match := _LOCATION.match(line):
            if not in_locations:
                current = None
            in_locations = True
            if current is None and match[1].rsplit("/", 1)[-1] == source_name:
                current = int(match[2])
            continue
        in_locations = False
        if match := _INSTRUCTION.match(line):
            lines.append((current, f"  {match[1]}  {match[2]}"))
        elif match := _LABEL.match(line):
            lines.append((None, f"{match[1]}:"))
        elif match := _SECTION.match(line):
            current = None
            lines.append((None, f"{names.get(match[1], match[1])}:"))
    return lines
