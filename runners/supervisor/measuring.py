"""The stages that run the submission: verify, time, profile. Imports torch, for the oracle."""

import base64
import gzip
import hashlib
import math
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runners.backends.base import Built
from runners.contract.job import Job
from runners.contract.launches import compiled_launches, work_of
from runners.contract.limits import MAX_TRACE_BYTES, ModeLimits
from runners.contract.result import CaseResult, ResultDocument, Score, Timing
from runners.contract.spec import Case
from runners.contract.vocabulary import CaseRole, DeviceKind, Mode, Verdict
from runners.sandbox.spawn import Layers
from runners.supervisor import nsight, profiling
from runners.supervisor.child import Child
from runners.supervisor.cpu_session import CpuSession
from runners.supervisor.disturbance import disturbance
from runners.supervisor.hidden import hidden_cases
from runners.supervisor.outcome import CaseFailed, Ended
from runners.supervisor.session import DeviceSession
from runners.supervisor.statistics import geometric_mean
from runners.supervisor.stop import Stop
from runners.supervisor.timing import CaseTimer
from runners.supervisor.verify import verify

Emit = Callable[[dict[str, Any]], None]


class Measuring:
    """Runs one built submission in ``child``; results go into ``document`` as they come."""

    def __init__(
        self, job: Job, built: Built, child: Child, limits: ModeLimits, document: ResultDocument, emit: Emit
    ) -> None:
        self._job = job
        self._built = built
        self._limits = limits
        self._document = document
        self._emit = emit
        self._session = _session(job, built, child, limits)
        self._benchmarks = job.spec.cases_for(job.target.kind, CaseRole.BENCHMARK)

    def verify(self) -> None:
        """Starts the submission and checks every test case. Raises Ended when one fails."""
        job = self._job
        strided = self._built.kind == "python"  # C entry points know no strides
        tests = [
            case if strided else replace(case, layouts={})
            for case in job.spec.cases_for(job.target.kind, CaseRole.TEST)
        ]
        hidden: list[Case] = []
        if job.mode == Mode.RANKED:
            hidden = hidden_cases(job.spec, job.target.kind, strided=strided)
        timed = () if job.mode == Mode.TEST else self._benchmarks
        timed = timed[:1] if job.mode == Mode.PROFILE else timed
        self._emit({"type": "plan", "tests": len(tests) + len(hidden), "benchmarks": len(timed)})
        self._session.start(timed)
        self._session.load(self._built.payload)
        public = hashlib.sha256(job.spec.digest.encode()).digest()
        for cases, is_hidden, seed in ((tests, False, public), (hidden, True, secrets.token_bytes(32))):
            results, ended = verify(
                self._session, cases, hidden=is_hidden, seed=seed, report=self._report_test
            )
            self._document["tests"] += results
            if ended is not None:
                raise ended

    def time(self) -> None:
        """Times every benchmark case. Raises Ended when one fails."""
        job = self._job
        for case in self._benchmarks:
            self._activity(f"timing {case.name}")
            try:
                timing = self._timed(case)
            except CaseFailed as failed:
                ended = Ended(failed.verdict, f"Case {case.name}: {failed.message}")
            except Ended as error:
                ended = error
            else:
                self._report_timing(timing)
                continue
            self._report_timing(
                {
                    "case": case.name,
                    "description": case.describe(),
                    "status": "failed" if ended.verdict == Verdict.WRONG else "error",
                    "message": ended.reason,
                }
            )
            raise ended
        self._document["score"] = score(self._document["benchmarks"])
        if job.mode == Mode.RANKED:
            self._activity("looking at the kernels it launches")
            self._note_launches(self._seen_launches())

    def _timed(self, case: Case) -> Timing:
        """The times of one case, taken once more when something else slowed the device down meanwhile; if it
        does so again, the timing says so.
        """
        for is_last in (False, True):
            timer = CaseTimer(self._session, self._job.spec, case, self._job.mode, self._limits)
            before = self._session.condition()
            timing = timer.measure(self._job.target.ceilings, self._activity)
            if not before:
                break
            after = self._session.condition()
            timing["condition"] = {"before": before, "after": after}
            doubt = disturbance(before, after)
            if not doubt:
                break
            if is_last:
                timing["disturbed"] = doubt
            else:
                self._activity(f"timing {case.name} once more: {doubt}")
        return timing

    def profile(self) -> None:
        """The first benchmark case: its time against the device's ceilings, and what a profiler says of a
        call.
        """
        job = self._job
        case = self._benchmarks[0]
        self._activity(f"profiling {case.name}")
        timing = CaseTimer(self._session, job.spec, case, job.mode, self._limits).measure(
            job.target.ceilings, self._activity
        )
        self._report_timing(timing)
        seconds = timing["seconds"]
        rates = {
            "bytes_per_s": job.spec.case_bytes(case) / seconds,
            "flops_per_s": job.spec.case_flops(case) / seconds,
        }
        seen = self._session.profile(case)
        launches, trace = seen.pop("launches", None), seen.pop("trace", b"")
        size = seen.pop("trace_bytes", 0)
        self._document["profile"] = {
            "case": case.name,
            "seconds": seconds,
            "floor_seconds": timing["floor_seconds"],
            **rates,
            **profiling.shares(job.spec, job.target.ceilings, rates),
            **seen,
        }
        self._keep_raw(trace, profiling.TRACE, size)
        self._note_launches(launches)

    def read_counters(self, layers: Layers, stop: Stop) -> None:
        """Adds what Nsight Compute reads of the same case, or why there is nothing. Its report is kept in
        place of the trace.
        """
        found, report = nsight.look(self._job, self._built, self._benchmarks[0], layers, stop)
        self._document["profile"] |= found
        self._keep_raw(gzip.compress(report) if report else b"", profiling.REPORT)

    def _keep_raw(self, content: bytes, name: str, size: int = 0) -> None:
        """``size`` is that of a report which never came, as it was too large."""
        size = len(content) or size
        if size > MAX_TRACE_BYTES:
            told = f"the profiler's raw report {name}, {size:,} bytes of at most {MAX_TRACE_BYTES:,}"
            self._document["left_out"] = [*self._document.get("left_out", ()), told]
        elif content:
            self._document["profile"] |= {"raw": name, "raw_bytes": len(content)}
            self._document["trace"] = base64.b64encode(content).decode()

    def _seen_launches(self) -> Any:
        """What a profiler sees of one call, after all that counts is over: a fault of it changes nothing."""
        try:
            return self._session.profile(self._benchmarks[0]).get("launches")
        except Ended as ended:
            if ended.verdict == Verdict.CANCELLED:
                raise
            return None

    def _note_launches(self, told: Any) -> None:
        """``told`` is None where no profiler looked: compiled sources have no other functions than theirs."""
        compiled = self._built.kind == "library"
        launches = compiled_launches(self._built.report) if compiled else (told or [])
        seen = compiled or told is not None
        self._document["launches"] = launches
        self._document["work"] = work_of(
            self._job.target.kind, launches, self._document["findings"], seen=seen
        )

    def _report_test(self, case: CaseResult) -> None:
        self._emit({"type": "test", "case": case})

    def _report_timing(self, timing: Timing) -> None:
        self._document["benchmarks"].append(timing)
        self._emit(
            {"type": "timing", "case": {key: value for key, value in timing.items() if key != "samples"}}
        )

    def _activity(self, text: str) -> None:
        self._emit({"type": "activity", "text": text})


def _session(job: Job, built: Built, child: Child, limits: ModeLimits) -> DeviceSession:
    if job.target.kind == DeviceKind.CUDA:
        from runners.supervisor.cuda_session import CudaSession

        return CudaSession(job.spec, job.target, limits, child=child, kind=built.kind)
    return CpuSession(job.spec, job.target, limits, child=child, kind=built.kind)


def score(timings: list[Timing]) -> Score | None:
    """Geometric means over the cases; the interval assumes that their errors are independent."""
    if not timings:
        return None
    seconds = geometric_mean([timing["seconds"] for timing in timings])
    lower = [math.log(timing["seconds"] / timing["ci_low"]) for timing in timings]
    upper = [math.log(timing["ci_high"] / timing["seconds"]) for timing in timings]
    down, up = (math.sqrt(sum(value**2 for value in side)) / len(timings) for side in (lower, upper))
    pairs = [(timing.get("floor_seconds"), timing["seconds"]) for timing in timings]
    shares = [floor / time for floor, time in pairs if floor]
    return {
        "seconds": seconds,
        "ci_low": seconds * math.exp(-down),
        "ci_high": seconds * math.exp(up),
        "roofline": geometric_mean(shares) if len(shares) == len(timings) else None,
    }
