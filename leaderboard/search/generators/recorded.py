"""Replaying candidates whose outcomes are known, so that policies can be compared on equal terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from leaderboard.search.generators.base import Proposal
from leaderboard.search.generators.grid import GridGenerator, Mix
from leaderboard.search.grid import Grid, Settings, Value, settings_of
from surrogate.contract.request import KernelText
from surrogate.datasets.load import load_space


@dataclass(frozen=True)
class Pool:
    """Every setting of a kernel with its time on one device; None where it failed."""

    device: str
    language: str
    source: str
    seconds: Mapping[Settings, float | None]

    @cached_property
    def grid(self) -> Grid:
        values: dict[str, set[Value]] = {}
        for settings in self.seconds:
            for name, value in settings:
                values.setdefault(name, set()).add(value)
        parameters = {
            name: tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))
            for name, found in sorted(values.items())
        }
        return Grid(parameters, self.seconds.__contains__)

    @cached_property
    def kernels(self) -> dict[Settings, KernelText]:
        # One object per setting: its digest is remembered by the source text it shares.
        return {settings: KernelText(self.language, self.source, dict(settings)) for settings in self.seconds}

    @cached_property
    def times(self) -> list[float]:
        """Of the settings that worked, fastest first."""
        return sorted(seconds for seconds in self.seconds.values() if seconds is not None)

    @property
    def size(self) -> int:
        return len(self.seconds)

    def outcome(self, proposal: Proposal) -> float | None:
        return self.seconds[settings_of(proposal.kernel.parameters)]


class RecordedGenerator(GridGenerator):
    """Draws from a pool. ``recalled`` lists settings that were good on other devices, best first."""

    def __init__(self, pool: Pool, *, recalled: Sequence[Settings] = (), mix: Mix | None = None) -> None:
        varied = [name for name, values in pool.grid.parameters.items() if len(values) > 1]
        super().__init__(
            "recorded",
            pool.grid,
            pool.kernels.__getitem__,
            kinds=varied[:2],
            recalled=recalled,
            mix=mix,
            points=list(pool.seconds),
        )


def load_pool(path: Path) -> Pool:
    """A fully measured tuning space. Raises surrogate.datasets.record.DatasetError."""
    space = load_space(path)
    seconds = {settings_of(dict(settings)): value for settings, value in space.seconds.items()}
    return Pool(space.device.slug, "cuda", space.source, seconds)
