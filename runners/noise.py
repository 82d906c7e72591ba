"""The A/A test of a device: one kernel entered several times, and how much its score varies.

The interval of a run tells of the noise within that run. What differs between two runs (where memory lies,
clocks, who else uses the machine) shows only when equal runs are compared. Few runs tell little of it, and
too small a noise ranks equal kernels apart; so what counts is what the noise is at most, with 95 % certainty.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.contract.job import DeviceTarget, Job
from runners.contract.parse import parse_task
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.supervisor.client import run_job

#: Two say nothing of a spread yet.
FEWEST_RUNS = 3
#: Comparisons of equal runs below which nothing is concluded.
_LEAST_FREEDOM = FEWEST_RUNS - 1
#: What is assumed of a device whose equal runs nobody has compared yet.
ASSUMED: Mapping[str, float] = {"cpu": 0.03, "cuda": 0.01}
#: How many comparisons that assumption is worth beside real ones.
_ASSUMED_FREEDOM = 4
_ONE_SIDED = 1.645  # standard deviations that hold 95 % of a normal distribution on one side
_SOURCE = """\
import torch


def kernel(x, out):
    torch.mul(x, 0.5, out=out)
"""
#: Elements of a case that a launch dominates, and of one that memory dominates.
_SIZES = {"cpu": (1 << 16, 1 << 23), "cuda": (1 << 16, 1 << 26)}


@dataclass(frozen=True)
class Noise:
    """What equal runs showed."""

    coefficient_of_variation: float  # standard deviation over mean of the scores
    seconds: tuple[float, ...]  # the score of each run, in order


@dataclass(frozen=True)
class Spread:
    """``deviation`` of the logarithms of equal runs, from ``freedom`` comparisons of independent runs."""

    deviation: float
    freedom: int

    @property
    def at_most(self) -> float:
        """The upper end of its one-sided 95 % interval, by Wilson and Hilferty's form of chi-square."""
        rest = 2 / (9 * self.freedom)
        quantile = self.freedom * (1 - rest - _ONE_SIDED * math.sqrt(rest)) ** 3
        return self.deviation * math.sqrt(self.freedom / quantile)

    def at_most_beside(self, assumed: float) -> float:
        """The same, where ``assumed`` had been expected: two comparisons on a busy machine would else tie
        kernels that differ tenfold. It never makes the noise larger than what was seen says.
        """
        freedom = self.freedom + _ASSUMED_FREEDOM
        squares = self.freedom * self.deviation**2 + _ASSUMED_FREEDOM * assumed**2
        return min(self.at_most, Spread(math.sqrt(squares / freedom), freedom).at_most)


def pooled(groups: Iterable[Sequence[float]]) -> Spread | None:
    """What groups of equal runs, seconds of each, say together; None where they say too little."""
    squares, freedom = 0.0, 0
    for group in groups:
        logarithms = [math.log(seconds) for seconds in group if seconds > 0]
        if len(logarithms) > 1:
            squares += statistics.variance(logarithms) * (len(logarithms) - 1)
            freedom += len(logarithms) - 1
    return Spread(math.sqrt(squares / freedom), freedom) if freedom >= _LEAST_FREEDOM else None


class NoiseError(RuntimeError):
    """A run did not pass; the message says why."""


def measure_noise(
    target: DeviceTarget,
    *,
    runs: int,
    data_dir: Path,
    required_tier: str,
    on_run: Callable[[int, float], None] = lambda number, seconds: None,
) -> Noise:
    """``runs`` ranked evaluations of the same kernel, each in a process and sandbox of its own.

    Raises NoiseError, also for fewer than FEWEST_RUNS.
    """
    if runs < FEWEST_RUNS:
        raise NoiseError(f"{runs} runs say nothing of a spread: {FEWEST_RUNS} at least")
    job = noise_job(target, data_dir, required_tier)
    seconds: list[float] = []
    for number in range(1, runs + 1):
        document = run_job(job, on_event=lambda event: None, should_stop=lambda: False)
        score = document["score"]
        if document["verdict"] != Verdict.PASSED or score is None:
            raise NoiseError(f"run {number} of the test kernel: {document['verdict']}: {document['reason']}")
        seconds.append(score["seconds"])
        on_run(number, seconds[-1])
    return Noise(spread(seconds), tuple(seconds))


def noise_job(target: DeviceTarget, data_dir: Path, required_tier: str) -> Job:
    """One run of the test kernel."""
    return Job("noise", _spec(), Language.PYTHON, _SOURCE, Mode.RANKED, target, str(data_dir), required_tier)


def spread(seconds: list[float]) -> float:
    """The coefficient of variation of two or more positive numbers."""
    return statistics.stdev(seconds) / statistics.mean(seconds)


def _spec() -> TaskSpec:
    why = "so that the cost of a launch counts too"
    cases: dict[str, Any] = {
        kind: {"test": [{"n": 1000}], "benchmark": [{"n": size, "fits_in_cache": why} for size in sizes]}
        for kind, sizes in _SIZES.items()
    }
    document = {
        "sizes": ["n"],
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
        "tolerance": {"float32": {"atol": 0.0, "rtol": 1e-6}},
        "languages": ["python"],
        "cost": {"bytes": "8 * n", "flops": "n", "dtype": "float32"},
        "cases": cases,
    }
    return parse_task("noise", document, "def reference(x):\n    return x * 0.5\n")
