"""All submissions of a corpus on one device, and the honest ones beside them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leaderboard.corpus.cases import Attempt, Corpus
from leaderboard.corpus.judging import Outcome, run_attempt
from leaderboard.trust import overlapping
from runners.contract.job import DeviceTarget
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Mode
from runners.devices import DetectedDevice
from runners.supervisor.pool import WarmPool

#: Rules that would be an accusation. A library's kernel or a thread that is waited for is none.
ACCUSATIONS = frozenset(
    {"exception_fallback", "inherited_reference", "timer_patch", "harness_access", "run_time_code"}
)
_UNTIMED = (Mode.CHECK, Mode.TEST)
#: Where nothing is timed. A GPU runs one submission at a time; one may fill its memory.
_AT_ONCE = {DeviceKind.CPU: 2, DeviceKind.CUDA: 1}


@dataclass
class Report:
    """``total`` cases ran; those in ``elsewhere`` are no submissions and name the test that covers them."""

    device: str
    total: int = 0
    caught: int = 0
    honest_controls: int = 0
    honest_controls_passed: int = 0
    gaps: dict[str, str] = field(default_factory=dict)  # attempt, or case elsewhere → why it is not caught
    faults: dict[str, list[str]] = field(default_factory=dict)  # attempt → what is not as expected
    elsewhere: dict[str, str] = field(default_factory=dict)  # case → test
    attempts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def as_expected(self) -> bool:
        return not self.faults

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def run_suite(
    corpus: Corpus,
    device: DetectedDevice,
    data_dir: Path,
    *,
    only: Callable[[str], bool] = lambda case: True,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    after_each: bool = False,
) -> Report:
    """Runs every attempt that ``device`` can run and whose case ``only`` takes. A case counts as caught when
    all of its attempts are. The honest neighbours run once each, or with ``after_each`` right after every
    attempt: what an attack leaves behind shows in the next evaluation.
    """
    attempts = [item for item in corpus.attempts_on(device.kind) if only(item.case)]
    report = Report(device.slug)
    report.elsewhere = {
        case: wanted.covered_by for case, wanted in corpus.expectations.items() if wanted.covered_by
    }
    report.gaps = gaps_elsewhere(corpus, only)
    if after_each:
        order = [item for attempt in attempts for item in (attempt, corpus.control(attempt.expectation))]
    else:
        order = [*attempts, *controls_of(corpus, attempts)]
    outcomes = run_all(corpus, order, device, data_dir, on_outcome, in_order=after_each)
    cheats = [outcome for outcome in outcomes if outcome.attempt.case != "honest"]
    honest = [outcome for outcome in outcomes if outcome.attempt.case == "honest"]
    missed = {outcome.attempt.case for outcome in cheats if not outcome.caught}
    cases = {outcome.attempt.case for outcome in cheats}
    report.total, report.caught = len(cases), len(cases - missed)
    report.honest_controls = len(honest)
    report.honest_controls_passed = sum(not outcome.faults and not accused(outcome) for outcome in honest)
    for outcome in outcomes:
        attempt = outcome.attempt
        if attempt.expectation.gap:
            report.gaps[attempt.name] = attempt.expectation.gap
        if outcome.faults:
            report.faults[attempt.name] = list(outcome.faults)
        last = outcome.documents[-1]
        report.attempts.append(
            {
                "attempt": attempt.name,
                "mode": attempt.expectation.mode,
                "verdict": last["verdict"],
                "reason": last["reason"],
                "findings": sorted({finding["rule"] for finding in last["findings"]}),
                "caught": outcome.caught,
                "timings": _last_timings(outcome.documents, "case", "seconds", "floor_seconds"),
                "control_runs": len(outcome.controls),
                "control_timings": _last_timings(outcome.controls, "case", "seconds"),
            }
        )
    return report


def _last_timings(documents: Sequence[ResultDocument], *names: str) -> list[dict[str, Any]]:
    """Of the last document, where there is one."""
    timings = [timing for document in documents[-1:] for timing in document["benchmarks"]]
    return [{name: timing.get(name) for name in names} for timing in timings]


def gaps_elsewhere(corpus: Corpus, only: Callable[[str], bool] = lambda case: True) -> dict[str, str]:
    """Cases that are no submissions and are not caught, or not wholly, whatever their tests say."""
    return {
        case: wanted.gap
        for case, wanted in corpus.expectations.items()
        if wanted.gap and wanted.kind != "submission" and only(case)
    }


def accused(outcome: Outcome) -> set[str]:
    """Rules that matched the source and speak of cheating, and ``overlapping`` where its calls seemed to."""
    found = {finding["rule"] for document in outcome.documents for finding in document["findings"]}
    return (found & ACCUSATIONS) | ({"overlapping"} if any(map(overlapping, outcome.documents)) else set())


def controls_of(corpus: Corpus, attempts: list[Attempt]) -> list[Attempt]:
    """The honest neighbours, each once per task, mode and rates of the device."""
    seen = {
        (wanted.control, wanted.task, wanted.mode, wanted.least_floor, str(wanted.ceilings)): wanted
        for wanted in (attempt.expectation for attempt in attempts)
    }
    return [corpus.control(wanted) for wanted in seen.values()]


def run_all(
    corpus: Corpus,
    attempts: list[Attempt],
    device: DetectedDevice,
    data_dir: Path,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    *,
    in_order: bool = False,
) -> list[Outcome]:
    """The outcomes, untimed attempts first, or one after the other with ``in_order``. Else ``on_outcome`` may
    be called by two threads at once.
    """
    target = DeviceTarget(device.kind, device.index, tuple(device.cores), device.facts)
    untimed = [item for item in attempts if not in_order and item.expectation.mode in _UNTIMED]
    timed = [item for item in attempts if in_order or item.expectation.mode not in _UNTIMED]
    with WarmPool(target, str(data_dir), ahead=False) as supervisors:
        supervisors.refill()

        def run(attempt: Attempt) -> Outcome:
            outcome = run_attempt(corpus, attempt, device, data_dir, pool=supervisors)
            on_outcome(outcome)
            return outcome

        with ThreadPoolExecutor(_AT_ONCE[device.kind]) as threads:
            outcomes = list(threads.map(run, untimed))
        return outcomes + [run(attempt) for attempt in timed]
