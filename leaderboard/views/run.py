"""A run as the page draws it: one shape for a run that waits, goes on or has ended."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaderboard.case_names import described
from leaderboard.models import Submission
from leaderboard.selectors.submissions import QueuePlace
from runners.contract.vocabulary import COMPILERS, STAGES_OF, Mode, Stage, Verdict
from runners.models import EvaluationStatus

VERDICT_LABELS = {
    Verdict.PASSED: "Passed",
    Verdict.WRONG: "Wrong result",
    Verdict.COMPILE_ERROR: "Compile error",
    Verdict.RUNTIME_ERROR: "Runtime error",
    Verdict.TIMEOUT: "Timed out",
    Verdict.RESOURCE_LIMIT: "Resource limit",
    Verdict.REFUSED: "Refused",
    Verdict.CANCELLED: "Cancelled",
    Verdict.INTERNAL_ERROR: "Internal error",
}
STAGE_LABELS = {
    Stage.SCREEN: "Screen",
    Stage.COMPILE: "Compile",
    Stage.VERIFY: "Verify",
    Stage.TIME: "Time",
    Stage.PROFILE: "Profile",
}
STATUS_LABELS = {
    "waiting": "waiting",
    "started": "running",
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "skipped": "skipped",
}


#: After a passed run of a mode that gives no place: what to choose next.
NEXT_STEPS = {
    Mode.CHECK: "It compiles. Choose Test to run every test case, or Ranked to get a time and a place.",
    Mode.TEST: "Tests passed. Choose Ranked to get a time and a place.",
    Mode.BENCHMARK: "Timed, and not ranked. Choose Ranked to get a place.",
}


@dataclass(frozen=True)
class StageRow:
    label: str
    status: str  # waiting, started, passed, failed, skipped
    seconds: float | None

    @property
    def status_label(self) -> str:
        return STATUS_LABELS.get(self.status, self.status)


@dataclass(frozen=True)
class BenchmarkRow:
    timing: Mapping[str, Any]  # contract.result.Timing
    roofline: float | None  # floor ÷ time; 1.0 = at the device's ceiling

    @property
    def is_slower_warm(self) -> bool:
        """Whether calls that may find their data in a cache took longer than those that can't."""
        return self._warm > (self.timing.get("seconds") or math.inf)

    @property
    def slowed_by(self) -> list[str]:
        """Why the device had lowered its clocks, before or after the case was timed."""
        states = (self.timing.get("condition") or {}).values()
        return sorted({reason for state in states for reason in state.get("throttled") or ()})

    @property
    def is_slower_beyond(self) -> bool:
        """The same by more than the interval of the ranked time explains."""
        return self.is_slower_warm and self._warm > (self.timing.get("ci_high") or math.inf)

    @property
    def _warm(self) -> float:
        return self.timing.get("warm_seconds") or 0.0


@dataclass(frozen=True)
class RunView:
    """What ``_submission_live.html`` shows. Documents inside are those of ``runners.contract.result``."""

    seq: int
    status: str  # queued, running, finished
    tone: str  # passed, failed, running, queued, cancelled: which colour it takes
    heading: str
    reason: str
    sentence: str  # the state in one line, for screen readers and the page's title
    stages: list[StageRow]
    tests: list[Mapping[str, Any]]
    tests_planned: int
    benchmarks: list[BenchmarkRow]
    benchmarks_planned: int
    activity: str
    fraction: float | None
    place: QueuePlace | None
    cancelling: bool
    next_step: str = ""  # a sentence for the owner, who chose a mode that gives no place
    score: Mapping[str, Any] | None = None
    compile: Mapping[str, Any] | None = None
    profile: Mapping[str, Any] | None = None
    findings: Sequence[Mapping[str, Any]] = ()
    launches: Sequence[Mapping[str, Any]] = ()  # contract.result.Launch
    work: str = ""
    is_compiled: bool = False  # then launches are what its compiler lists, which nobody saw run
    output: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()  # of the result document, to keep it under its cap

    @property
    def is_finished(self) -> bool:
        return self.status == EvaluationStatus.FINISHED

    @property
    def has_output(self) -> bool:
        return bool(self.output.get("stdout") or self.output.get("stderr"))

    @property
    def failed_cases(self) -> list[Mapping[str, Any]]:
        """Cases that did not pass, tests first; what a person looks for in a failed run."""
        cases = [*self.tests, *(row.timing for row in self.benchmarks)]
        return [case for case in cases if case.get("status") in ("failed", "error")]

    @property
    def tests_not_run(self) -> int:
        """Of an ended run: those that a failure before them kept from being tried."""
        return self.tests_planned - len(self.tests) if self.is_finished else 0

    @property
    def has_conditions(self) -> bool:
        return any(row.timing.get("condition") for row in self.benchmarks)

    @property
    def has_warm_times(self) -> bool:
        return any(row.timing.get("warm_seconds") for row in self.benchmarks)

    @property
    def slower_warm(self) -> int:
        """Cases whose time with warm caches is the longer one, by no more than the interval."""
        return sum(row.is_slower_warm and not row.is_slower_beyond for row in self.benchmarks)

    @property
    def slower_beyond(self) -> int:
        return sum(row.is_slower_beyond for row in self.benchmarks)

    @property
    def tests_passed(self) -> int:
        return sum(test.get("status") == "passed" for test in self.tests)


def run_of(submission: Submission, place: QueuePlace | None = None) -> RunView:
    """The run of ``submission``; ``place`` is its place in the queue while it waits."""
    evaluation = submission.evaluation
    progress: Mapping[str, Any] = evaluation.progress or {}
    result: Mapping[str, Any] = evaluation.result or {}
    document = result or progress
    plan = progress.get("plan") or {}
    profile = result.get("profile")

    def told(text: Any) -> str:
        return described(str(text or ""), lambda: submission.version)

    def retold(case: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**case, "message": told(case.get("message"))}

    tests = [retold(item) for item in document.get("tests") or ()]
    benchmarks = [_benchmark(retold(item)) for item in document.get("benchmarks") or ()]
    stages = _stages(Mode(submission.mode), document.get("stages") or (), evaluation.verdict)
    tests_planned = max(len(tests), int(plan.get("tests") or 0))
    benchmarks_planned = max(len(benchmarks), int(plan.get("benchmarks") or 0))
    heading, tone = _heading(evaluation.status, evaluation.verdict)
    activity = "" if evaluation.status == EvaluationStatus.FINISHED else told(progress.get("activity"))
    reason = told(evaluation.reason)
    sentence = _sentence(
        heading, reason, evaluation, place, stages, len(tests), tests_planned, len(benchmarks)
    )
    return RunView(
        seq=evaluation.seq,
        status=evaluation.status,
        tone=tone,
        heading=heading,
        reason=reason,
        sentence=sentence,
        stages=stages,
        tests=tests,
        tests_planned=tests_planned,
        benchmarks=benchmarks,
        benchmarks_planned=benchmarks_planned,
        activity=activity,
        fraction=progress.get("fraction"),
        place=place,
        cancelling=evaluation.cancel_requested_at is not None,
        next_step=NEXT_STEPS.get(Mode(submission.mode), "") if evaluation.verdict == Verdict.PASSED else "",
        score=result.get("score"),
        compile=result.get("compile"),
        profile=profile and {**profile, "case": told(profile.get("case"))},
        findings=result.get("findings") or (),
        launches=result.get("launches") or (),
        work=str(result.get("work") or ""),
        is_compiled=result.get("language") in COMPILERS,
        output=result.get("output") or {},
        environment=result.get("environment") or {},
        left_out=result.get("left_out") or (),
    )


def _heading(status: str, verdict: str) -> tuple[str, str]:
    if status == EvaluationStatus.QUEUED:
        return "Queued", "queued"
    if status == EvaluationStatus.RUNNING:
        return "Running", "running"
    label = VERDICT_LABELS.get(Verdict(verdict), verdict)
    if verdict == Verdict.PASSED:
        return label, "passed"
    return label, "cancelled" if verdict == Verdict.CANCELLED else "failed"


def _stages(mode: Mode, documents: Sequence[Mapping[str, Any]], verdict: str) -> list[StageRow]:
    """Every stage of the mode, and those beyond it that ran all the same, such as the audit."""
    known = {str(item["stage"]): item for item in documents}
    names = [str(stage) for stage in STAGES_OF[mode]]
    names += [name for name in known if name not in names]
    rows = []
    for name in names:
        item = known.get(name, {})
        status = str(item.get("status") or ("skipped" if verdict else "waiting"))
        if verdict and status == "started":
            # The run ended from outside, in this stage: cancelled, over its deadline, or its runner is gone.
            status = "skipped" if verdict == Verdict.CANCELLED else "failed"
        label = STAGE_LABELS[Stage(name)] if name in list(Stage) else name
        rows.append(StageRow(label, status, item.get("seconds")))
    return rows


def _benchmark(timing: Mapping[str, Any]) -> BenchmarkRow:
    floor, seconds = timing.get("floor_seconds"), timing.get("seconds")
    return BenchmarkRow(timing, floor / seconds if floor and seconds else None)


def _sentence(
    heading: str,
    reason: str,
    evaluation: Any,
    place: QueuePlace | None,
    stages: Sequence[StageRow],
    tests: int,
    planned: int,
    timed: int,
) -> str:
    if place is not None:
        return f"Queued, place {place.position}"
    if evaluation.status == EvaluationStatus.FINISHED:
        return f"{heading}. {reason}".strip()
    current = next((stage.label for stage in stages if stage.status == "started"), "")
    parts = [heading, current.lower()] if current else [heading]
    if current == STAGE_LABELS[Stage.VERIFY] and planned:
        parts.append(f"{tests} of {planned} tests")
    if timed:
        parts.append(f"{timed} timed")
    return ", ".join(parts)
