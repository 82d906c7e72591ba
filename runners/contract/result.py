"""The result document: everything one evaluation found, as plain JSON. Written by the supervisor alone.

Times are seconds, sizes bytes, rates per second. A field that does not apply is absent or null.
"""

from typing import Any, Literal, NotRequired, TypedDict

SCHEMA = 1

Status = Literal["passed", "failed", "error", "skipped"]


class StageResult(TypedDict):
    stage: str
    status: Literal["started", "passed", "failed", "skipped"]
    seconds: NotRequired[float]


class OutputError(TypedDict):
    """How one output differs from the reference. Indexes are row-major coordinates."""

    output: str
    mismatches: int  # elements outside the tolerance
    elements: int
    max_abs_error: float | None  # None where it is not finite
    max_rel_error: float | None
    worst_index: list[int]
    got: str  # repr of the element: may be nan or inf, which JSON cannot carry
    want: str
    atol: float
    rtol: float
    #: Largest |error| ÷ (atol + rtol · |want|); None where it is not finite, missing where it was not asked
    tolerance_used: NotRequired[float | None]
    budget_used: NotRequired[float | None]  # the same of the error budget, where the task has one (budget.py)
    beyond: NotRequired[str]  # "tolerance", "budget" or "both": what elements failed by, where there are two


class CaseResult(TypedDict):
    """One verified case."""

    case: str
    description: str  # "rows=4 cols=1000", for hidden cases the kind of case only
    hidden: bool
    status: Status
    message: NotRequired[str]  # one sentence when not passed
    outputs: NotRequired[list[OutputError]]
    deterministic: NotRequired[bool]  # repeats agreed bit for bit
    repeats: NotRequired[int]  # how many runs on the same inputs were compared
    #: The largest of the outputs' shares of tolerance and budget; None where it is not finite
    allowance_used: NotRequired[float | None]
    seconds: NotRequired[float]  # wall time of the check, for orientation only


class Timing(TypedDict):
    """One timed benchmark case."""

    case: str
    description: str
    status: Status
    message: NotRequired[str]
    outputs: NotRequired[list[OutputError]]
    seconds: NotRequired[float]  # time of one call: slope over two batch lengths
    ci_low: NotRequired[float]  # 95 % confidence interval
    ci_high: NotRequired[float]
    samples: NotRequired[dict[str, list[float]]]  # batch length → raw batch seconds
    #: The same slot again and again, so that caches hold it; information, never ranked
    warm_seconds: NotRequired[float]
    alone_seconds: NotRequired[float]  # the quickest call by itself, launching and waking up included
    alone_event_seconds: NotRequired[float]  # the same by CUDA events, without what comes before the call
    overlapping: NotRequired[str]  # what speaks for calls that share their time
    copy_seconds: NotRequired[float]  # of the seconds, about what copying returned tensors takes
    condition: NotRequired[dict[str, Any]]  # clocks, temperature … of the device "before" and "after"
    disturbed: NotRequired[str]  # what else slowed the device down, in the second of two tries as well
    event_seconds: NotRequired[float]  # by CUDA events inside the submission's process: evidence only
    overhead_seconds: NotRequired[float]  # intercept: hand-shake and copy-out of one batch
    null_seconds: NotRequired[float]  # a batch that does nothing, measured before the submission was loaded
    bytes: NotRequired[int]
    flops: NotRequired[int]
    floor_seconds: NotRequired[float | None]  # from the device's measured ceilings; None when uncalibrated
    left_out: NotRequired[int]  # batches that give no time, as they had to wait for a core
    checked_outputs: NotRequired[int]  # timed outputs compared with the reference
    #: Seconds that measuring took, by part: open, warm_up, sample, warm, alone; and of the sample: batches
    #: (inputs and calls), quick_looks and exact_looks at the outputs.
    spent: NotRequired[dict[str, float]]


class Score(TypedDict):
    """Geometric mean over the benchmark cases."""

    seconds: float
    ci_low: float
    ci_high: float
    roofline: float | None  # geometric mean of floor ÷ time


class CompileReport(TypedDict):
    command: str
    log: str  # the compiler's own lines, paths shortened to the submission's file name
    seconds: float
    cached: bool
    functions: NotRequired[
        list[dict[str, Any]]
    ]  # CUDA: name, registers, shared_bytes, spill_bytes, occupancy …
    listing: NotRequired[
        list[dict[str, Any]]
    ]  # {"kind": "ptx"|"sass"|"asm", "lines": [[source line | null, text]]}


class Output(TypedDict):
    """What the submission printed: text of a stranger, shown and never parsed."""

    stdout: str
    stderr: str
    truncated: bool


class Finding(TypedDict):
    """A static rule that matched the source."""

    rule: str
    line: int
    message: str
    refuses: bool


class Launch(TypedDict):
    """A kernel or operator that ran, or a device function of the compiled source."""

    name: str
    on_device: bool  # a kernel on a GPU; else an operator on the CPU
    library: bool  # it has a library's name
    calls: NotRequired[int]
    seconds: NotRequired[float]  # all calls together, by a profiler inside the submission's process


class ResultDocument(TypedDict):
    schema: int
    verdict: str
    reason: str  # one sentence naming what and where; empty when passed
    failed_stage: str
    mode: str
    language: str
    spec: str  # digests
    kernel: str
    engine: dict[str, Any]  # {"version", "tier", "layers"}
    device: dict[str, Any]  # facts as given in the job
    environment: dict[str, Any]  # python, torch, compiler, kernel, governor …
    stages: list[StageResult]
    findings: list[Finding]
    compile: NotRequired[CompileReport]
    tests: list[CaseResult]
    benchmarks: list[Timing]
    score: Score | None  # ranked and benchmark modes that passed
    profile: NotRequired[dict[str, Any]]
    trace: NotRequired[str]  # a profiler's, base64 of gzip; kept apart from the document when it is stored
    launches: NotRequired[list[Launch]]  # of one call, ranked and profile modes; a stranger's word
    work: NotRequired[str]  # "own", "library", or "" where nobody knows
    output: Output
    left_out: NotRequired[list[str]]  # what was dropped: to keep under the cap, or as its time was over
    device_seconds: float
    wall_seconds: float
