"""A run as its page draws it: what it used of its limits, how far it is, what its owner may do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.plan import Policy
from leaderboard.search.selectors.runs import DUE_FOR, has_entered, has_gone_on, last_ending
from leaderboard.search.selectors.starting import key_label
from leaderboard.search.services.clock import wall_seconds
from runners.models import EvaluationStatus

#: What each arm is called; the first is no control.
ARMS: dict[Policy, tuple[str, str]] = {
    Policy.SURROGATE: ("Surrogate", "forecasts with their doubt decide what is measured"),
    Policy.TOPK: ("Top k", "control: the same forecasts, their doubt ignored"),
    Policy.NONE: ("No surrogate", "control: every candidate is measured"),
    Policy.RANDOM: ("Independent", "control: best of n independent samples, nothing is built on another"),
}
GENERATORS = {"template": "template", "llm": "language model"}
_GONE_FOR_GOOD = (StopReason.CANCELLED, StopReason.CHANGED, StopReason.EXHAUSTED)
#: Measurements from which a pace is told.
_LEAST_PACE = 2


@dataclass(frozen=True)
class Meter:
    """One budget. ``unit`` chooses how its numbers are written: count, seconds, tokens, dollars."""

    label: str
    unit: str
    spent: float
    held: float  # reserved for what is under way
    limit: float

    @property
    def spent_percent(self) -> float:
        return min(100.0, 100 * self.spent / self.limit) if self.limit else 0.0

    @property
    def held_percent(self) -> float:
        return min(100.0 - self.spent_percent, 100 * self.held / self.limit) if self.limit else 0.0


@dataclass(frozen=True)
class Overview:
    run: SearchRun
    arm: str
    language: str
    generator: str
    heading: str
    tone: str  # of the page's colours: running, passed, failed, cancelled, queued
    sentence: str  # the state in one line, for screen readers
    meters: list[Meter]
    seconds_left: float | None  # at this pace, until the first limit is reached
    speedup: float | None  # of the best over the starter
    best: SearchCandidate | None
    best_score: Mapping[str, Any] | None  # with the interval of its time
    measuring: int  # sent to the device, with those that wait in its queue
    queued: int
    unspent: float  # device seconds, where too few of them are left for another measurement
    entered_message: str  # why the best kernel was or was not entered
    is_outdone: bool  # the run went on and found a faster kernel than the one it had entered
    is_over: bool  # nothing will change any more by itself
    is_owner: bool  # may steer it: its owner, or staff
    can_extend: bool
    can_enter: bool


def overview_of(run: SearchRun, *, is_owner: bool) -> Overview:
    """Three queries, and one each where the run has an entry and where it is over."""
    best = (
        run.candidates.filter(status=SearchCandidate.Status.MEASURED)
        .only("number", "seconds", "operator", "parameters", "run_id", "kernel_id")
        .annotate(score=KeyTransform("score", "evaluation__result"))
        .order_by("seconds", "number")
        .first()
    )
    sent = run.candidates.filter(status=SearchCandidate.Status.MEASURING).aggregate(
        all=Count("pk"), queued=Count("pk", filter=Q(evaluation__status=EvaluationStatus.QUEUED))
    )
    measuring = sent["all"]
    ending = last_ending(run)
    noted = ending is not None and ending.kind == SearchEvent.Kind.ENTERED
    finished = run.status == RunStatus.FINISHED
    beats = best is not None and not best.is_starter
    is_due = (
        run.finished_at is not None
        and run.finished_at > timezone.now() - DUE_FOR
        and run.enters_best
        and not noted
        and run.best_seconds is not None
        and run.stop_reason not in (StopReason.CANCELLED, StopReason.CHANGED)
    )
    is_entered = best is not None and has_entered(run, best)
    heading, tone = _heading(run)
    return Overview(
        run=run,
        arm=ARMS[Policy(run.plan.get("policy", Policy.SURROGATE))][0],
        language=key_label(run.language),
        generator=GENERATORS.get(run.generator, run.generator),
        heading=heading,
        tone=tone,
        sentence=_sentence(run, heading),
        meters=meters_of(run),
        seconds_left=seconds_left(run) if run.status == RunStatus.RUNNING else None,
        speedup=run.starter_seconds / run.best_seconds if run.starter_seconds and run.best_seconds else None,
        best=best,
        best_score=best.__dict__["score"] if best else None,
        measuring=measuring,
        queued=sent["queued"],
        unspent=_unspent(run),
        entered_message=str(ending.document.get("message", "")) if ending and noted and finished else "",
        is_outdone=run.entered_id is not None and beats and not is_entered,
        # Asked last: a page that took half of the last event for the end would keep that half.
        is_over=finished and not measuring and not is_due and not has_gone_on(run),
        is_owner=is_owner,
        can_extend=not (finished and run.stop_reason in _GONE_FOR_GOOD),
        can_enter=finished and not measuring and beats and not is_entered and not is_due,
    )


def meters_of(run: SearchRun) -> list[Meter]:
    """Of a language model's run also tokens and money."""
    meters = [
        Meter(
            "Measurements", "count", run.measurements_spent, run.measurements_reserved, run.measurements_limit
        ),
        Meter(
            "Device time",
            "seconds",
            run.device_seconds_spent,
            # Floating sums drift by rounding, and whatever runs has more than a second set aside.
            run.device_seconds_reserved if run.device_seconds_reserved >= 1 else 0.0,
            run.device_seconds_limit,
        ),
        Meter("Time", "seconds", min(wall_seconds(run), run.wall_seconds_limit), 0.0, run.wall_seconds_limit),
    ]
    if run.generator == "llm":
        meters.append(Meter("Tokens", "tokens", run.tokens_spent, run.tokens_reserved, run.tokens_limit))
        meters.append(Meter("Money", "dollars", run.money_spent, run.money_reserved, run.money_limit))
    return meters


def seconds_left(run: SearchRun) -> float | None:
    """Until the first limit is reached, if all goes on as it went so far; None before there is a pace."""
    gone = wall_seconds(run)
    if run.measurements_spent < _LEAST_PACE or gone <= 0:
        return None
    wanted = [gone * (meter.limit - meter.spent) / meter.spent for meter in meters_of(run) if meter.spent > 0]
    return max(0.0, min(wanted))


def _unspent(run: SearchRun) -> float:
    """What a run that ended for its device seconds did not use: less than a measurement sets aside."""
    left = run.device_seconds_limit - run.device_seconds_spent
    return left if run.stop_reason == StopReason.DEVICE_SECONDS and left >= 1 else 0.0


def _heading(run: SearchRun) -> tuple[str, str]:
    if run.status == RunStatus.RUNNING:
        waits = run.going_since is None
        return ("Waiting", "queued") if waits else ("Running", "running")
    if run.status == RunStatus.PAUSED:
        return "Paused", "queued"
    if run.stop_reason == StopReason.CANCELLED:
        return "Cancelled", "cancelled"
    return ("Ended", "failed") if run.stop_reason == StopReason.CHANGED else ("Ended", "passed")


def _sentence(run: SearchRun, heading: str) -> str:
    counted = f"{heading}, {run.measurements_spent} of {run.measurements_limit} measured"
    return f"{counted}. {run.stop_message}".strip() if run.stop_message else counted
