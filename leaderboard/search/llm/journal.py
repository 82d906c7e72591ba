"""What was asked and what was paid for, in order. A search that is resumed reads it and never pays twice.

Each call of a model has a step, whose name tells its place in the search. ``asked`` is written before the
call and ``replied`` before the reply is used. A step that was asked and has no reply was lost with its
process: it counts as spent, and the search goes on with the step after it.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

Document = Mapping[str, Any]


class StepTaken(Exception):
    """This step may not be asked: another process has, or the search or this process was stopped."""


class Journal(Protocol):
    """``add`` returns once the entry is safe. A second ``asked`` of a step raises StepTaken, and so
    does any once the search may not go on."""

    def entries(self) -> list[dict[str, Any]]:
        """All so far, oldest first; each has ``kind`` and ``step``."""
        ...

    def add(self, kind: str, step: str, document: Document) -> None: ...

    def again(self, step: str, bound: Decimal, tokens: int) -> None:
        """A step that was asked is tried once more, after an attempt that may have cost its bound: should
        its process die, so much more is booked."""
        ...

    def is_lost(self, step: str) -> bool:
        """Whether a step that was asked and has no reply will not get one any more."""
        ...


class MemoryJournal:
    """For searches that end with their process."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._asked: set[str] = set()

    def entries(self) -> list[dict[str, Any]]:
        return list(self._entries)

    def add(self, kind: str, step: str, document: Document) -> None:
        if kind == "asked":
            if step in self._asked:
                raise StepTaken(step)
            self._asked.add(step)
        self._entries.append({**document, "kind": kind, "step": step})

    def again(self, step: str, bound: Decimal, tokens: int) -> None:
        pass  # a search without a database takes a call that a kill cut off for one attempt

    def is_lost(self, step: str) -> bool:
        return True  # a single process asks, and it waits for every reply


class FileJournal(MemoryJournal):
    """One JSON line per entry. A line that a crash cut off is the last one, and counts as not written.

    Raises ValueError for a file that is no journal, or one of another search.
    """

    def __init__(self, path: Path, identity: Document) -> None:
        super().__init__()
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        kept = [line for line in lines if line.endswith("\n")]
        for number, line in enumerate(kept, 1):
            entry = _entry(line, f"{path}: line {number}")
            if number == 1:
                _check_identity(path, entry, identity)
            else:
                super().add(entry.pop("kind"), entry.pop("step"), entry)
        # Written anew where a line was cut off, so that what follows does not stick to it.
        if not kept:
            path.write_text(_line({"kind": "search", "step": "", **identity}), encoding="utf-8")
        elif len(kept) < len(lines):
            path.write_text("".join(kept), encoding="utf-8")

    def add(self, kind: str, step: str, document: Document) -> None:
        super().add(kind, step, document)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(self._entries[-1]))


def _line(entry: Document) -> str:
    return json.dumps(entry) + "\n"  # ASCII: no character in it ends a line but the last


def _entry(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict) or not {"kind", "step"} <= entry.keys():
        raise ValueError(f"{where}: is no entry of a search's journal")
    return entry


def _check_identity(path: Path, entry: Document, identity: Document) -> None:
    for name, value in identity.items():
        if entry.get(name) != value:
            raise ValueError(f"{path}: the journal is of another search; {name} is {entry.get(name)!r} there")
