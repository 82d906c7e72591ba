"""Ringing the pages that watch a run. A frame carries a number and a status, never content."""

import logging
from collections.abc import Mapping
from typing import Any, TypedDict
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from leaderboard.search.models import SearchRun

logger = logging.getLogger(__name__)


class RunFrame(TypedDict):
    """``seq`` grows with every event; a page that shows less asks for what came after."""

    seq: int
    status: str


def run_group(run_id: UUID) -> str:
    return f"search.{run_id}"


def run_frame(run: SearchRun) -> RunFrame:
    return {"seq": run.seq, "status": run.status}


def publish_run(run: SearchRun) -> None:
    _send(run, {"type": "frame", "frame": run_frame(run)})


def publish_visibility(run: SearchRun) -> None:
    """Have every open socket of the run ask again whether it may listen."""
    _send(run, {"type": "recheck"})


def _send(run: SearchRun, message: Mapping[str, Any]) -> None:
    try:
        async_to_sync(get_channel_layer().group_send)(run_group(run.pk), dict(message))
    except Exception as error:  # noqa: BLE001 a search must not fail because nobody could be told of it
        logger.warning("could not publish search %s: %s", run.pk, error)
