"""Forecasts as people see them: of a submission, and of what is pending on a board."""

from dataclasses import dataclass
from uuid import UUID

from leaderboard.forecast_view import ForecastView, Rival, abstention_view, view_of
from leaderboard.models import Score, Standing, Submission, TaskVersion
from leaderboard.selectors.viewers import Viewer, visible_to
from runners.contract.vocabulary import Mode
from runners.models import Device, EvaluationStatus
from surrogate.models import Forecast
from surrogate.selectors.forecasts import contract_of, shown_forecasts

#: Pending entries a board shows.
_MOST_PENDING = 20


@dataclass(frozen=True)
class Pending:
    """A ranked run that waits or goes on."""

    submission: Submission
    forecast: ForecastView | None  # None while there is none


def of_submission(submission: Submission) -> ForecastView | None:
    """What was forecast of it; None while nobody has, and for runs that are not forecast. One query."""
    row = shown_forecasts([submission.evaluation_id]).get(submission.evaluation_id)
    if row is None:
        return None
    score = (submission.evaluation.result or {}).get("score") or {}
    return _view(row, score.get("seconds"))


def pending(version: TaskVersion, device: Device, viewer: Viewer) -> list[Pending]:
    """Ranked runs that have not ended, as far as the viewer may see them. Two queries at most."""
    waiting = list(
        Submission.objects.filter(
            visible_to(viewer),
            version=version,
            device=device,
            mode=Mode.RANKED,
            user__isnull=False,
            evaluation__status__in=[EvaluationStatus.QUEUED, EvaluationStatus.RUNNING],
        )
        .select_related("user", "kernel", "evaluation")
        .defer("kernel__source", "evaluation__result", "evaluation__progress")
        .order_by("created_at", "pk")[:_MOST_PENDING]
    )
    rows = shown_forecasts(item.evaluation_id for item in waiting) if waiting else {}
    return [
        Pending(item, _view(rows[item.evaluation_id]) if item.evaluation_id in rows else None)
        for item in waiting
    ]


def rivals(version: TaskVersion, device: Device, viewer: Viewer) -> list[Rival]:
    """Times to beat on a board: the viewer's own best and the first one's. Two queries at most."""
    scores = Score.objects.filter(
        version=version, device=device, standing=Standing.RANKED, baseline=""
    ).order_by("seconds")
    found = []
    own = scores.filter(user_id=viewer.pk).first() if viewer is not None and viewer.pk else None
    if own is not None:
        found.append(Rival("your best", own.seconds))
    first = scores.select_related("user").first()
    if first is not None and first.user is not None and (own is None or first.pk != own.pk):
        found.append(Rival(f"{first.user.get_username()}, first on the board", first.seconds))
    return found


def visible_submissions(evaluations: set[UUID], viewer: Viewer) -> dict[UUID, Submission]:
    """Those of the evaluations' submissions that the viewer may see, by evaluation. One query."""
    found = (
        Submission.objects.filter(visible_to(viewer), evaluation__in=evaluations)
        .select_related("version__task", "user")
        .defer("version__statement", "version__starters")
    )
    return {item.evaluation_id: item for item in found}


def _view(row: Forecast, measured: float | None = None) -> ForecastView:
    forecast, anchor = contract_of(row), row.question.anchor
    if forecast is None or anchor is None:
        return abstention_view(row.message)
    against = [Rival(anchor.name, anchor.seconds)]
    incumbent = row.question.incumbent_seconds
    if incumbent is not None and incumbent < anchor.seconds:
        against.append(Rival("what was first on the board", incumbent))
    outcomes = row.calibration.outcomes if row.calibration is not None else None
    return view_of(
        forecast,
        anchor.seconds,
        against,
        measured=measured,
        outcomes=outcomes,
        action=row.action,
        threshold=row.guarantee.threshold() if row.guarantee is not None else None,
    )
