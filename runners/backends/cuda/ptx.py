"""Reading PTX: launch bounds, and every line with the source line that it came from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(?:.*inlined_at\s+(\d+)\s+(\d+))?")
_ENTRY = re.compile(r".*\.entry\s+([\w$]+)")
_MOST_THREADS = re.compile(r"\s*\.(?:maxntid|reqntid)\s+([\d, ]+)")
_LEAST_BLOCKS = re.compile(r"\s*\.minnctapersm\s+(\d+)")

Line = tuple[int | None, str]


@dataclass(frozen=True)
class LaunchBounds:
    """``__launch_bounds__`` of one kernel; None where the source says nothing."""

    threads: int | None = None
    least_blocks: int | None = None


def launch_bounds(ptx: str) -> dict[str, LaunchBounds]:
    """By symbol, for every ``.entry`` of the module."""
    found: dict[str, LaunchBounds] = {}
    entry = ""
    for line in ptx.splitlines():
        if match := _ENTRY.match(line):
            entry = match[1]
            found[entry] = LaunchBounds()
        elif entry and (match := _MOST_THREADS.match(line)):
            threads = prod(int(item) for item in match[1].split(",") if item.strip())
            found[entry] = LaunchBounds(threads, found[entry].least_blocks)
        elif entry and (match := _LEAST_BLOCKS.match(line)):
            found[entry] = LaunchBounds(found[entry].threads, int(match[1]))
        elif line.startswith("{"):
            entry = ""
    return found


def names(ptx: str, readable: str) -> dict[str, str]:
    """Symbol → name as written in the source, from the module and the same module after c++filt.

    Unnamed namespaces are left out: they say nothing that the source does not show.
    """
    found: dict[str, str] = {}
    for line, same in zip(ptx.splitlines(), readable.splitlines(), strict=False):
        if match := _ENTRY.match(line):
            name = same.partition(".entry")[2].strip().removesuffix("(")
            found[match[1]] = name.replace("(anonymous namespace)::", "") or match[1]
    return found


def listing(ptx: str, source_name: str, names: Mapping[str, str]) -> list[Line]:
    """The code lines with their lines of ``source_name``; None where a line came from elsewhere.

    An inlined instruction of a header counts for the line that it was inlined at. Debugging sections are left
    out.
    """
    ours = {match[1] for match in map(_FILE.match, ptx.splitlines()) if match and _is(match[2], source_name)}
    lines: list[Line] = []
    current: int | None = None
    for line in ptx.splitlines():
        text = line.strip()
        if text.startswith((".file", ".section")):
            break  # both stand behind the last function
        if match := _LOCATION.match(line):
            if match[1] in ours:
                current = int(match[2])
            elif match[3] in ours:
                current = int(match[4])
            elif match[3] is None:
                current = None
            # Else inlined twice over: what called it was said by the .loc before, which still holds.
        elif _ENTRY.match(line) or text.startswith(".func"):
            current = None
            symbol = match[1] if (match := _ENTRY.match(line)) else ""
            lines.append((None, f"// {names[symbol]}" if symbol in names else ""))
            lines.append((None, line.rstrip()))
        elif text and not text.startswith("//"):
            lines.append((current, line.rstrip().replace("\t", "  ")))
            if text == "}":
                current = None
    return lines


def _is(path: str, name: str) -> bool:
    return path.rsplit("/", 1)[-1] == name
