"""Changing who stands on a board: one at a time, and every change told to its pages."""

from django.db import transaction
from django.db.models import F

from leaderboard.live import publish
from leaderboard.models import BoardState


def lock(*, version_id: int, device_id: int) -> BoardState:
    """The board's row, locked until the transaction ends."""
    BoardState.objects.get_or_create(version_id=version_id, device_id=device_id)
    return (
        BoardState.objects.select_for_update(of=("self",))
        .select_related("version", "device")
        .get(version_id=version_id, device_id=device_id)
    )


def note_change(*, board: BoardState) -> None:
    """A locked board changed: the next number, and a frame to its pages after the commit."""
    BoardState.objects.filter(pk=board.pk).update(seq=F("seq") + 1)
    board.seq += 1
    transaction.on_commit(lambda: publish.publish_board(board))
