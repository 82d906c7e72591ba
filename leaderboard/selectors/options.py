"""What can be chosen on the submit page, and why some of it can't."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User

from leaderboard.models import TaskVersion
from leaderboard.selectors import estimates
from leaderboard.selectors.budgets import Budget, budgets_of
from leaderboard.selectors.devices import DeviceStatus, device_statuses, tier_refusal
from leaderboard.selectors.specs import spec_of
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import (
    COMPILERS,
    LANGUAGE_LABELS,
    LANGUAGES_OF,
    DeviceKind,
    Language,
    Mode,
    lacks_compiler,
)
from runners.models import Device

MODE_LABELS = {
    Mode.CHECK: "Check: compile only, costs no device time",
    Mode.TEST: "Test: run every test case",
    Mode.BENCHMARK: "Benchmark: test and time, not ranked",
    Mode.RANKED: "Ranked: secret inputs, longer timing, counts",
    Mode.PROFILE: "Profile: test, then run under a profiler",
}


@dataclass(frozen=True)
class Choice:
    """One option. A disabled one says why in ``reason``; an enabled one may carry a hint there."""

    value: str
    label: str
    enabled: bool
    reason: str
    devices: tuple[str, ...] = ()  # slugs of the devices with which this choice works
    reasons: Mapping[str, str] = field(default_factory=dict)  # for other devices, by slug: why not with them


@dataclass(frozen=True)
class SubmitOptions:
    devices: list[Choice]
    languages: list[Choice]
    modes: list[Choice]
    budgets: dict[str, Budget]  # by device slug; empty for anonymous visitors
    statuses: list[DeviceStatus]  # of every device, for whoever shows the choices


def device_refusal(device: Device, spec: TaskSpec) -> tuple[str, str] | None:
    """Why ``device`` takes no submission for ``spec``: (rule, sentence), or None when it does."""
    if not device.is_open:
        return ("device_closed", f"{device.name} takes no submissions at present.")
    if device.quarantine_reason:
        return ("device_closed", f"{device.name} is quarantined: {device.quarantine_reason}")
    if DeviceKind(device.kind) not in spec.device_kinds:
        return ("device_unknown", f"The task {spec.slug} has no cases for {device.kind.upper()} devices.")
    return None


def submit_options(user: User | None, version: TaskVersion) -> SubmitOptions:
    """Choices for a submission to ``version``. Seven queries at most."""
    spec = spec_of(version)
    statuses = device_statuses()
    fitting = [status for status in statuses if device_refusal(status.device, spec) is None]
    usable = [status.device for status in fitting]
    budgets = budgets_of(user, usable) if user is not None else {}
    needed = estimates.reservations(version.spec_id, [device.pk for device in usable])
    return SubmitOptions(
        devices=[_device_choice(status, spec, version) for status in statuses],
        languages=[_language_choice(language, spec, usable) for language in Language],
        modes=[_mode_choice(mode, fitting, budgets, needed) for mode in Mode],
        budgets={device.slug: budgets[device.pk] for device in usable if device.pk in budgets},
        statuses=statuses,
    )


def _device_choice(status: DeviceStatus, spec: TaskSpec, version: TaskVersion) -> Choice:
    refusal = device_refusal(status.device, spec)
    reason = refusal[1] if refusal else ""
    if not version.task.is_open:
        refusal, reason = ("task_closed", ""), "This task is closed."
    elif refusal is None and status.is_measuring:
        reason = "The device itself is being measured first, about a minute; the submission waits."
    elif refusal is None and not status.online:
        reason = "No runner is online; the submission waits until one is."
    return Choice(status.device.slug, status.device.name, refusal is None, reason)


def _language_choice(language: Language, spec: TaskSpec, usable: list[Device]) -> Choice:
    able = [device for device in usable if language in LANGUAGES_OF[DeviceKind(device.kind)]]
    reasons = {
        device.slug: f"{device.name} has no {COMPILERS[language]} at present."
        for device in able
        if lacks_compiler(language, device.facts)
    }
    devices = tuple(device.slug for device in able if device.slug not in reasons)
    reason = ""
    if language not in spec.languages:
        reason = f"The task {spec.slug} takes no {LANGUAGE_LABELS[language]}."
    elif able and not devices:
        reason = reasons[able[0].slug]
    elif not devices:
        reason = f"No open device runs {LANGUAGE_LABELS[language]} for this task."
    label = LANGUAGE_LABELS[language]
    return Choice(str(language), label, not reason, reason, () if reason else devices, reasons)


def _mode_choice(
    mode: Mode, fitting: list[DeviceStatus], budgets: dict[int, Budget], needed: dict[tuple[int, str], float]
) -> Choice:
    reasons = {}
    for status in fitting:
        device = status.device
        reason = tier_refusal(device, status.sandbox, mode)
        if not reason and device.pk in budgets:
            reason = _over_budget(budgets[device.pk], needed[device.pk, str(mode)])
        if reason:
            reasons[device.slug] = reason
    devices = tuple(status.device.slug for status in fitting if status.device.slug not in reasons)
    reason = "" if devices else next(iter(reasons.values()), "")
    return Choice(str(mode), MODE_LABELS[mode], bool(devices), reason, devices, reasons)


def _over_budget(budget: Budget, seconds: float) -> str:
    if seconds <= budget.left:
        return ""
    return (
        f"Needs {seconds:.0f} device seconds, more than is left today; "
        f"refills at {budget.refills_at:%H:%M} UTC."
    )
