"""Guarantees of the skip threshold: computed from stored forecasts and their outcomes, each version kept.

A forecast is made before its outcome is known, and every kernel of a person is measured whatever was
forecast, so that the record is held out and not biased by what was skipped. What two near copies do is one
case: of several the first counts, which was forecast before any of them was known.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models.functions import Length

from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.contract.request import KernelText
from surrogate.features.similarity import unlike_each_other
from surrogate.models import GuaranteeVersion
from surrogate.policy import DELTA, RISK, Rules, skip_score
from surrogate.requests import MOST_CHARACTERS
from surrogate.risk import guaranteed_threshold, least_cases
from surrogate.services.places import Place, Record, judged_in

#: Fewer outcomes than this cannot prove it.
LEAST = least_cases(RISK, DELTA)
#: New outcomes of a place before its guarantee is computed anew.
EVERY = 10
#: The newest outcomes of a place that count.
_MOST = 500


@dataclass(frozen=True)
class Case:
    """One judged forecast: how sure it was that the kernel loses to the incumbent, and whether it won."""

    kernel: KernelText
    score: float
    is_wrong: bool


def refit_due(records: Mapping[Place, Record]) -> int:
    """Compute the guarantees for which enough new outcomes came; returns how many."""
    newest = newest_guarantees()
    due = {
        place: record
        for place, record in records.items()
        if record.forecasts >= max(LEAST, newest[place].outcomes + EVERY if place in newest else 0)
    }
    for place, record in due.items():
        store(place, _cases(place, record), record.forecasts)
    return len(due)


def store(place: Place, cases: list[Case], outcomes: int) -> GuaranteeVersion:
    """The guarantee that ``cases``, oldest first, allow; a row also where they allow none."""
    # Only a kernel that probably loses is ever skipped, whatever the others would allow.
    losing = [case for case in cases if case.score > 1 - Rules().likely]
    apart = [losing[index] for index in unlike_each_other([case.kernel for case in losing])]
    scores, wrong = [case.score for case in apart], [case.is_wrong for case in apart]
    found = guaranteed_threshold(scores, wrong, risk=RISK, delta=DELTA)
    return GuaranteeVersion.objects.create(
        name=place.name,
        recipe=place.recipe,
        device_id=place.device_id,
        family=place.family,
        outcomes=outcomes,
        cases=len(apart),
        risk=RISK,
        delta=DELTA,
        score=found.score if found else None,
        bound=found.bound if found else None,
        covered=found.covered if found else 0,
        errors=found.errors if found else 0,
    )


def newest_guarantees() -> dict[Place, GuaranteeVersion]:
    scope = ("name", "recipe", "device", "family")
    rows = GuaranteeVersion.objects.select_related("device").order_by(*scope, "-created_at", "-pk")
    return {Place(row.name, row.recipe, row.device_id, row.family): row for row in rows.distinct(*scope)}


def _cases(place: Place, record: Record) -> list[Case]:
    """Oldest first. By the time to beat when each was forecast."""
    rows = (
        judged_in(place, record.specs)
        .annotate(size=Length("question__evaluation__kernel__source"))
        .filter(size__lte=MOST_CHARACTERS, question__anchor__isnull=False)
        .order_by("-created_at", "-pk")
        .values_list(
            "document",
            "question__incumbent_seconds",
            "question__anchor__seconds",
            "question__evaluation__outcome__seconds",
            "question__evaluation__kernel__language",
            "question__evaluation__kernel__source",
        )[:_MOST]
    )
    cases = []
    for document, incumbent, anchor, measured, language, source in reversed(rows):
        if document is None or measured is None:  # what is judged has both
            continue
        to_beat = incumbent or anchor
        score = skip_score(ContractForecast.from_document(document), anchor / to_beat)
        cases.append(Case(KernelText(language, source), score, measured < to_beat))
    return cases
