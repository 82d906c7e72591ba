"""Starting a run, and what its owner and staff may do to it."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaderboard.models import TaskVersion
from leaderboard.search.documents import plan_document
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.template import Template, template_for
from leaderboard.search.live import publish_visibility
from leaderboard.search.llm.pens import Pen, pen_for
from leaderboard.search.llm.setup import note_setup
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.plan import Plan
from leaderboard.search.selectors.standings import standing_at
from leaderboard.search.selectors.templates import template_of
from leaderboard.search.services import ending, promises, quotas
from leaderboard.search.services.clock import wall_seconds
from leaderboard.search.services.digests import device_digest, what_changed
from leaderboard.search.services.limits import EXTENDED, Limits
from leaderboard.search.services.log import add_event, lock
from leaderboard.search.services.owners import by_whom, require_owner
from leaderboard.search.text_outlook import TextOutlook
from leaderboard.selectors.options import device_refusal
from leaderboard.selectors.specs import spec_of
from leaderboard.services import baselines, site_mode
from leaderboard.services.errors import Refusal
from runners.contract.storable import is_storable
from runners.contract.vocabulary import COMPILERS, LANGUAGE_LABELS, DeviceKind, Language, lacks_compiler
from runners.models import Device
from runners.services import evaluations
from surrogate.risk import Scope

#: Why there was nothing to do where one of these changed nothing.
WHY_NOT = {
    "pause": "The search was not running any more.",
    "resume": "The search was not paused any more.",
    "cancel": "The search had ended before.",
}


def usual_multiple(generator: str) -> int:
    """Candidates considered per measurement: a template's cost nothing, a language model's do."""
    return 2 if generator == "llm" else 16


def start(
    *,
    user: User,
    task_slug: str,
    device_slug: str,
    generator: str = "template",
    language: str = "",
    plan: Plan | None = None,
    limits: Limits | None = None,
    is_public: bool = False,
    enters_best: bool = True,
    models: str = "",
    verifiers: str = "",
) -> SearchRun:
    """A running search; a search worker takes its first step. Raises Refusal.

    ``models`` and ``verifiers`` are of the generator llm: "claude-sonnet-5-5:high claude-haiku-5-5"; the
    verifiers may be "none". Empty, they are the site's own models, and the cheapest of them.
    """
    plan, limits = plan or Plan(multiple=usual_multiple(generator)), limits or Limits()
    limits.check()
    version, device = _version(task_slug), _device(device_slug)
    if refusal := device_refusal(device, spec_of(version)):
        raise Refusal(*refusal)
    template: Template | Pen | None
    if generator == "template":
        template, asks = template_for(version.task.slug, DeviceKind(device.kind), language), None
    elif generator == "llm":
        asks = promises.whom_to_ask(models, verifiers, money=limits.money, tokens=limits.tokens)
        template = pen_for(version.starters, DeviceKind(device.kind), language)
    else:
        raise Refusal("generator_unknown", f"{generator!r} is no generator; there are template and llm.")
    if template is None:
        wanted = f" in {_label(language)}" if language else ""
        raise Refusal("no_template", f"{version.task.title} has no template for {device.name}{wanted}.")
    if lacks_compiler(template.language, device.facts):
        compiler = COMPILERS[template.language]
        raise Refusal("language_not_on_device", f"{device.name} has no {compiler} at present.")
    with transaction.atomic():
        site_mode.require_open()
        baselines.hurry(version=version, device=device)
        quotas.require_a_measurement(version=version, device=device, device_seconds=limits.device_seconds)
        quotas.require(user=user, runs=1, measurements=limits.measurements, dollars=limits.money)
        run = SearchRun.objects.create(
            user=user,
            version=version,
            device=device,
            generator=generator,
            language=template.key,
            plan=plan_document(plan),
            spec_digest=version.spec_id,
            template_digest=template.digest,
            device_digest=device_digest(device),
            is_public=is_public,
            enters_best=enters_best,
            measurements_limit=limits.measurements,
            device_seconds_limit=limits.device_seconds,
            wall_seconds_limit=limits.wall_seconds,
            tokens_limit=limits.tokens,
            money_limit=limits.money,
            going_since=timezone.now(),
        )
        if asks is not None:
            note_setup(run=run, setup=asks)
        document = {"plan": run.plan, "standing": _standing_document(run, plan)}
        add_event(run=run, kind=SearchEvent.Kind.STARTED, document=document)
    return run


@transaction.atomic
def pause(*, run: SearchRun, user: User | None, message: str = "", until: datetime | None = None) -> bool:
    """No new step is taken; what is being measured is finished. ``user`` None: a breaker, not a person.

    ``until``: the run goes on by itself then (``resume_due``).
    """
    require_owner(run, user)
    locked = lock(run.pk)
    goes_on = locked.resumes_at is not None and user is not None  # a person may keep it from that
    if locked.status != RunStatus.RUNNING and not goes_on:
        return False
    message = message or f"Paused by {by_whom(run, user)}."
    SearchRun.objects.filter(pk=run.pk, status=locked.status).update(
        status=RunStatus.PAUSED,
        stop_message=message[:300],
        resumes_at=until,
        going_since=None,
        wall_seconds_spent=wall_seconds(locked),
    )
    locked.status = RunStatus.PAUSED
    add_event(run=locked, kind=SearchEvent.Kind.PAUSED, document={"message": message})
    return True


@transaction.atomic
def resume(*, run: SearchRun, user: User) -> bool:
    """Go on with a paused run. Raises Refusal: site_read_only, or run_changed when its task or device is not
    what it was.
    """
    require_owner(run, user)
    locked = lock(run.pk)
    if locked.status != RunStatus.PAUSED:
        return False
    site_mode.require_open()
    if reason := what_changed(locked, template_of(locked)):
        raise Refusal("run_changed", f"{reason} Start a new run.")
    _go_on(locked)
    return True


def resume_due() -> int:
    """Go on with the runs whose pause is over; how many. A site that is read-only keeps them until it is not.

    Its next step ends a run whose task or device has changed.
    """
    due = SearchRun.objects.filter(status=RunStatus.PAUSED, resumes_at__lte=timezone.now())
    found = list(due.filter(user__is_active=True).order_by("resumes_at"))
    return sum(map(_resume_if_due, found)) if found and site_mode.is_open() else 0


@transaction.atomic
def _resume_if_due(run: SearchRun) -> bool:
    locked = lock(run.pk)
    if locked.status != RunStatus.PAUSED or locked.resumes_at != run.resumes_at:
        return False  # another worker was first, or a person
    _go_on(locked)
    return True


def _go_on(locked: SearchRun) -> None:
    SearchRun.objects.filter(pk=locked.pk, status=RunStatus.PAUSED).update(
        status=RunStatus.RUNNING, stop_message="", resumes_at=None, going_since=timezone.now(), faults=0
    )
    locked.status = RunStatus.RUNNING
    add_event(run=locked, kind=SearchEvent.Kind.RESUMED, document={})


@transaction.atomic
def extend(*, run: SearchRun, user: User, more: Limits) -> SearchRun:
    """Raise the limits by ``more`` and let a run that had used them up go on. Raises Refusal."""
    require_owner(run, user)
    more.check_more()
    site_mode.require_open()
    quotas.lock_user(run.user)  # before the run's row, as everywhere else
    locked = lock(run.pk)
    reopened = locked.status == RunStatus.FINISHED
    if reopened:
        if locked.stop_reason in (StopReason.CANCELLED, StopReason.CHANGED, StopReason.EXHAUSTED):
            # Not its message: a token that may only submit is not told how the search went.
            raise Refusal("run_over", "The run has ended for good. Start a new one.")
        if reason := what_changed(locked, template_of(locked)):
            raise Refusal("run_changed", f"{reason} Start a new run.")
        locked.status, locked.stop_reason, locked.stop_message = RunStatus.RUNNING, "", ""
        locked.finished_at, locked.going_since = None, timezone.now()
    measurements, dollars = more.measurements, more.money
    if reopened:  # an ended run counts by what it used; going on, it may use what its limits leave
        measurements += locked.measurements_limit - locked.measurements_spent - locked.measurements_reserved
        dollars += max(0.0, locked.money_limit - locked.money_spent - locked.money_reserved)
    quotas.require(user=run.user, runs=int(reopened), measurements=measurements, dollars=dollars)
    locked.measurements_limit += more.measurements
    locked.device_seconds_limit += more.device_seconds
    locked.wall_seconds_limit += more.wall_seconds
    locked.tokens_limit += more.tokens
    locked.money_limit += more.money
    locked.save()
    document = {name: getattr(more, name) for name in EXTENDED}
    add_event(run=locked, kind=SearchEvent.Kind.EXTENDED, document=document)
    return locked


def set_visibility(*, run: SearchRun, user: User, is_public: bool) -> None:
    """Let others watch the run and read its kernels, or no longer. Raises PermissionDenied."""
    require_owner(run, user)
    SearchRun.objects.filter(pk=run.pk).update(is_public=is_public)
    transaction.on_commit(lambda: publish_visibility(run), robust=True)


def cancel(*, run: SearchRun, user: User) -> bool:
    """End a run and stop what it has under way. False when it had ended before."""
    require_owner(run, user)
    return ending.stop(run=run, reason=StopReason.CANCELLED, message=f"Cancelled by {by_whom(run, user)}.")


def stop_candidates(*, run: SearchRun, user: User, numbers: list[int]) -> int:
    """Never measure these candidates, or stop measuring them; how many were stopped."""
    require_owner(run, user)
    reason = f"Stopped by {by_whom(run, user)}."
    with transaction.atomic():
        locked = lock(run.pk)
        waiting = list(locked.candidates.filter(number__in=numbers, status=SearchCandidate.Status.WAITING))
        for candidate in waiting:
            document = {"digest": candidate.digest, "reason": reason}
            event = add_event(run=locked, kind=SearchEvent.Kind.DROPPED, document=document)
            candidate.status, candidate.seq = SearchCandidate.Status.DROPPED, event.seq
            candidate.save(update_fields=["status", "seq"])
    measuring = run.candidates.filter(number__in=numbers, status=SearchCandidate.Status.MEASURING)
    stopped = len(waiting)
    for candidate in measuring.select_related("evaluation"):
        if candidate.evaluation is not None:
            stopped += evaluations.request_cancel(evaluation=candidate.evaluation)
    return stopped


def _standing_document(run: SearchRun, plan: Plan) -> dict[str, Any] | None:
    """What is known of the forecasts that the run will go by; None where it asks for none."""
    if not plan.policy.asks_surrogate:
        return None
    outlook = TextOutlook if run.generator == "llm" else GaussianOutlook
    scope = Scope(outlook.name, outlook.version, run.device.slug, run.version.task.slug)
    return standing_at(scope, plan.rules).to_document()


def _label(language: str) -> str:
    """A language as pages write it, or else the word that was asked for: templates have keys beside those."""
    return LANGUAGE_LABELS[Language(language)] if language in list(Language) else language


def _version(task_slug: str) -> TaskVersion:
    version = (
        TaskVersion.objects.filter(task__slug=task_slug, is_current=True).select_related("task").first()
        if is_storable(task_slug)
        else None
    )
    if version is None:
        raise Refusal("task_unknown", f"There is no task {task_slug!r}.")
    if not version.task.is_open:
        raise Refusal("task_closed", f"The task {version.task.title} is closed; its boards stay.")
    return version


def _device(device_slug: str) -> Device:
    device = Device.objects.filter(slug=device_slug).first() if is_storable(device_slug) else None
    if device is None:
        raise Refusal("device_unknown", f"There is no device {device_slug!r}.")
    return device
