"""Seeing one evaluation through: claim, supervise, store. Runs in a runner's process."""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import MAX_ATTEMPTS, limits_of
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode, Verdict
from runners.health import look_after
from runners.models import Evaluation, Runner
from runners.selectors import required_tier
from runners.services import evaluations
from runners.supervisor.client import SupervisorKilled, run_job
from runners.supervisor.pool import WarmPool

logger = logging.getLogger(__name__)

#: Least seconds between two stored "activity" events; every other event is stored at once.
_ACTIVITY_INTERVAL = 0.25


@dataclass
class RunnerContext:
    """What this process serves."""

    runner: Runner
    target: DeviceTarget | None  # None for the compile-only worker, which takes the evaluation's own device
    pool: WarmPool | None = None  # of supervisors started ahead
    shutting_down: threading.Event = field(default_factory=threading.Event)


_context: RunnerContext | None = None


def become_runner(context: RunnerContext) -> None:
    global _context
    _context = context


def current_runner() -> RunnerContext:
    if _context is None:
        raise RuntimeError("this process is no runner: start one with manage.py runner")
    return _context


def run_next(queue: str, context: RunnerContext) -> bool:
    """Claim and run one evaluation of ``queue``. False when none waits."""
    if context.shutting_down.is_set():
        return False
    evaluation = evaluations.claim_next(queue=queue, runner=context.runner)
    if evaluation is None:
        return False
    _run(evaluation, context)
    return True


def _run(evaluation: Evaluation, context: RunnerContext) -> None:
    watch = _Watch(evaluation, context)
    try:
        result: Mapping[str, Any] = run_job(
            _job_of(evaluation, context),
            on_event=watch.on_event,
            should_stop=watch.should_stop,
            pool=context.pool,
            tell_killed=True,
        )
    except SupervisorKilled as error:
        logger.warning("the supervisor of evaluation %s was killed: %s", evaluation.pk, error)
        result = _next_attempt(evaluation)
    except Exception as error:
        # Whatever is wrong in our own code must not leave the row running until its lease ends.
        logger.exception("evaluation %s failed inside KernelHub", evaluation.pk)
        result = internal_error(evaluation, f"KernelHub failed, not the kernel: {type(error).__name__}.")
        _settle(evaluation, result, context, watch)
    else:
        _settle(evaluation, result, context, watch)
    if context.target is not None and evaluation.mode != Mode.CHECK:
        look_after(
            device=evaluation.device,
            target=context.target,
            verdict=Verdict(result["verdict"]),
            failed_stage=result.get("failed_stage", ""),
            runner=context.runner,
        )
    if context.pool is not None and not context.shutting_down.is_set():
        context.pool.refill()


def _settle(
    evaluation: Evaluation, result: Mapping[str, Any], context: RunnerContext, watch: "_Watch"
) -> None:
    if context.shutting_down.is_set() and result["verdict"] == Verdict.CANCELLED and not watch.lost:
        evaluations.give_back(evaluation=evaluation)
    elif not _finish(evaluation, result):
        logger.warning("evaluation %s was taken up elsewhere; this verdict is dropped", evaluation.pk)


def _next_attempt(evaluation: Evaluation) -> Mapping[str, Any]:
    """Queues it again as a killed runner's is: counted, so that what kills supervisors ends too. Returns what
    the device is looked after by.
    """
    # These fields only: runner and attempts are what this attempt's writes are fenced by.
    evaluation.refresh_from_db(fields=["lease_expires_at", "cancel_requested_at"])
    evaluations.take_up_abandoned(evaluation=evaluation, max_attempts=MAX_ATTEMPTS)
    return {"verdict": Verdict.INTERNAL_ERROR}


def _finish(evaluation: Evaluation, result: Mapping[str, Any]) -> bool:
    """Stores ``result``, or that it cannot be stored, so that no row runs on until its lease ends."""
    try:
        return evaluations.finish(evaluation=evaluation, result=result)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the sweeper queues the evaluation again
    except Exception as error:
        logger.exception("the result of evaluation %s cannot be stored", evaluation.pk)
        reason = f"KernelHub could not store the result: {type(error).__name__}."
        return evaluations.finish(evaluation=evaluation, result=internal_error(evaluation, reason))


class _Watch:
    """The two callbacks of a run: storing what happens, and noticing that it must stop."""

    def __init__(self, evaluation: Evaluation, context: RunnerContext) -> None:
        self._evaluation = evaluation
        self._context = context
        self._next_lease = time.monotonic() + settings.LEASE_SECONDS / 6
        self._last_activity = float("-inf")
        self.lost = False

    def on_event(self, event: Mapping[str, Any]) -> None:
        now = time.monotonic()
        if event["type"] == "activity":
            if now - self._last_activity < _ACTIVITY_INTERVAL:
                return
            self._last_activity = now
        if event["type"] != "result":
            evaluations.record_event(evaluation=self._evaluation, event=event)

    def should_stop(self) -> bool:
        if self._context.shutting_down.is_set() or self.lost:
            return True
        # A cancel is noticed within a second; the lease is only written when a sixth of it has passed.
        now = time.monotonic()
        if now < self._next_lease:
            asked = Evaluation.objects.filter(pk=self._evaluation.pk, cancel_requested_at__isnull=False)
            return asked.exists()
        self._next_lease = now + settings.LEASE_SECONDS / 6
        self.lost = not evaluations.extend_lease(evaluation=self._evaluation)
        return self.lost


def _job_of(evaluation: Evaluation, context: RunnerContext) -> Job:
    device = evaluation.device
    target = context.target or DeviceTarget(DeviceKind(device.kind), facts=device.facts)
    return Job(
        evaluation=str(evaluation.pk),
        spec=TaskSpec.from_document(evaluation.spec.document),
        language=Language(evaluation.kernel.language),
        source=evaluation.kernel.source,
        mode=Mode(evaluation.mode),
        target=DeviceTarget(target.kind, target.index, target.cores, device.facts, device.ceilings),
        data_dir=str(settings.DATA_DIR / "engine"),
        required_tier=required_tier(Mode(evaluation.mode)),
        limits=limits_of(Mode(evaluation.mode), settings.TIMING_PERCENT),
    )


def internal_error(evaluation: Evaluation, reason: str) -> dict[str, Any]:
    """The result of a run that never got to one. The device was held all the same."""
    evaluation.refresh_from_db(fields=["lease_expires_at"])
    seconds = evaluations.held_seconds(evaluation)
    return {"verdict": Verdict.INTERNAL_ERROR, "reason": reason, "device_seconds": seconds}
