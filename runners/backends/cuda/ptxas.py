"""What ptxas says with ``-v``: the resources of each kernel."""

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '([^']+)' for '(sm_\w+)'")
_PROPERTIES = re.compile(r"ptxas info\s*: Function properties for (.+)")
_USED = re.compile(r"ptxas info\s*: Used (\d+) registers(.*)")
_BARRIERS = re.compile(r"used (\d+) barriers")
_BYTES = re.compile(r"(\d+) bytes ([a-z][a-z ]*)")


@dataclass
class Usage:
    """Per thread: registers, and bytes of stack and spills. Per block: static shared memory."""

    symbol: str
    registers: int = 0
    barriers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0  # local memory, spilled registers included
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0


def usages(log: str) -> list[Usage]:
    """One entry per ``__global__`` function, in the log's order; other functions are left out."""
    found: dict[str, Usage] = {}
    entry = about = None
    for line in log.splitlines():
        if match := _ENTRY.match(line):
            entry = about = found.setdefault(match[1], Usage(match[1]))
        elif match := _PROPERTIES.match(line):
            about = found.get(match[1].strip())
        elif about is not None and "bytes stack frame" in line:
            numbers = _named_bytes(line)
            about.stack_bytes = numbers.get("stack frame", 0)
            about.spill_store_bytes = numbers.get("spill stores", 0)
            about.spill_load_bytes = numbers.get("spill loads", 0)
        elif entry is not None and (match := _USED.match(line)):
            numbers = _named_bytes(match[2])
            entry.registers = int(match[1])
            entry.shared_bytes = numbers.get("smem", 0)
            # With calls to functions that were not inlined, the whole stack counts.
            entry.stack_bytes = max(entry.stack_bytes, numbers.get("cumulative stack size", 0))
            if barriers := _BARRIERS.search(match[2]):
                entry.barriers = int(barriers[1])
    return list(found.values())


def _named_bytes(line: str) -> dict[str, int]:
    return {name.strip(): int(number) for number, name in _BYTES.findall(line)}
