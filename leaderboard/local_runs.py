"""Evaluating a file on this machine: no web, broker or database."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from leaderboard.catalog.loader import CATALOG, CatalogError, CatalogTask, Fixture, load, load_all
from leaderboard.services.errors import Refusal
from leaderboard.services.sources import check_entry_point, read_language, read_source
from runners.calibrate import remembered_ceilings
from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import limits_of
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import LANGUAGE_LABELS, LANGUAGES_OF, DeviceKind, Language, Mode
from runners.devices import DetectedDevice, find
from runners.instance_lock import InstanceTaken, lock_device
from runners.supervisor.client import run_job

OnEvent = Callable[[dict[str, Any]], None]


class UsageError(ValueError):
    """What was asked for is not there; the message says what is."""


@dataclass(frozen=True)
class FixtureOutcome:
    """A catalog fixture's run, which must end in the fixture's own verdict and no other."""

    task: CatalogTask
    fixture: Fixture
    is_good: bool
    document: ResultDocument

    @property
    def as_expected(self) -> bool:
        return self.document["verdict"] == self.fixture.verdict


def find_task(name: str) -> CatalogTask:
    """By the name of a built-in task, or by the path of a task folder. Raises UsageError."""
    folder = Path(name) if "/" in name else CATALOG / name
    if not (folder / "task.toml").is_file():
        known = ", ".join(path.parent.name for path in sorted(CATALOG.glob("*/task.toml")))
        raise UsageError(f"there is no task {name!r} (known: {known})")
    try:
        return load(folder.resolve())
    except CatalogError as error:
        raise UsageError(str(error)) from error


def find_device(name: str) -> DetectedDevice:
    """By slug, kind ("cpu") or kind and index ("cuda:1"). Raises UsageError."""
    try:
        return find(name)
    except LookupError as error:
        raise UsageError(str(error)) from error


def device_to_ourselves(
    device: DetectedDevice, *, anyway: bool, warn: Callable[[str], None]
) -> AbstractContextManager[object]:
    """Keeps runners off the device. Where one is at work there already a GPU is refused, as the times that
    people wait for would be held for a person; on a CPU, and ``anyway``, it is said and no more.

    Raises UsageError.
    """
    try:
        return lock_device(settings.DATA_DIR / "engine", device)
    except InstanceTaken as error:
        if device.kind == DeviceKind.CUDA and not anyway:
            raise UsageError(f"{error}; stop that first, or give --anyway to have both disturbed") from error
        warn(f"{error}: times taken now disturb each other")
        return nullcontext()


def run_file(
    task: CatalogTask,
    path: Path,
    device: DetectedDevice,
    mode: Mode,
    *,
    language: str = "",
    data_dir: Path,
    required_tier: str,
    ceilings: Callable[[], Mapping[str, Any]] | None = None,
    on_event: OnEvent,
) -> ResultDocument:
    """Evaluate the source in ``path``; as ``run_source``. Raises Refusal and UsageError."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    chosen = read_language(language, path.name)
    text = read_source(source)
    return run_source(
        task,
        text,
        chosen,
        device,
        mode,
        name=path.name,
        data_dir=data_dir,
        required_tier=required_tier,
        on_event=on_event,
        ceilings=ceilings,
    )


def run_source(
    task: CatalogTask,
    text: str,
    chosen: Language,
    device: DetectedDevice,
    mode: Mode,
    *,
    name: str,
    data_dir: Path,
    required_tier: str,
    on_event: OnEvent,
    ceilings: Callable[[], Mapping[str, Any]] | None = None,
) -> ResultDocument:
    """Evaluate a source; ``name`` is for messages. Raises Refusal before anything runs.

    ``ceilings`` (see ``ceilings_for``) is asked once nothing refuses the source, as measuring takes a while.
    Without it the result has no floors and no share of the roofline.
    """
    kind = DeviceKind(device.kind)
    if kind not in task.spec.device_kinds:
        raise Refusal("device_unknown", f"The task {task.slug} has no cases for {kind.upper()} devices.")
    if chosen not in task.spec.languages:
        raise Refusal(
            "language_not_in_task", f"The task {task.slug} does not take {LANGUAGE_LABELS[chosen]}."
        )
    if chosen not in LANGUAGES_OF[kind]:
        raise Refusal("language_not_on_device", f"{device.name} does not run {LANGUAGE_LABELS[chosen]}.")
    check_entry_point(text, chosen, task.spec)
    measured = ceilings() if ceilings else {}
    job = Job(
        evaluation=f"{task.slug}/{name}",
        spec=task.spec,
        language=chosen,
        source=text,
        mode=mode,
        target=DeviceTarget(kind, device.index, tuple(device.cores), device.facts, measured),
        data_dir=str(data_dir),
        required_tier=required_tier,
        limits=limits_of(mode, settings.TIMING_PERCENT),
    )
    return run_job(job, on_event=on_event, should_stop=lambda: False)


def ceilings_for(device: DetectedDevice, mode: Mode, data_dir: Path) -> Mapping[str, Any]:
    """The device's ceilings where ``mode`` times anything: measured once, then kept in ``data_dir``.

    Empty where the settings say that nothing is calibrated by itself. Raises UsageError.
    """
    if mode in (Mode.CHECK, Mode.TEST) or not settings.CALIBRATE:
        return {}
    target = DeviceTarget(DeviceKind(device.kind), device.index, tuple(device.cores), device.facts)
    try:
        return remembered_ceilings(target, data_dir)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"the ceilings of {device.name}: {error}") from error


def fixtures_for(device: DetectedDevice, slugs: list[str]) -> list[tuple[CatalogTask, Fixture, bool]]:
    """(task, fixture, is_good) of the catalog fixtures that run on the device, all or the named tasks'."""
    tasks = [find_task(slug) for slug in slugs] or load_all()
    return [
        (task, fixture, is_good)
        for task in tasks
        for is_good, fixtures in ((True, task.good), (False, task.wrong))
        for fixture in fixtures
        if device.kind in fixture.device_kinds
    ]
