"""Bounds of one evaluation. One place, so that pages, services and the engine name the same numbers."""

from dataclasses import dataclass, replace

from runners.contract.vocabulary import Mode

#: Largest source, bytes of UTF-8.
MAX_SOURCE_BYTES = 1_000_000
#: Captured stdout and stderr of the child, bytes each; the rest is dropped and said to be.
MAX_OUTPUT_BYTES = 64 * 1024
#: Largest result document, bytes of JSON.
MAX_RESULT_BYTES = 4 * 2**20
#: Largest profiler's trace that is kept, bytes as compressed.
MAX_TRACE_BYTES = 2**20
MAX_ATTEMPTS = 3


def device_seconds(mode: Mode, wall_seconds: float) -> float:
    """Seconds that an evaluation held its device: all of them, compiling too, as the queue stands still."""
    return 0.0 if mode == Mode.CHECK else wall_seconds


@dataclass(frozen=True)
class ModeLimits:
    """Seconds. ``deadline`` ends the evaluation; ``case_timing`` is spent on timing one benchmark case."""

    deadline: float
    compile: float
    call: float  # one batch of calls of the submission
    case_timing: float
    warm_up: float
    #: On a GPU, seconds that a long batch need not exceed: the inputs of every slot are drawn anew for each,
    #: which costs several times as much as the calls.
    long_batch: float = 0.025
    #: On a GPU, batches of each length before an interval is trusted: short ones, so that more cost little.
    batches: int = 15


LIMITS: dict[Mode, ModeLimits] = {
    Mode.CHECK: ModeLimits(deadline=90, compile=60, call=20, case_timing=0, warm_up=0),
    Mode.TEST: ModeLimits(deadline=150, compile=60, call=30, case_timing=0, warm_up=0),
    Mode.BENCHMARK: ModeLimits(
        deadline=240, compile=60, call=30, case_timing=4, warm_up=0.3, long_batch=0.0125, batches=8
    ),
    Mode.RANKED: ModeLimits(deadline=360, compile=60, call=30, case_timing=10, warm_up=0.5),
    Mode.PROFILE: ModeLimits(
        deadline=240, compile=60, call=60, case_timing=2, warm_up=0.3, long_batch=0.0125, batches=8
    ),
}


def limits_of(mode: Mode, timing_percent: float) -> ModeLimits:
    """The mode's own, with so much of the usual time for timing a case."""
    usual = LIMITS[mode]
    return replace(usual, case_timing=usual.case_timing * timing_percent / 100)
