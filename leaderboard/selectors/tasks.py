"""Tasks, their versions and the home page."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery

from leaderboard.models import Score, Standing, Task, TaskVersion
from leaderboard.selectors.boards import previous_of
from leaderboard.selectors.devices import DeviceStatus, device_statuses
from leaderboard.selectors.viewers import Viewer, may_see
from runners.models import Device

_RECORDS_SHOWN = 10


@dataclass(frozen=True)
class Leader:
    """The fastest on one device; a baseline where no person is faster."""

    device: Device
    username: str | None
    baseline: str
    seconds: float


@dataclass(frozen=True)
class TaskCard:
    task: Task
    version: TaskVersion
    leaders: list[Leader]
    entries: int  # people on the boards of this version, all devices together


@dataclass(frozen=True)
class Record:
    """A person's score that beat all earlier ones of people on its board."""

    score: Score  # with submission, user, device and version.task
    previous_seconds: float | None  # None for the first on its board
    submission_visible: bool


@dataclass(frozen=True)
class HomePage:
    tasks: list[TaskCard]
    devices: list[DeviceStatus]
    records: list[Record]


def home(viewer: Viewer = None) -> HomePage:
    """Everything the home page shows. Nine queries, however many tasks there are."""
    return HomePage(task_cards(), device_statuses(), records(viewer))


def task_cards() -> list[TaskCard]:
    """Every task that has a current version, with its leaders per device. Four queries."""
    tasks = list(
        Task.objects.filter(versions__is_current=True).prefetch_related(
            Prefetch(
                "versions",
                TaskVersion.objects.filter(is_current=True).defer("statement", "starters"),
                to_attr="current_versions",
            )
        )
    )
    leaders: dict[int, list[Leader]] = defaultdict(list)
    fastest = (
        Score.objects.filter(version__is_current=True, standing=Standing.RANKED)
        .select_related("device", "user")
        .order_by("version_id", "device_id", "seconds", "created_at", "pk")
        .distinct("version_id", "device_id")
    )
    for score in fastest:
        username = score.user.get_username() if score.user else None
        leaders[score.version_id].append(Leader(score.device, username, score.baseline, score.seconds))
    entries = dict(
        Score.objects.filter(version__is_current=True, user__isnull=False, standing=Standing.RANKED)
        .order_by()
        .values_list("version_id")
        .annotate(number=Count("user_id", distinct=True))
    )
    cards = []
    for task in tasks:
        version = task.current_versions[0]
        version.task = task  # so that a template that goes back to the task asks no query
        cards.append(TaskCard(task, version, leaders[version.pk], entries.get(version.pk, 0)))
    return cards


def records(viewer: Viewer = None, *, limit: int = _RECORDS_SHOWN) -> list[Record]:
    """The newest records on boards of current versions, newest first. One query.

    Goes back from the newest score and asks of each whether an earlier one was as fast, so that what the home
    page costs does not grow with all scores there are.
    """
    people = Score.objects.filter(baseline="", standing=Standing.RANKED)
    earlier = people.filter(version=OuterRef("version"), device=OuterRef("device")).filter(
        Q(created_at__lt=OuterRef("created_at")) | Q(created_at=OuterRef("created_at"), pk__lt=OuterRef("pk"))
    )
    scores = (
        people.filter(~Exists(earlier.filter(seconds__lte=OuterRef("seconds"))), version__is_current=True)
        .annotate(previous=Subquery(earlier.order_by("seconds").values("seconds")[:1]))
        .select_related("submission", "user", "device", "version__task")
        .defer("version__statement", "version__starters")
        .order_by("-created_at", "-pk")[:limit]
    )
    return [Record(score, previous_of(score), may_see(score.submission, viewer)) for score in scores]


def get_task(slug: str) -> Task:
    """Raises Task.DoesNotExist."""
    return Task.objects.get(slug=slug)


def current_version(task: Task) -> TaskVersion:
    """Raises TaskVersion.DoesNotExist."""
    return _versions(task).get(is_current=True)


def get_version(task: Task, number: int) -> TaskVersion:
    """Raises TaskVersion.DoesNotExist."""
    return _versions(task).get(number=number)


def versions(task: Task) -> list[TaskVersion]:
    """Newest first, without their texts."""
    return list(_versions(task).defer("statement", "starters").order_by("-number"))


def _versions(task: Task) -> QuerySet[TaskVersion]:
    return TaskVersion.objects.filter(task=task).select_related("task")
