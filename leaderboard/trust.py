"""When a measurement is believed: against the device's ceilings, and against a second one. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runners.contract.vocabulary import DeviceKind, Work

#: A case's time below this share of its roofline floor waits for a person. Ceilings are measured too, so a
#: kernel that reaches them may come out a little below.
FLOOR_SHARE = 0.95
#: How much slower the audit may be whatever the intervals say. They tell of the noise within a run, not of
#: that between two; a CPU is shared with all else its host does.
LEAST_ROOM = {DeviceKind.CPU: 0.25, DeviceKind.CUDA: 0.05}
_HALF_WIDTHS = 3

_CASE_KEYS = ("case", "seconds", "ci_low", "ci_high", "floor_seconds")


@dataclass(frozen=True)
class Measured:
    """What a ranked run says of a kernel. Seconds."""

    seconds: float  # geometric mean over the benchmark cases
    ci_low: float
    ci_high: float
    roofline: float | None
    cases: Sequence[Mapping[str, Any]]  # those of models.Score
    work: str = ""  # "own", "library", or "" where nobody knows

    @property
    def half_width(self) -> float:
        """Of the 95 % interval, relative to the time."""
        return (self.ci_high - self.ci_low) / (2 * self.seconds)


def measured_of(document: Mapping[str, Any]) -> Measured | None:
    """The score in a result document; None when there is none, or none that could be ranked."""
    score = document.get("score")
    if not score:
        return None
    seconds, ci_low, ci_high = (float(score[key]) for key in ("seconds", "ci_low", "ci_high"))
    if not (math.isfinite(seconds) and math.isfinite(ci_high) and seconds > 0 and ci_low > 0):
        return None
    return Measured(
        seconds,
        # Rounding may put the mean a hair outside its interval, which the table refuses.
        min(ci_low, seconds),
        max(ci_high, seconds),
        score.get("roofline"),
        [
            {key: timing.get(key) for key in _CASE_KEYS}
            for timing in document.get("benchmarks", [])
            if timing.get("seconds") is not None
        ],
        document["work"] if document.get("work") in list(Work) else "",
    )


def doubt_of(measured: Measured, document: Mapping[str, Any]) -> str:
    """Why a person should look at this run, first or audit; empty when nothing speaks against it."""
    return below_floor(measured) or disturbed(document) or overlapping(document)


def below_floor(measured: Measured) -> str:
    """One sentence on the case furthest below its floor; empty when none is too far below."""
    timed = [case for case in measured.cases if case.get("floor_seconds")]
    found = [(case["seconds"] / case["floor_seconds"], case) for case in timed]
    share, case = min(found, key=lambda item: item[0], default=(1.0, {}))
    if share >= FLOOR_SHARE:
        return ""
    return (
        f"Case {case['case']}: {case['seconds']:.3g} s a call is {share:.0%} of the "
        f"{case['floor_seconds']:.3g} s that its data or arithmetic should take this device at least."
    )


def disturbed(document: Mapping[str, Any]) -> str:
    """One sentence on what else slowed the device down while it was timed, twice; empty when nothing did."""
    for timing in document.get("benchmarks", []):
        if words := timing.get("disturbed"):
            return f"Case {timing['case']} was timed twice, and each time {words}."
    return ""


def overlapping(document: Mapping[str, Any]) -> str:
    """One sentence on calls that may have run beside each other; empty when nothing speaks for it."""
    for timing in document.get("benchmarks", []):
        if words := timing.get("overlapping"):
            text = f"Case {timing['case']}: {words}; calls may have run beside each other, or one did the "
            return f"{text}work of others."
    return ""


def room(first: Measured, second: Measured, kind: DeviceKind) -> float:
    """By what share the second time may exceed the first: three half-widths of both intervals together, and
    LEAST_ROOM at least.
    """
    together = math.hypot(first.half_width, second.half_width)
    return max(LEAST_ROOM[kind], _HALF_WIDTHS * together)


def agrees(first: Measured, second: Measured, kind: DeviceKind) -> bool:
    """Whether an audit bears out the time it audits. A faster one does: the slower of the two counts."""
    return second.seconds <= first.seconds * (1 + room(first, second, kind))
