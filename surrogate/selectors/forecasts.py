"""Forecasts of single evaluations."""

from collections.abc import Iterable
from uuid import UUID

from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.models import Forecast


def shown_forecasts(evaluations: Iterable[UUID]) -> dict[UUID, Forecast]:
    """The forecast that people are shown, by evaluation, with question, anchor and outcome. One query."""
    rows = Forecast.objects.filter(is_shown=True, question__evaluation__in=list(evaluations)).select_related(
        "question__anchor", "forecaster", "calibration", "guarantee__device"
    )
    return {row.question.evaluation_id: row for row in rows}


def contract_of(row: Forecast) -> ContractForecast | None:
    """The forecast as the contract has it; None for an abstention."""
    return ContractForecast.from_document(row.document) if row.document is not None else None
