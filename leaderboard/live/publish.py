"""Ringing the pages. A failure here costs a page a few seconds, so it is logged and nothing more."""

import logging
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from leaderboard.live.coalesce import Coalescer
from leaderboard.live.groups import board_group, submission_frame, submission_group
from leaderboard.models import BoardState, Submission
from runners.models import Evaluation, EvaluationStatus

logger = logging.getLogger(__name__)

_frames = Coalescer(interval=0.25)


def publish_evaluation(evaluation: Evaluation) -> None:
    """Tell the pages of the submission how far its evaluation is: at most four frames a second, and the first
    test result and the end at once, as somebody waits for those.
    """
    submission_id = (
        Submission.objects.filter(evaluation_id=evaluation.pk).values_list("pk", flat=True).first()
    )
    if submission_id is None:
        return
    group = submission_group(submission_id)
    message = {"type": "frame", "frame": submission_frame(evaluation)}
    if evaluation.status == EvaluationStatus.FINISHED:
        _frames.final(group, lambda: _send(group, message))
    elif len(evaluation.progress.get("tests", ())) == 1:
        _frames.urgent(group, lambda: _send(group, message))
    else:
        _frames.offer(group, lambda: _send(group, message))


def publish_board(board: BoardState) -> None:
    """Tell the pages of a board that it changed."""
    group = board_group(board.version.task_id, board.device_id)
    _send(group, {"type": "frame", "frame": {"seq": board.seq}})


def publish_visibility(submission: Submission) -> None:
    """Have every open socket of the submission ask again whether it may listen."""
    _send(submission_group(submission.pk), {"type": "recheck"})


def _send(group: str, message: Mapping[str, Any]) -> None:
    try:
        async_to_sync(get_channel_layer().group_send)(group, dict(message))
    except Exception as error:  # noqa: BLE001 a run must not fail because nobody could be told of it
        logger.warning("could not publish to %s: %s", group, error)
