"""What can be chosen for a new search, and why some of it can't."""

import os
from dataclasses import dataclass

from django.contrib.auth.models import User

from leaderboard.catalog.loader import CatalogError
from leaderboard.models import Task, TaskVersion
from leaderboard.search.generators.template import KEYS, Template, load_templates
from leaderboard.search.llm.pens import pen_for
from leaderboard.search.selectors.quotas import Quota, quota_of
from leaderboard.selectors import estimates
from leaderboard.selectors.budgets import Budget, budget_of
from leaderboard.selectors.devices import DeviceStatus, device_statuses
from leaderboard.selectors.options import LANGUAGE_LABELS, Choice, device_refusal
from leaderboard.selectors.specs import spec_of
from runners.contract.vocabulary import LANGUAGES_OF, DeviceKind, Mode, lacks_compiler
from runners.models import Device
from surrogate.llm.config import Config


@dataclass(frozen=True)
class StartOptions:
    """For one task version, and one device where there is one that fits."""

    tasks: list[Task]
    version: TaskVersion
    devices: list[tuple[Choice, DeviceStatus]]
    device: Device | None
    generators: list[Choice]
    languages: list[Choice]  # keys of templates and starters; ``devices`` holds generators here
    budget: Budget | None  # of the viewer on the device today
    quota: Quota | None
    each_seconds: float  # device time that a measurement sets aside until it ends; 0 without a device

    @property
    def can_start(self) -> bool:
        return self.device is not None and any(choice.enabled for choice in self.generators)


def start_options(user: User | None, version: TaskVersion, device_slug: str = "") -> StartOptions:
    """Eleven queries at most."""
    spec = spec_of(version)
    choices = []
    for status in device_statuses():
        refusal = device_refusal(status.device, spec)
        reason = refusal[1] if refusal else ""
        if not reason and status.is_measuring:
            reason = "The device itself is being measured first, about a minute; the search waits."
        elif not reason and not status.online:
            reason = "No runner is online; the search waits until one is."
        choices.append((Choice(status.device.slug, status.device.name, refusal is None, reason), status))
    usable = [status.device for choice, status in choices if choice.enabled]
    chosen = [device for device in usable if device.slug == device_slug]
    device = next(iter(chosen or usable), None)
    templates = _templates(version, device)
    pens = _pens(version, device)
    generators = _generators(device, templates, pens)
    enabled = {choice.value for choice in generators if choice.enabled}
    return StartOptions(
        tasks=list(Task.objects.filter(versions__is_current=True, is_open=True).order_by("title")),
        version=version,
        devices=choices,
        device=device,
        generators=generators,
        languages=_languages(templates if "template" in enabled else [], pens if "llm" in enabled else []),
        budget=budget_of(user, device) if user is not None and device is not None else None,
        quota=quota_of(user) if user is not None else None,
        each_seconds=each_seconds(version, device) if device is not None else 0.0,
    )


def each_seconds(version: TaskVersion, device: Device) -> float:
    """What a measurement of a search sets aside. One query."""
    return estimates.reservations(version.spec_id, [device.pk])[device.pk, str(Mode.BENCHMARK)]


def key_label(key: str) -> str:
    """What people call a template's or starter's key, e.g. ``Python, Triton``."""
    if key not in KEYS:
        return key
    label = LANGUAGE_LABELS[KEYS[key][0]]
    return f"{label}, Triton" if key == "python-cuda" else label


def _templates(version: TaskVersion, device: Device | None) -> list[Template]:
    if device is None:
        return []
    try:
        found = load_templates(version.task.slug)
    except CatalogError:
        return []
    return [template for template in found.values() if _runs_on(device, template.key)]


def _pens(version: TaskVersion, device: Device | None) -> list[str]:
    if device is None:
        return []
    kind, starters = DeviceKind(device.kind), dict(version.starters)
    return [key for key in KEYS if _runs_on(device, key) and pen_for(starters, kind, key)]


def _runs_on(device: Device, key: str) -> bool:
    language, kinds = KEYS[key]
    kind = DeviceKind(device.kind)
    return kind in kinds and language in LANGUAGES_OF[kind] and not lacks_compiler(language, device.facts)


def _generators(device: Device | None, templates: list[Template], pens: list[str]) -> list[Choice]:
    template = llm = ""
    if device is None:
        template = llm = "No device of this task is open."
    else:
        if not templates:
            template = f"The task has no template that runs on {device.name}."
        if not Config.from_environment(os.environ).has_key:
            llm = "This site has no access to a language model: no API key is set."
        elif not pens:
            llm = f"No language of the task can be compiled on {device.name} at present."
    return [
        Choice("template", "Template", not template, template),
        Choice("llm", "Language model", not llm, llm),
    ]


def _languages(templates: list[Template], pens: list[str]) -> list[Choice]:
    by_key = {template.key: template for template in templates}
    return [
        Choice(
            key,
            key_label(key),
            True,
            by_key[key].summary if key in by_key else "",
            tuple(name for name, has in (("template", key in by_key), ("llm", key in pens)) if has),
        )
        for key in KEYS
        if key in by_key or key in pens
    ]
