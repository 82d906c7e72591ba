"""One evaluation from job to result document: the stages in order, and one verdict."""

import contextlib
import hashlib
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runners.backends.base import Built, CompileFailed
from runners.backends.registry import BACKENDS
from runners.contract import result
from runners.contract.job import Job
from runners.contract.limits import LIMITS, MAX_SOURCE_BYTES, ModeLimits, device_seconds
from runners.contract.result import Finding, ResultDocument
from runners.contract.vocabulary import (
    LANGUAGE_LABELS,
    LANGUAGES_OF,
    STAGES_OF,
    Language,
    Mode,
    Stage,
    Verdict,
)
from runners.devices import cores_beside
from runners.sandbox.bounds import Bounds
from runners.sandbox.probe import Probe, tier_number
from runners.supervisor import environment
from runners.supervisor.child import Child
from runners.supervisor.outcome import Ended
from runners.supervisor.plan import plan_for
from runners.supervisor.sandboxes import Sandboxes
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import SandboxedWorkshop

if TYPE_CHECKING:
    from runners.supervisor.measuring import Measuring

Emit = Callable[[dict[str, Any]], None]


class Evaluation:
    """Runs ``job`` once. ``emit`` gets the events of contract/progress.py, all but the result."""

    def __init__(
        self,
        job: Job,
        probe: Probe,
        stop: Stop,
        emit: Emit,
        bounds: Bounds | None = None,
        limits: ModeLimits | None = None,
        sandboxes: Sandboxes | None = None,
    ) -> None:
        """``bounds`` and ``limits`` take the place of the machine's and the mode's own; ``sandboxes`` may
        hold some that were started ahead.
        """
        self._job = job
        self._probe = probe
        self._stop = stop
        self._emit = emit
        self._bounds = bounds or Bounds()
        self._limits = limits or LIMITS[job.mode]
        self._sandboxes = sandboxes or Sandboxes()
        self._stage: Stage | None = None
        self._built: Built | None = None
        self._child: Child | None = None
        self._measuring: Measuring | None = None
        self._document = _empty_document(job, probe)

    def run(self) -> ResultDocument:
        """Never raises for anything that a submission does; a fault of ours becomes ``internal_error``."""
        start = time.monotonic()
        document = self._document
        try:
            self._go()
            document["verdict"] = Verdict.PASSED
        except Ended as ended:
            self._end(ended)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not look like the submitter's
            traceback.print_exc()
            self._end(
                Ended(Verdict.INTERNAL_ERROR, f"The evaluation failed through no fault of yours: {error!r}")
            )
        finally:
            self._close()
        self._skip_the_rest()
        document["wall_seconds"] = time.monotonic() - start
        document["device_seconds"] = device_seconds(self._job.mode, document["wall_seconds"])
        return document

    def _go(self) -> None:
        # What the other languages need is gone at once: it may still be starting, on the cores of this job.
        python = self._job.language == Language.PYTHON
        self._sandboxes.dismiss(lambda plan: plan.packages != python)
        self._refuse_what_cannot_work()
        stages: dict[Stage, Callable[[], None]] = {
            Stage.SCREEN: self._screen,
            Stage.COMPILE: self._compile,
            Stage.VERIFY: self._verify,
            Stage.TIME: self._time,
            Stage.PROFILE: self._profile,
        }
        for stage in STAGES_OF[self._job.mode]:
            with self._staged(stage):
                stages[stage]()

    def _refuse_what_cannot_work(self) -> None:
        job = self._job
        language = LANGUAGE_LABELS[job.language]
        tier = self._probe.tier_on(job.target.kind)
        if tier_number(tier) < tier_number(job.required_tier):
            text = f"This runner's sandbox reaches tier {tier}, {job.required_tier} is required"
            raise Ended(Verdict.REFUSED, f"{text}: {self._probe.missing()}.")
        if len(job.source.encode()) > MAX_SOURCE_BYTES:
            raise Ended(Verdict.REFUSED, f"The source is longer than {MAX_SOURCE_BYTES} bytes.")
        if job.language not in job.spec.languages or job.language not in LANGUAGES_OF[job.target.kind]:
            text = f"The task {job.spec.slug} takes no {language} on {job.target.kind.upper()} devices."
            raise Ended(Verdict.REFUSED, text)
        if job.language not in BACKENDS:
            raise Ended(Verdict.REFUSED, f"This runner cannot build {language}.")

    def _screen(self) -> None:
        findings = BACKENDS[self._job.language].screen(self._job.source, self._job.spec)
        self._take(findings)

    def _take(self, findings: Sequence[Finding]) -> None:
        """Adds findings; raises Ended at the first that refuses."""
        self._document["findings"] = sorted(
            [*self._document["findings"], *findings], key=lambda finding: finding["line"]
        )
        for finding in findings:
            if finding["refuses"]:
                broken = finding["rule"] == "syntax"
                raise Ended(Verdict.COMPILE_ERROR if broken else Verdict.REFUSED, finding["message"])

    def _compile(self) -> None:
        job = self._job
        # Another device's clock may be running on the measured cores.
        beside = cores_beside(job.target.cores)
        layers = self._probe.usable()
        workshop = SandboxedWorkshop(
            job.data_dir, self._limits.compile, layers, self._stop, beside, self._sandboxes
        )
        try:
            self._built = BACKENDS[job.language].build(job.source, job.spec, job.target, job.mode, workshop)
        except CompileFailed as error:
            if error.report is not None:
                self._document["compile"] = error.report
            raise Ended(Verdict.COMPILE_ERROR, error.reason) from None
        if self._built.report is not None:
            self._document["compile"] = self._built.report
        self._take(self._built.findings)

    def _measured(self) -> "Measuring":
        """The part that needs torch, loaded when first asked for; the child starts meanwhile."""
        if self._measuring is None:
            assert self._built is not None  # noqa: S101 - the compile stage comes before
            self._activity("starting the sandbox")
            plan = plan_for(self._job.target, self._built.kind, self._bounds, self._probe.usable())
            self._child = self._sandboxes.open(plan, self._stop)
            self._sandboxes.dismiss()
            if self._job.mode != Mode.TEST:
                self._sandboxes.close()  # nothing of theirs may still be under way when the clock runs
            from runners.supervisor.measuring import Measuring

            self._measuring = Measuring(
                self._job, self._built, self._child, self._limits, self._document, self._emit
            )
        return self._measuring

    def _verify(self) -> None:
        measured = self._measured()
        self._activity("running the tests")
        measured.verify()

    def _time(self) -> None:
        self._measured().time()

    def _profile(self) -> None:
        measured = self._measured()
        measured.profile()
        self._activity("reading hardware counters")
        measured.read_counters(self._probe.usable(), self._stop)

    def _close(self) -> None:
        self._sandboxes.close()
        if self._child is None:
            return
        self._child.flush()
        out, err = self._child.output()
        self._document["output"] = {"stdout": out, "stderr": err, "truncated": self._child.truncated}
        self._child.close()

    @contextlib.contextmanager
    def _staged(self, stage: Stage) -> Iterator[None]:
        """Reports a stage's start and end, whichever way it ends."""
        self._stage = stage
        self._emit({"type": "stage", "stage": stage, "status": "started"})
        start = time.monotonic()
        entry: result.StageResult = {"stage": stage, "status": "failed"}
        self._document["stages"].append(entry)
        try:
            self._stop.check()
            yield
            entry["status"] = "passed"
        finally:
            entry["seconds"] = time.monotonic() - start
            self._emit({"type": "stage", **entry})

    def _end(self, ended: Ended) -> None:
        self._document["verdict"] = ended.verdict
        self._document["reason"] = ended.reason
        self._document["failed_stage"] = str(self._stage or "")

    def _skip_the_rest(self) -> None:
        seen = {entry["stage"] for entry in self._document["stages"]}
        for stage in STAGES_OF[self._job.mode]:
            if stage not in seen:
                self._document["stages"].append({"stage": stage, "status": "skipped"})
                self._emit({"type": "stage", "stage": stage, "status": "skipped"})

    def _activity(self, text: str) -> None:
        self._emit({"type": "activity", "text": text})


def _empty_document(job: Job, probe: Probe) -> ResultDocument:
    source = f"{job.language}\0{job.source}".encode()
    return {
        "schema": result.SCHEMA,
        "verdict": "",
        "reason": "",
        "failed_stage": "",
        "mode": str(job.mode),
        "language": str(job.language),
        "spec": job.spec.digest,
        "kernel": hashlib.sha256(source).hexdigest(),
        "engine": {
            "version": environment.ENGINE_VERSION,
            "tier": probe.tier_on(job.target.kind),
            "layers": dict(probe.layers),
        },
        "device": dict(job.target.facts),
        "environment": environment.environment(),
        "stages": [],
        "findings": [],
        "tests": [],
        "benchmarks": [],
        "score": None,
        "output": {"stdout": "", "stderr": "", "truncated": False},
        "device_seconds": 0.0,
        "wall_seconds": 0.0,
    }
