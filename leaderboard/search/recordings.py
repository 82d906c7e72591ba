"""A run's own pool: every candidate with its outcome, as a file of JSON lines, and back.

The first line says what was searched and how; each line after it is a candidate, in the order of considering.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leaderboard.search.generators.base import Operator, Proposal, digest_of
from leaderboard.search.grid import Grid, Value
from surrogate.contract.request import KernelText
from surrogate.datasets.load import read_rows
from surrogate.datasets.record import DatasetError, positive

FORMAT = "kernelhub search pool 1"


@dataclass(frozen=True)
class Recorded:
    """``measured`` is false for candidates whose outcome nobody knows; ``seconds`` None is a failure else."""

    proposal: Proposal
    measured: bool
    seconds: float | None
    verdict: str = ""
    action: str = ""
    generation: int = 0


@dataclass(frozen=True)
class Recording:
    """``about`` is the first line. Only candidates whose outcome is known can be searched again."""

    about: Mapping[str, Any]
    candidates: tuple[Recorded, ...]

    @property
    def device(self) -> str:
        return str(self.about.get("device", ""))

    @cached_property
    def known(self) -> dict[str, Recorded]:
        """By digest, in the order of considering."""
        return {item.proposal.digest: item for item in self.candidates if item.measured}

    @cached_property
    def times(self) -> list[float]:
        """Of what worked, fastest first."""
        return sorted(item.seconds for item in self.known.values() if item.seconds is not None)

    @property
    def size(self) -> int:
        return len(self.known)

    def outcome(self, proposal: Proposal) -> float | None:
        return self.known[proposal.digest].seconds

    @cached_property
    def opening(self) -> Proposal | None:
        """The starter that the run measured before anything else."""
        return next((item.proposal for item in self.known.values() if item.proposal.is_starter), None)

    @cached_property
    def grid(self) -> Grid | None:
        """Of a template's kernels; None where kernels differ by more than their settings."""
        settings = [item.proposal.kernel.parameters for item in self.known.values()]
        settings = [item for item in settings if item]
        if not settings or len(settings) < self.size - 1 or len({frozenset(item) for item in settings}) > 1:
            return None
        values: dict[str, set[Value]] = {name: {item[name] for item in settings} for name in settings[0]}
        return Grid(
            {
                name: tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))
                for name, found in sorted(values.items())
            }
        )


def recording_lines(about: Mapping[str, Any], candidates: Iterable[Recorded]) -> Iterator[str]:
    """The file, line for line."""
    yield _line({"format": FORMAT, **about})
    for item in candidates:
        kernel = item.proposal.kernel
        yield _line(
            {
                "digest": item.proposal.digest,
                "operator": str(item.proposal.operator),
                "parents": list(item.proposal.parents),
                "cell": list(item.proposal.cell),
                "generation": item.generation,
                "action": item.action,
                "measured": item.measured,
                "verdict": item.verdict,
                "seconds": item.seconds,
                "parameters": dict(kernel.parameters),
                "language": kernel.language,
                "source": kernel.source,
            }
        )


def is_recording(path: Path) -> bool:
    """Whether a file says that it is one. Raises DatasetError where it can't be read."""
    return bool(read_rows(path)[0].get("format") == FORMAT)


def load_recording(path: Path) -> Recording:
    """Raises DatasetError naming file and line."""
    first, *rows = read_rows(path)
    if first.get("format") != FORMAT:
        raise DatasetError(f"{path}, line 1: its format is not {FORMAT!r}")
    candidates = tuple(_candidate(row, f"{path}, line {number}") for number, row in enumerate(rows, 2))
    found = Recording({name: value for name, value in first.items() if name != "format"}, candidates)
    if len({item.proposal.digest for item in candidates}) < len(candidates):
        raise DatasetError(f"{path}: a kernel stands in it twice")
    if not found.times:
        raise DatasetError(f"{path}: no kernel in it worked")
    return found


def _candidate(row: Mapping[str, Any], where: str) -> Recorded:
    try:
        kernel = KernelText(_text(row, "language"), _text(row, "source"), _parameters(row["parameters"]))
        proposal = Proposal(
            _text(row, "digest"),
            kernel,
            Operator(row["operator"]),
            tuple(_words(row["parents"])),
            tuple(_words(row["cell"])),
        )
        measured, seconds = row["measured"] is True, positive(row, "seconds")
    except (KeyError, ValueError, TypeError) as error:
        raise DatasetError(f"{where}: {error!r} is missing or not as it should be") from None
    if digest_of(kernel) != proposal.digest:
        # Else a search of the file could meet one kernel under two names.
        raise DatasetError(f"{where}: the digest is not that of the kernel")
    return Recorded(proposal, measured, seconds if measured else None, str(row.get("verdict", "")))


def _text(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise TypeError(name)
    return str(row[name])


def _words(value: object) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(value)
    return value


def _parameters(value: object) -> dict[str, Value]:
    if not isinstance(value, dict):
        raise TypeError("parameters")
    for item in value.values():
        is_number = isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)
        if not (isinstance(item, str) or is_number):
            raise TypeError("parameters")
    return value


def _line(document: Mapping[str, Any]) -> str:
    return json.dumps(document) + "\n"
