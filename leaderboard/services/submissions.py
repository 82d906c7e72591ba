"""Entering, cancelling and showing submissions."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from leaderboard.live.publish import publish_visibility
from leaderboard.models import Submission, TaskVersion
from leaderboard.selectors import estimates
from leaderboard.selectors.budgets import budget_of
from leaderboard.selectors.devices import sandbox_of, tier_refusal
from leaderboard.selectors.options import device_refusal
from leaderboard.selectors.specs import spec_of
from leaderboard.selectors.viewers import may_manage
from leaderboard.services import baselines, budgets, forecasts, site_mode, sources
from leaderboard.services.errors import Refusal
from leaderboard.services.submission_limits import check_queued, check_rate, check_runs_today, require_room
from runners.contract.spec import TaskSpec
from runners.contract.storable import is_storable
from runners.contract.vocabulary import (
    COMPILERS,
    LANGUAGE_LABELS,
    LANGUAGES_OF,
    DeviceKind,
    Language,
    Mode,
    lacks_compiler,
)
from runners.models import Device, Lane
from runners.services import evaluations, kernels


def submit(
    *,
    user: User,
    task_slug: str,
    device_slug: str,
    language: str,
    mode: str,
    source: bytes | str,
    filename: str = "",
    is_public: bool = False,
    machine_written: bool = False,
) -> Submission:
    """Store a kernel and queue its evaluation, all or nothing. ``machine_written``: found by a search.

    Raises Refusal for everything that is not accepted; its rules are listed in ``services.errors.FIELD_OF``.
    """
    check_rate(user=user)
    chosen_mode = _mode(mode)
    chosen_language = sources.read_language(language, filename)
    text = sources.read_source(source)
    version = _open_version(task_slug)
    spec = spec_of(version)
    device = _open_device(device_slug, spec)
    _check_language(chosen_language, device, spec)
    if sentence := tier_refusal(device, sandbox_of(device), chosen_mode):
        raise Refusal("tier_too_low", sentence)
    # Before a stranger's source is parsed; asked again, under locks, when it is entered.
    require_room(user=user)
    if chosen_mode != Mode.CHECK:
        seconds = estimates.reservations(version.spec_id, [device.pk])[device.pk, str(chosen_mode)]
        budgets.require(budget=budget_of(user, device), seconds=seconds, device=device)
    sources.check_entry_point(text, chosen_language, spec)
    flags = {"is_public": is_public, "machine_written": machine_written}
    return _enter(user, version, device, chosen_language, chosen_mode, text, flags)


def cancel(*, user: User, submission: Submission) -> bool:
    """Ask for the evaluation to stop; False when it has ended already. Raises PermissionDenied."""
    _require_manager(user, submission)
    return evaluations.request_cancel(evaluation=submission.evaluation)


def set_visibility(*, user: User, submission: Submission, is_public: bool) -> Submission:
    """Let others read the source and the run, or no longer. Raises PermissionDenied."""
    _require_manager(user, submission)
    Submission.objects.filter(pk=submission.pk).update(is_public=is_public)
    submission.is_public = is_public
    transaction.on_commit(lambda: publish_visibility(submission))
    return submission


@transaction.atomic
def _enter(
    user: User,
    version: TaskVersion,
    device: Device,
    language: Language,
    mode: Mode,
    text: str,
    flags: dict[str, bool],
) -> Submission:
    site_mode.require_open()
    check_queued(user=user)
    spend, seconds = None, 0.0
    if mode == Mode.CHECK:
        check_runs_today(user=user)
    else:
        baselines.hurry(version=version, device=device)
        spend, budget = budgets.lock(user=user, device=device)
        seconds = estimates.reservations(version.spec_id, [device.pk])[device.pk, str(mode)]
        budgets.require(budget=budget, seconds=seconds, device=device)
    evaluation = evaluations.enqueue(
        kernel=kernels.store_kernel(language=language, source=text),
        spec=version.spec,
        device=device,
        mode=mode,
        lane=Lane.CHECK if mode == Mode.CHECK else Lane.PERSON,
    )
    submission = Submission.objects.create(
        user=user,
        version=version,
        device=device,
        kernel=evaluation.kernel,
        mode=mode,
        evaluation=evaluation,
        **flags,
    )
    if spend is not None:
        budgets.reserve(spend=spend, evaluation=evaluation, seconds=seconds)
    forecasts.ask(submission=submission)
    return submission


def _mode(mode: str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        known = ", ".join(Mode)
        raise Refusal("mode_unknown", f"{mode!r} is no mode; choose one of {known}.") from None


def _open_version(task_slug: str) -> TaskVersion:
    version = (
        TaskVersion.objects.filter(task__slug=task_slug, is_current=True)
        .select_related("task", "spec")
        .first()
        if is_storable(task_slug)
        else None
    )
    if version is None:
        raise Refusal("task_unknown", f"There is no task {task_slug!r}.")
    if not version.task.is_open:
        raise Refusal("task_closed", f"The task {version.task.title} is closed; its boards stay.")
    return version


def _open_device(device_slug: str, spec: TaskSpec) -> Device:
    device = Device.objects.filter(slug=device_slug).first() if is_storable(device_slug) else None
    if device is None:
        raise Refusal("device_unknown", f"There is no device {device_slug!r}.")
    if refusal := device_refusal(device, spec):
        raise Refusal(*refusal)
    return device


def _check_language(language: Language, device: Device, spec: TaskSpec) -> None:
    named = LANGUAGE_LABELS[language]
    if language not in spec.languages:
        known = _named(spec.languages)
        raise Refusal("language_not_in_task", f"The task {spec.slug} takes {known}, not {named}.")
    runs = LANGUAGES_OF[DeviceKind(device.kind)]
    if language not in runs:
        raise Refusal("language_not_on_device", f"{device.name} runs {_named(runs)}, not {named}.")
    if lacks_compiler(language, device.facts):
        raise Refusal("language_not_on_device", f"{device.name} has no {COMPILERS[language]} at present.")


def _named(languages: Sequence[Language]) -> str:
    return ", ".join(LANGUAGE_LABELS[language] for language in languages)


def _require_manager(user: User, submission: Submission) -> None:
    if not may_manage(submission, user):
        raise PermissionDenied("Only its owner and staff may change a submission.")
