"""Running one attempt through the engine, and saying what is wrong with what became of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard.corpus.cases import Attempt, Corpus, Expectation
from leaderboard.trust import overlapping
from runners.calibrate import measure_ceilings
from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import ModeLimits
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.devices import DetectedDevice
from runners.supervisor.client import run_job
from runners.supervisor.pool import WarmPool

#: Short enough that every limit is tried for real. Compiling has its usual one: nvcc with a library's headers
#: takes 15 s on a machine to itself, and g++ more than 20 on one that others use.
LIMITS = ModeLimits(deadline=150, compile=60, call=5, case_timing=1.0, warm_up=0.05)
BOUNDS = {"memory": 2**30, "tmp": 2**26, "shm": 2**26, "processes": 24, "threads": 100}
#: How often a control runs at most while its cheat seems too quick: other work on the machine slows one of
#: the two down at times, and lets no control be quicker than the honest work allows.
_CONTROLS = 3


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt. ``faults`` are sentences; none means that all is as expected."""

    attempt: Attempt
    documents: tuple[ResultDocument, ...]
    faults: tuple[str, ...]
    controls: tuple[ResultDocument, ...] = ()  # what it was held against, where it was; the last one counts

    @property
    def caught(self) -> bool:
        """As expected, and nothing gained."""
        return not self.faults and not self.attempt.expectation.gap


def run_attempt(
    corpus: Corpus,
    attempt: Attempt,
    device: DetectedDevice,
    data_dir: Path,
    values: Mapping[str, str] | None = None,
    pool: WarmPool | None = None,
) -> Outcome:
    """Runs the attempt as often as it asks for. ``values`` are put into its source, see Attempt.source.

    Where it is held against its control, that runs right after it.
    """
    spec = corpus.specs[attempt.expectation.task]
    wanted = attempt.expectation
    ceilings = wanted.ceilings or (_measured(device.kind, device.index) if wanted.least_floor else {})
    target = DeviceTarget(device.kind, device.index, tuple(device.cores), device.facts, ceilings)
    job = Job(
        evaluation=attempt.name,
        spec=spec,
        language=attempt.language,
        source=attempt.source({"DIGEST": spec.digest, **(values or {})}),
        mode=attempt.expectation.mode,
        target=target,
        data_dir=str(data_dir),
        limits=None if wanted.unhurried else LIMITS,
        # What a CUDA context takes of a process is the driver's affair, and more than these.
        bounds=BOUNDS if device.kind == DeviceKind.CPU and not wanted.unhurried else {},
    )
    documents = tuple(
        run_job(job, on_event=lambda event: None, should_stop=lambda: False, pool=pool)
        for _ in range(attempt.expectation.runs)
    )
    faults = [fault for document in documents for fault in judge(attempt.expectation, document)]
    controls: list[ResultDocument] = []
    quicker: list[str] = []
    while wanted.least_of_control and len(controls) < _CONTROLS:
        control = run_attempt(corpus, corpus.control(wanted), device, data_dir, pool=pool).documents[-1]
        controls.append(control)
        quicker = [fault for document in documents for fault in _beside(wanted, document, control)]
        if not quicker or control["verdict"] != Verdict.PASSED:
            break
    return Outcome(attempt, documents, (*faults, *quicker), tuple(controls))


def _beside(wanted: Expectation, document: ResultDocument, control: ResultDocument) -> list[str]:
    """What of the times is less than the honest neighbour's allow."""
    if document["verdict"] != Verdict.PASSED:
        return []
    if control["verdict"] != Verdict.PASSED:
        return [f"its honest neighbour did not pass: {control['reason']}"]
    return [
        f"case {timing['case']}: {timing['seconds']:.3g} s, and {honest['seconds']:.3g} s honestly"
        for timing, honest in zip(document["benchmarks"], control["benchmarks"], strict=True)
        if timing["seconds"] < wanted.least_of_control * honest["seconds"]
    ]


@cache
def _measured(kind: DeviceKind, index: int) -> dict[str, Any]:
    return measure_ceilings(DeviceTarget(kind, index))


def judge(wanted: Expectation, document: ResultDocument) -> list[str]:
    """What in ``document`` is not as ``wanted``; pure."""
    faults: list[str] = []
    verdict, reason = document["verdict"], document["reason"]
    if verdict not in wanted.expected:
        expected = " or ".join(wanted.expected)
        faults.append(f"the verdict is {verdict} instead of {expected}: {reason or 'no reason'}")
    if wanted.reason not in reason:
        faults.append(f"the reason does not say {wanted.reason!r}: {reason}")
    words = "\n".join((document["output"]["stdout"], document["output"]["stderr"]))
    faults += [f"it printed {text!r}: {words[-300:]}" for text in wanted.never_printed if text in words]
    faults += [f"it did not print {text!r}: {words[-300:]}" for text in wanted.printed if text not in words]
    if wanted.finding and wanted.finding not in {finding["rule"] for finding in document["findings"]}:
        faults.append(f"no finding {wanted.finding}")
    if verdict != Verdict.PASSED:
        return faults
    if wanted.least_seconds:
        faults += [
            f"case {timing['case']}: {timing['seconds']:.3g} s is less than the work takes"
            for timing in document["benchmarks"]
            if timing["seconds"] < wanted.least_seconds
        ]
    if wanted.least_floor:
        faults += [
            f"case {timing['case']}: {timing['seconds']:.3g} s is less than the device's floor allows"
            for timing in document["benchmarks"]
            if timing["seconds"] < wanted.least_floor * (timing["floor_seconds"] or math.inf)
        ]
    if (wanted.least_seconds or wanted.least_floor) and not document["benchmarks"]:
        faults.append("nothing was timed")
    if wanted.nondeterministic and all(case.get("deterministic") for case in document["tests"]):
        faults.append("it was not reported to vary from run to run")
    if wanted.overlapping and not overlapping(document):
        faults.append("its calls were not reported to overlap")
    return faults
