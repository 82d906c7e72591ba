"""Bringing the built-in tasks into the database."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from leaderboard.catalog.loader import CatalogTask, load_all
from leaderboard.models import Task, TaskVersion
from runners.services.kernels import store_spec


class UnknownTaskError(ValueError):
    """The settings name a task that the catalog has not."""


@dataclass(frozen=True)
class Loaded:
    """What loading did to one task. ``change`` is "new", "new version", "updated" or "unchanged"."""

    slug: str
    number: int
    change: str


def load_catalog() -> list[Loaded]:
    """Load every task of the catalog, or those that ``settings.CATALOG_TASKS`` names. Safe to repeat.

    Raises CatalogError when a folder is at fault and UnknownTaskError for a name that is not there.
    """
    tasks = load_all()
    wanted = list(settings.CATALOG_TASKS)
    known = {task.slug for task in tasks}
    for slug in wanted:
        if slug not in known:
            raise UnknownTaskError(
                f"KERNELHUB_TASKS: there is no task {slug!r} (known: {', '.join(sorted(known))})"
            )
    return [load_task(source=task) for task in tasks if not wanted or task.slug in wanted]


@transaction.atomic
def load_task(*, source: CatalogTask) -> Loaded:
    """Store one task. A contract not seen before becomes a new version; texts change in place.

    A contract that an older version holds makes that version current again, with its scores.
    """
    facts = {"title": source.title, "summary": source.summary, "position": source.position}
    task, is_new = Task.objects.get_or_create(slug=source.slug, defaults=facts)
    task = Task.objects.select_for_update().get(pk=task.pk)  # two loads must not both make version 2
    changed = _set(task, facts)
    texts = {"statement": source.statement, "starters": dict(source.starters)}
    spec = store_spec(spec=source.spec)
    version = TaskVersion.objects.filter(task=task, spec=spec).first()
    if version is None:
        highest = task.versions.aggregate(highest=Max("number"))["highest"] or 0
        task.versions.filter(is_current=True).update(is_current=False)
        version = TaskVersion.objects.create(task=task, number=highest + 1, spec=spec, **texts)
        return Loaded(task.slug, version.number, "new" if is_new else "new version")
    changed |= _set(version, texts)
    if not version.is_current:
        task.versions.filter(is_current=True).update(is_current=False)
        task.versions.filter(pk=version.pk).update(is_current=True)
        changed = True
    return Loaded(task.slug, version.number, "updated" if changed else "unchanged")


def _set(row: Task | TaskVersion, values: Mapping[str, object]) -> bool:
    """Write those values that differ; whether there were any."""
    differing = {name: value for name, value in values.items() if getattr(row, name) != value}
    for name, value in differing.items():
        setattr(row, name, value)
    if differing:
        row.save(update_fields=list(differing))
    return bool(differing)
