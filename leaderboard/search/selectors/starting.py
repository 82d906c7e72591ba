"""What can be chosen for a new search, and why some of it can't."""

import os
from collections import defaultdict
from dataclasses import dataclass

from django.contrib.auth.models import User

from leaderboard.catalog.loader import CatalogError
from leaderboard.models import TaskVersion
from leaderboard.search.generators.template import KEYS, Template, load_templates
from leaderboard.search.llm.pens import pen_for
from leaderboard.search.selectors.quotas import Quota, quota_of
from leaderboard.selectors import estimates
from leaderboard.selectors.budgets import Budget, budget_of
from leaderboard.selectors.devices import DeviceStatus, device_statuses
from leaderboard.selectors.options import Choice, device_refusal
from leaderboard.selectors.specs import keep_specs, spec_of
from runners.contract.vocabulary import (
    COMPILERS,
    LANGUAGE_LABELS,
    LANGUAGES_OF,
    DeviceKind,
    Mode,
    lacks_compiler,
)
from runners.models import Device
from surrogate.llm.config import Config


@dataclass(frozen=True)
class StartOptions:
    """For one task version, and one device where there is one that fits."""

    tasks: list[Choice]  # open ones; whether the device can search them, and why not
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

    @property
    def usable_tasks(self) -> list[str]:
        """Titles of the tasks that can be searched on the device."""
        return [choice.label for choice in self.tasks if choice.enabled]

    @property
    def unusable_tasks(self) -> dict[str, list[str]]:
        """Titles of those that can't be, by the reason: a clause that begins small."""
        found = defaultdict(list)
        for choice in self.tasks:
            if not choice.enabled:
                found[choice.reason].append(choice.label)
        return dict(found)


def start_options(user: User | None, version: TaskVersion | None, device_slug: str = "") -> StartOptions:
    """Without ``version`` the first task that can be searched on the device, or else on any.

    Raises TaskVersion.DoesNotExist where no task is open. Thirteen queries at most.
    """
    statuses, offers = device_statuses(), _open_versions()
    if version is None:
        version = _first_version(statuses, offers, device_slug)
    spec = spec_of(version)
    choices = []
    for status in statuses:
        refusal = device_refusal(status.device, spec)
        reason = refusal[1] if refusal else ""
        if not reason and status.is_measuring:
            reason = "The device itself is being measured first, about a minute; the search waits."
        elif not reason and not status.online:
            reason = "No runner is online; the search waits until one is."
        choices.append((Choice(status.device.slug, status.device.name, refusal is None, reason), status))
    device = _first_device(statuses, version, device_slug)
    templates = _templates(version, device)
    pens = _pens(version, device)
    generators = _generators(version, device)
    enabled = {choice.value for choice in generators if choice.enabled}
    return StartOptions(
        tasks=[_task_choice(offer, device) for offer in offers],
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


def _open_versions() -> list[TaskVersion]:
    """The current version of every open task, by title. Two queries at most."""
    current = TaskVersion.objects.filter(is_current=True, task__is_open=True).select_related("task")
    found = list(current.defer("statement").order_by("task__title"))
    keep_specs(version.spec_id for version in found)
    return found


def _fitting(statuses: list[DeviceStatus], version: TaskVersion) -> list[Device]:
    """Devices that take the task, those first on which somebody would find it measured now."""
    spec = spec_of(version)
    ordered = sorted(statuses, key=lambda status: not status.online)
    return [status.device for status in ordered if device_refusal(status.device, spec) is None]


def _first_device(statuses: list[DeviceStatus], version: TaskVersion, slug: str) -> Device | None:
    """The one that is asked for where it takes the task, or else the first one that can search it."""
    fitting = _fitting(statuses, version)
    asked = [device for device in fitting if device.slug == slug]
    able = [device for device in fitting if _can_search(version, device)]
    return next(iter(asked or able or fitting), None)


def _first_version(statuses: list[DeviceStatus], offers: list[TaskVersion], slug: str) -> TaskVersion:
    """Raises TaskVersion.DoesNotExist where there is none."""
    for wanted in [slug, ""] if slug else [""]:
        for version in offers:
            fitting = [device for device in _fitting(statuses, version) if wanted in ("", device.slug)]
            if any(_can_search(version, device) for device in fitting):
                return version
    if not offers:
        raise TaskVersion.DoesNotExist("no task is open")
    return offers[0]


def _can_search(version: TaskVersion, device: Device) -> bool:
    return any(choice.enabled for choice in _generators(version, device))


def _task_choice(version: TaskVersion, device: Device | None) -> Choice:
    task, reason = version.task, ""
    if device is not None:
        refusal = device_refusal(device, spec_of(version))
        generators = _generators(version, device)
        if refusal and refusal[0] == "device_unknown":
            reason = f"no cases for {device.kind.upper()} devices"
        elif not any(choice.enabled for choice in generators):
            reason = ", and ".join(_clause(choice.reason) for choice in generators)
    return Choice(task.slug, task.title, not reason, reason)


def _clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def _declared(version: TaskVersion) -> list[Template]:
    try:
        return list(load_templates(version.task.slug).values())
    except CatalogError:
        return []


def _templates(version: TaskVersion, device: Device | None) -> list[Template]:
    if device is None:
        return []
    return [template for template in _declared(version) if _runs_on(device, template.key)]


def _pens(version: TaskVersion, device: Device | None) -> list[str]:
    if device is None:
        return []
    kind, starters = DeviceKind(device.kind), dict(version.starters)
    return [key for key in KEYS if _runs_on(device, key) and pen_for(starters, kind, key)]


def _runs_on(device: Device, key: str) -> bool:
    language, kinds = KEYS[key]
    kind = DeviceKind(device.kind)
    return kind in kinds and language in LANGUAGES_OF[kind] and not lacks_compiler(language, device.facts)


def _generators(version: TaskVersion, device: Device | None) -> list[Choice]:
    template = llm = ""
    if device is None:
        template = llm = "No device of this task is open."
    else:
        if not _templates(version, device):
            template = _why_no_template(version, device)
        if not Config.from_environment(os.environ).has_key:
            llm = "This site has no access to a language model, as no API key is set."
        elif not _pens(version, device):
            llm = f"No language can be compiled on {device.name} at present."
    return [
        Choice("template", "Template", not template, template),
        Choice("llm", "Language model", not llm, llm),
    ]


def _why_no_template(version: TaskVersion, device: Device) -> str:
    """That there is none, or the compiler without which those there are can't be used."""
    for template in _declared(version):
        language, kinds = KEYS[template.key]
        if DeviceKind(device.kind) in kinds and lacks_compiler(language, device.facts):
            return f"The template needs {COMPILERS[language]}, which {device.name} lacks at present."
    return f"No template of the task runs on {device.name}."


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
