"""A case that something else slowed down is timed once more; if that happens again the result says so."""

from typing import Any

import pytest

from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import LIMITS
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.supervisor import measuring
from runners.supervisor.disturbance import disturbance
from runners.supervisor.gpu_state import strangers

QUIET = {"throttled": ["power cap"], "processes": 0, "sm_clock": 1980}
HOT = {**QUIET, "throttled": ["power cap", "hardware thermal limit"]}
SHARED = {**QUIET, "processes": 2}


def test_what_counts_as_a_disturbance() -> None:
    assert disturbance(QUIET, QUIET) == "", "a kernel that meets the power cap does so in every run"
    assert "hardware thermal limit" in disturbance(QUIET, HOT)
    assert disturbance(SHARED, QUIET) == "2 other processes used the device"
    assert disturbance({}, {}) == "", "a driver that says nothing"


def test_strangers_are_told_from_our_own() -> None:
    assert strangers([10, 11], {10, 11, 12}) == 0
    assert strangers([10, 11, 500], {10, 11, 12}) == 1
    assert strangers([900, 901], {10, 11}) == 0, "a container that shows the host's pids"
    assert strangers([900, 901, 902], {10, 11}) == 1


@pytest.mark.parametrize(
    ("states", "times", "words"),
    [
        ([QUIET, QUIET], 1, None),
        ([QUIET, HOT, QUIET, QUIET], 2, None),
        ([QUIET, HOT, QUIET, SHARED], 2, "2 other processes used the device"),
        ([{}], 1, None),
    ],
)
def test_a_disturbed_case_is_timed_twice(
    states: list[dict[str, Any]],
    times: int,
    words: str | None,
    spec: TaskSpec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Session:
        def condition(self) -> dict[str, Any]:
            return waiting.pop(0)

    class Timer:
        def __init__(self, *arguments: object) -> None: ...

        def measure(self, *arguments: object) -> dict[str, Any]:
            measured.append(1)
            return {"case": "c", "seconds": len(measured)}

    waiting, measured = list(states), list[int]()
    events: list[dict[str, Any]] = []
    job = Job("x", spec, Language.CUDA, "", Mode.RANKED, DeviceTarget(DeviceKind.CUDA), "")
    monkeypatch.setattr(measuring, "_session", lambda *arguments: Session())
    monkeypatch.setattr(measuring, "CaseTimer", Timer)
    nothing: Any = None
    running = measuring.Measuring(job, nothing, nothing, LIMITS[Mode.RANKED], nothing, events.append)
    timing = running._timed(spec.cases[1])
    assert (len(measured), timing["seconds"], timing.get("disturbed")) == (times, times, words)
    assert not waiting
    assert len(events) == times - 1
