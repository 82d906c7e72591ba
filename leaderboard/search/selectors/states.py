"""The state of a run, folded from its events."""

from collections.abc import Sequence

from django.db.models import Q

from leaderboard.search.documents import apply_event, plan_from
from leaderboard.search.grid import Settings, settings_of
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.state import SearchState
from surrogate.contract.request import KernelText

_OUTCOMES = (SearchCandidate.Status.MEASURED, SearchCandidate.Status.FAILED)


class FoldedRun:
    """A run's state with the number of the newest event in it; ``catch_up`` reads what came after."""

    def __init__(self, run: SearchRun) -> None:
        plan = plan_from(run.plan)
        self.state = SearchState(plan.islands, plan.migrate_every)
        self.seq = 0
        self._run = run.pk

    def catch_up(self) -> SearchState:
        """Two queries; a state that is up to date costs one."""
        events = list(SearchEvent.objects.filter(run_id=self._run, seq__gt=self.seq).order_by("seq"))
        if not events:
            return self.state
        wanted = [
            item["digest"]
            for event in events
            if event.kind == SearchEvent.Kind.GENERATION
            for item in event.document["new"]
        ]
        kernels = self._kernels(wanted)
        for event in events:
            apply_event(self.state, event.kind, event.document, kernels)
            self.seq = event.seq
        return self.state

    def _kernels(self, digests: Sequence[str]) -> dict[str, KernelText]:
        if not digests:
            return {}
        rows = SearchCandidate.objects.filter(run_id=self._run, digest__in=digests).select_related("kernel")
        return {
            row.digest: KernelText(row.kernel.language, row.kernel.source, row.parameters) for row in rows
        }


def histories(run: SearchRun) -> list[dict[Settings, float | None]]:
    """What other runs measured of the same templates on each device, this one's own device included: public
    runs and those of the same user. The best of them are proposed again, and a forecast of settings that were
    measured is their time, so that private ones would be told to others.
    """
    rows = (
        SearchCandidate.objects.filter(
            Q(run__is_public=True) | Q(run__user_id=run.user_id),
            run__version_id=run.version_id,
            run__language=run.language,
            run__template_digest=run.template_digest,
            status__in=_OUTCOMES,
        )
        .exclude(run=run)
        .exclude(parameters={})
        .order_by("run__device_id", "pk")
        .values_list("run__device_id", "parameters", "seconds")
    )
    found: dict[int, dict[Settings, float | None]] = {}
    for device_id, parameters, seconds in rows:
        found.setdefault(device_id, {})[settings_of(parameters)] = seconds
    return list(found.values())
