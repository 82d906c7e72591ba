"""A person's page: where they stand and what they show."""

from collections import defaultdict
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet

from leaderboard.models import Score, Submission, Task
from leaderboard.ranking import rank
from leaderboard.selectors import submissions
from leaderboard.selectors.boards import best_scores, entry_of
from leaderboard.selectors.viewers import Viewer, may_see
from runners.contract.storable import is_storable
from runners.models import Device


@dataclass(frozen=True)
class BestPlace:
    """A user's place on the board of a current task version and device."""

    task: Task
    version_number: int
    device: Device
    rank: int
    tied: bool
    entries: int  # ranked entries on that board
    seconds: float
    ci_low: float
    ci_high: float
    score: Score
    submission_visible: bool


@dataclass(frozen=True)
class Profile:
    user: User
    best: list[BestPlace]
    submissions: QuerySet[Submission]  # those the viewer may see; slice before use


def profile(username: str, viewer: Viewer) -> Profile:
    """Raises User.DoesNotExist, also for locked users. Two queries, and one when submissions are read."""
    if not is_storable(username):
        raise User.DoesNotExist(f"there is no user {username!r}")
    user: User = User.objects.get(username=username, is_active=True)
    return Profile(user, best_places(user, viewer), submissions.of_user(user, viewer))


def best_places(user: User, viewer: Viewer) -> list[BestPlace]:
    """Places on all boards of current versions where the user has a score, ranked by ``ranking.rank``."""
    mine = Score.objects.filter(user=user, version__is_current=True)
    boards: dict[tuple[int, int], list[Score]] = defaultdict(list)
    for score in (
        best_scores()
        .filter(
            version_id__in=mine.order_by().values("version_id"),
            device_id__in=mine.order_by().values("device_id"),
        )
        .select_related("user", "submission__kernel", "device", "version__task")
        .defer("submission__kernel__source", "version__statement", "version__starters")
    ):
        boards[score.version_id, score.device_id].append(score)
    places: list[BestPlace] = []
    for scores in boards.values():
        ranked = [place for place in rank(map(entry_of, scores)) if place.rank is not None]
        places += [
            BestPlace(
                task=score.version.task,
                version_number=score.version.number,
                device=score.device,
                rank=place.rank or 0,
                tied=place.tied,
                entries=len(ranked),
                seconds=score.seconds,
                ci_low=score.ci_low,
                ci_high=score.ci_high,
                score=score,
                submission_visible=may_see(score.submission, viewer),
            )
            for place in ranked
            if (score := place.entry.item).user_id == user.pk
        ]
    return sorted(places, key=lambda place: (place.task.position, place.task.slug, place.device.slug))
