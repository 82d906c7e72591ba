"""Boards: who is fastest on one task version and device, and how that came about."""

import math
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, Min, Q, QuerySet, Window
from django.db.models.expressions import RowRange

from leaderboard.likeness import originals
from leaderboard.models import Baseline, BoardState, Score, Standing, TaskVersion
from leaderboard.ranking import Entry, Place, rank, speedup, widened
from leaderboard.selectors.specs import spec_of
from leaderboard.selectors.viewers import Viewer, may_see
from runners.contract.vocabulary import CaseRole, DeviceKind
from runners.models import Device


@dataclass(frozen=True)
class CaseColumn:
    name: str
    description: str


@dataclass(frozen=True)
class CaseCell:
    """Seconds."""

    seconds: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class BoardRow:
    rank: int | None  # None for baselines and while being audited
    tied: bool  # the rank is shared: the intervals overlap, or differ by no more than the device's noise
    username: str | None
    baseline: str  # "", "eager" or "compiled"
    seconds: float  # geometric mean over the cases
    ci_low: float
    ci_high: float
    cases: list[CaseCell | None]  # in the order of the columns
    speedup: float | None  # against the eager baseline
    roofline: float | None  # 1.0 = at the device's ceiling
    submission_id: UUID
    submission_visible: bool  # whether the viewer may follow the link
    language: str
    work: str  # "own", "library", or "" where nobody knows
    machine_written: bool  # found by a search, and entered in its owner's name
    like: str | None  # whose earlier entry has nearly the same text
    created_at: datetime
    standing: str  # "ranked" or "auditing"
    cells: dict[str, CaseCell]  # the same as ``cases``, by case name


@dataclass(frozen=True)
class Board:
    version: TaskVersion
    device: Device
    cases: list[CaseColumn]
    rows: list[BoardRow]
    total: int  # ranked entries, baselines apart
    seq: int  # number of the newest change; live frames carry it
    kernels: str  # "" for all, "own" or "library": whose kernels the entries shown launched


@dataclass(frozen=True)
class HistoryPoint:
    """A score that was faster than every one before it."""

    at: datetime
    username: str
    seconds: float
    submission_id: UUID


def board(version: TaskVersion, device: Device, viewer: Viewer = None, kernels: str = "") -> Board:
    """The board of one version and device, fastest first. Two queries at most.

    ``kernels`` narrows it to entries that launched their ``own`` kernels or a ``library``'s; ranks are then
    those among them, and baselines stay.
    """
    columns = case_columns(version, device)
    places = rank(map(entry_of, best_scores(kernels).filter(version=version, device=device)))
    anchor = next((place.entry.item for place in places if place.entry.item.baseline == Baseline.EAGER), None)
    copies = _copies(places)
    rows = [_row(place, columns, anchor, viewer, copies.get(place.entry.item.pk)) for place in places]
    return Board(
        version=version,
        device=device,
        cases=columns,
        rows=rows,
        total=sum(row.rank is not None for row in rows),
        seq=board_seq(version, device),
        kernels=kernels,
    )


def board_seq(version: TaskVersion, device: Device) -> int:
    """Number of the newest change of a board, 0 while it is empty."""
    state = BoardState.objects.filter(version=version, device=device).values_list("seq", flat=True)
    return state.first() or 0


def case_columns(version: TaskVersion, device: Device) -> list[CaseColumn]:
    cases = spec_of(version).cases_for(DeviceKind(device.kind), CaseRole.BENCHMARK)
    return [CaseColumn(case.name, case.describe()) for case in cases]


def best_scores(kernels: str = "") -> QuerySet[Score]:
    """The best score per version, device, entrant and standing. Narrow it with ``filter`` before use.

    ``kernels`` leaves only people's scores of that ``work``, and all baselines.

    Held and withdrawn scores are left out. The database only thins out what ``ranking.rank`` would thin out
    itself, by the same order.
    """
    order = ("version_id", "device_id", "user_id", "baseline", "standing")
    shown = Score.objects.filter(standing__in=[Standing.RANKED, Standing.AUDITING])
    if kernels:
        shown = shown.filter(Q(work=kernels) | ~Q(baseline=""))
    return (
        shown.annotate(device_noise=F("device__noise"))
        .select_related("user", "submission__kernel")
        .defer("submission__kernel__source")
        .order_by(*order, "seconds", "created_at", "pk")
        .distinct(*order)
    )


def entry_of(score: Score) -> Entry[Score]:
    """Of a score from ``best_scores``."""
    ci_low, ci_high = widened(score.seconds, score.ci_low, score.ci_high, score.__dict__["device_noise"])
    return Entry(
        entrant=(score.user_id, score.baseline),
        is_baseline=bool(score.baseline),
        seconds=score.seconds,
        ci_low=ci_low,
        ci_high=ci_high,
        created_at=score.created_at,
        item=score,
        is_pending=score.standing == Standing.AUDITING,
    )


def history(version: TaskVersion, device: Device) -> list[HistoryPoint]:
    """Best-so-far steps of the people on a board, oldest first. One query."""
    scores = record_scores().filter(version=version, device=device, baseline="").select_related("user")
    return [
        HistoryPoint(score.created_at, score.user.get_username(), score.seconds, score.submission_id)
        for score in scores.order_by("created_at", "pk")
        if score.user is not None and score.seconds < (previous_of(score) or math.inf)
    ]


def record_scores() -> QuerySet[Score]:
    """Ranked scores with ``previous``: the best seconds of earlier ones on the same board, or None.

    People and baselines are compared among themselves. Later filters may leave out whole boards only.
    """
    return Score.objects.filter(standing=Standing.RANKED).annotate(
        previous=Window(
            Min("seconds"),
            partition_by=[F("version_id"), F("device_id"), F("baseline")],
            order_by=[F("created_at").asc(), F("pk").asc()],
            frame=RowRange(start=None, end=-1),
        )
    )


def previous_of(score: Score) -> float | None:
    """The annotation of ``record_scores``."""
    previous: float | None = score.__dict__["previous"]
    return previous


def case_seconds(score: Score) -> dict[str, float]:
    return {item["case"]: item["seconds"] for item in score.cases}


def _copies(places: list[Place[Score]]) -> dict[int, str]:
    """Score → whose earlier entry on the same board has nearly the same text."""
    scores = {place.entry.item.pk: place.entry.item for place in places if place.entry.item.user}
    oldest = sorted(scores.values(), key=lambda score: (score.created_at, score.pk))
    found = originals((score.pk, score.user_id, score.submission.kernel.sketch or ()) for score in oldest)
    owners = {score.pk: score.user.get_username() for score in oldest if score.user}
    return {copy: owners[original] for copy, original in found.items()}


def _row(
    place: Place[Score], columns: list[CaseColumn], anchor: Score | None, viewer: Viewer, like: str | None
) -> BoardRow:
    score = place.entry.item
    cells = {item["case"]: CaseCell(item["seconds"], item["ci_low"], item["ci_high"]) for item in score.cases}
    return BoardRow(
        rank=place.rank,
        tied=place.tied,
        username=score.user.get_username() if score.user else None,
        baseline=score.baseline,
        seconds=score.seconds,
        ci_low=score.ci_low,
        ci_high=score.ci_high,
        cases=[cells.get(column.name) for column in columns],
        speedup=speedup(case_seconds(anchor), case_seconds(score), (anchor.seconds, score.seconds))
        if anchor
        else None,
        roofline=score.roofline,
        submission_id=score.submission_id,
        submission_visible=may_see(score.submission, viewer),
        language=score.submission.kernel.language,
        work=score.work,
        machine_written=score.submission.machine_written,
        like=like,
        created_at=score.created_at,
        standing=score.standing,
        cells=cells,
    )
