"""Names of channel groups and the shape of what travels through them."""

from typing import TypedDict
from uuid import UUID

from runners.models import Evaluation


class SubmissionFrame(TypedDict):
    """``seq`` grows with every change; a page that shows less reads the page part again."""

    seq: int
    status: str
    stage: str
    verdict: str


class BoardFrame(TypedDict):
    seq: int  # number of the newest change of the board


def submission_group(submission_id: UUID) -> str:
    return f"submission.{submission_id}"


def board_group(task_id: int, device_id: int) -> str:
    """By numbers, as two slugs together may be longer than the 100 characters of a group's name."""
    return f"board.{task_id}.{device_id}"


def submission_frame(evaluation: Evaluation) -> SubmissionFrame:
    return {
        "seq": evaluation.seq,
        "status": evaluation.status,
        "stage": evaluation.stage,
        "verdict": evaluation.verdict,
    }
