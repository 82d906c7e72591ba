"""Audits: nobody shows as first before a second run, in a fresh sandbox with new seeds, has borne it out."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from leaderboard.models import Audit, BoardState, Score, Standing, Submission
from leaderboard.ranking import rank
from leaderboard.selectors.boards import best_scores, entry_of
from leaderboard.services import boards
from leaderboard.trust import Measured, agrees, disturbed, doubt_of, measured_of, room
from runners.contract.vocabulary import DeviceKind, Mode, Verdict, Work
from runners.models import Evaluation, Lane
from runners.services import evaluations

#: Runs of one audit: a machine that was disturbed is likelier than a cheat. The last one decides.
MOST_RUNS = 3


def audit_leaders(*, board: BoardState) -> None:
    """Audit every entry of a locked board that is first, alone or not, and never was audited.

    That goes for the board as a whole and for each of its filtered views.

    Until its audit ends an entry holds no rank, so the next ones move up and are looked at in turn, down to
    one that was audited. Runs in the transaction that brought them up: nobody ever sees them as first.
    """
    while unproven := _unproven_leaders(board):
        for score in unproven:
            _start(score)


@transaction.atomic
def look_at_board(*, version_id: int, device_id: int) -> None:
    """After a score went away: audit who leads now, if need be."""
    board = boards.lock(version_id=version_id, device_id=device_id)
    audit_leaders(board=board)
    boards.note_change(board=board)


def conclude(*, evaluation: Evaluation) -> None:
    """Settle the audit whose run just ended: confirm, repeat, hold or withdraw.

    Does nothing for other evaluations. Runs in the transaction that stores the result.
    """
    submission = Submission.objects.filter(audit__evaluation=evaluation).first()
    if submission is None:
        return
    board = boards.lock(version_id=submission.version_id, device_id=submission.device_id)
    audit = Audit.objects.select_related("submission__evaluation").get(submission=submission)
    score = Score.objects.filter(submission=submission, standing=Standing.AUDITING).first()
    if audit.evaluation_id != evaluation.pk or audit.outcome != Audit.Outcome.PENDING:
        return
    if score is None:  # a person decided meanwhile, or took the score away
        _end(audit, Audit.Outcome.FAILED)
        return
    judgment = _judge(score, evaluation, DeviceKind(board.device.kind))
    if judgment.worth_repeating and audit.runs < MOST_RUNS:
        again = _enqueue(submission)
        Audit.objects.filter(pk=audit.pk).update(evaluation=again, runs=F("runs") + 1)
        return
    _end(audit, Audit.Outcome.CONFIRMED if judgment.standing == Standing.RANKED else Audit.Outcome.FAILED)
    _settle(score, judgment)
    audit_leaders(board=board)
    boards.note_change(board=board)
    evaluations.note_change(evaluation=audit.submission.evaluation)


@dataclass(frozen=True)
class _Judgment:
    """What a run makes of the score it audits. ``second`` is what it measured, if anything."""

    standing: Standing
    reason: str = ""
    worth_repeating: bool = False  # noise, or our own fault; a second wrong result needs no third
    second: Measured | None = None


def _unproven_leaders(board: BoardState) -> list[Score]:
    leaders: dict[int, Score] = {}
    for kernels in ("", *Work):
        on_board = best_scores(kernels).filter(
            version=board.version_id, device=board.device_id, standing=Standing.RANKED
        )
        first = [place.entry.item for place in rank(map(entry_of, on_board)) if place.rank == 1]
        leaders |= {score.pk: score for score in first}
    audited = set(
        Audit.objects.filter(submission__in=[score.submission_id for score in leaders.values()]).values_list(
            "submission_id", flat=True
        )
    )
    return [score for score in leaders.values() if score.submission_id not in audited]


def _start(score: Score) -> None:
    submission = Submission.objects.select_related("kernel", "version__spec", "device").get(score=score)
    Audit.objects.create(submission=submission, evaluation=_enqueue(submission))
    Score.objects.filter(pk=score.pk, standing=Standing.RANKED).update(standing=Standing.AUDITING)


def _enqueue(submission: Submission) -> Evaluation:
    return evaluations.enqueue(
        kernel=submission.kernel,
        spec=submission.version.spec,
        device=submission.device,
        mode=Mode.RANKED,
        lane=Lane.AUDIT,
    )


def _says_nothing(evaluation: Evaluation) -> bool:
    """Whether the run ended for a reason that is not the kernel's."""
    if evaluation.verdict == Verdict.REFUSED:
        return evaluation.tier < settings.REQUIRED_TIER  # "T0" … "T2"; the runner was refused, not the kernel
    return evaluation.verdict in (Verdict.INTERNAL_ERROR, Verdict.CANCELLED)


def _judge(score: Score, evaluation: Evaluation, kind: DeviceKind) -> _Judgment:
    passed = evaluation.verdict == Verdict.PASSED
    second = measured_of(evaluation.result or {}) if passed else None
    if _says_nothing(evaluation) or (passed and second is None):
        reason = f"The audit could not be run. {evaluation.reason}".strip()
        return _Judgment(Standing.HELD, reason, worth_repeating=True)
    if second is None:
        words = evaluation.verdict.replace("_", " ")
        reason = f"The audit, a second run with new inputs, ended: {words}. {evaluation.reason}".strip()
        return _Judgment(Standing.WITHDRAWN, reason)
    first = Measured(score.seconds, score.ci_low, score.ci_high, score.roofline, score.cases)
    document = evaluation.result or {}
    noise = disturbed(document)
    if not agrees(first, second, kind):
        reason = (
            f"The audit took {second.seconds:.4g} s where {first.seconds:.4g} s were entered; "
            f"{room(first, second, kind):.0%} more are allowed for noise."
        )
        if noise:  # the machine's fault as likely as the kernel's: no reason to take an entry away
            return _Judgment(Standing.HELD, f"{reason} {noise}", worth_repeating=True)
        return _Judgment(Standing.WITHDRAWN, reason, worth_repeating=True)
    # A person's word outweighs a doubt: what was released with one may have it again.
    if score.reviewed_at is None and (doubt := doubt_of(second, document)):
        return _Judgment(Standing.HELD, doubt, worth_repeating=doubt == noise)
    return _Judgment(Standing.RANKED, second=second)


def _settle(score: Score, judgment: _Judgment) -> None:
    """The new standing, and of two times that agree the slower."""
    changes: dict[str, Any] = {
        "standing": judgment.standing,
        "standing_reason": judgment.reason[:500],
    }
    second = judgment.second
    if second is not None and second.seconds > score.seconds:
        changes |= {
            "seconds": second.seconds,
            "ci_low": second.ci_low,
            "ci_high": second.ci_high,
            "roofline": second.roofline,
            "cases": list(second.cases),
        }
    Score.objects.filter(pk=score.pk, standing=Standing.AUDITING).update(**changes)


def _end(audit: Audit, outcome: Audit.Outcome) -> None:
    Audit.objects.filter(pk=audit.pk, outcome=Audit.Outcome.PENDING).update(outcome=outcome)
