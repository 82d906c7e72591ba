"""Adding to a run's event log. The run's row is locked by whoever holds it, so numbers have no gaps."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from leaderboard.search.live import publish_run
from leaderboard.search.models import SearchEvent, SearchRun


def add_event(*, run: SearchRun, kind: SearchEvent.Kind, document: Mapping[str, Any]) -> SearchEvent:
    """The next event of a run whose row this transaction holds; pages are rung after the commit."""
    run.seq += 1
    SearchRun.objects.filter(pk=run.pk).update(seq=run.seq)
    event = SearchEvent.objects.create(run=run, seq=run.seq, kind=kind, document=dict(document))
    transaction.on_commit(lambda: publish_run(run), robust=True)
    return event


def lock(run_id: Any) -> SearchRun:
    """The run, its row locked until the transaction ends. Raises SearchRun.DoesNotExist."""
    return SearchRun.objects.select_for_update().get(pk=run_id)
