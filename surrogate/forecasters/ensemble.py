"""A weighted mean of what several forecasters say, the weights learned from how they did."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage
from surrogate.contract.request import ForecastRequest
from surrogate.forecasters.base import Forecaster, LearningForecaster, Outcome
from surrogate.forecasters.prior import training_digest

Floats = NDArray[np.float64]

_HELD_OUT = 4  # one task in this many teaches the weights
#: Outcomes that equal weights count for: with few outcomes the weights stay near equal.
_STRENGTH = 5.0


class EnsembleForecaster:
    """Asks all members; those that abstain are left out and the others' weights renormalised."""

    name = "ensemble"

    def __init__(self, members: Sequence[Forecaster]) -> None:
        if not members:
            raise ValueError("an ensemble needs at least one member")
        self.members = list(members)
        self.weights: tuple[float, ...] = (1 / len(members),) * len(members)
        self._training = "unfitted"

    @property
    def version(self) -> str:
        parts = [f"{item.name}:{weight:.3f}" for item, weight in zip(self.members, self.weights, strict=True)]
        return f"1-{self._training}-{'+'.join(parts)}"

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        """Weights from tasks that the members did not learn from; then the members learn from all."""
        self._training = training_digest(outcomes)
        tasks = sorted({item.request.task.slug for item in outcomes})
        held_tasks = set(tasks[::_HELD_OUT]) if len(tasks) >= _HELD_OUT else set()
        held = [
            item for item in outcomes if item.request.task.slug in held_tasks and item.log2_ratio is not None
        ]
        if held:
            self._fit_members([item for item in outcomes if item.request.task.slug not in held_tasks])
            self.weights = learn_weights(
                [member.forecast([item.request for item in held]) for member in self.members],
                [item.log2_ratio for item in held if item.log2_ratio is not None],
            )
        self._fit_members(outcomes)

    def _fit_members(self, outcomes: Sequence[Outcome]) -> None:
        for member in self.members:
            if isinstance(member, LearningForecaster):
                member.fit(outcomes)

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        answers = [member.forecast(requests) for member in self.members]
        return [self.combine([row[index] for row in answers]) for index in range(len(requests))]

    def use_weights(self, weights: Sequence[float], training: str) -> None:
        """Weights learned elsewhere, one per member; ``training`` names what from."""
        if len(weights) != len(self.members) or min(weights) < 0 or sum(weights) <= 0:
            raise ValueError(f"{len(weights)} weights do not fit {len(self.members)} members")
        self.weights = tuple(weight / sum(weights) for weight in weights)
        self._training = training

    def combine(self, answers: Sequence[Forecast | Abstention]) -> Forecast | Abstention:
        """One answer from those of the members, in their order."""
        given = [
            (weight, answer)
            for weight, answer in zip(self.weights, answers, strict=True)
            if isinstance(answer, Forecast)
        ]
        usage = _total_usage([answer.usage for answer in answers])
        total = sum(weight for weight, _ in given)
        if total <= 0:
            message = "No member of the ensemble gave a forecast."
            return Abstention(AbstentionReason.UNAVAILABLE, message, self.name, self.version, usage)
        masses = [
            sum(weight * answer.probabilities[index] for weight, answer in given) / total
            for index in range(bins.COUNT)
        ]
        reasoned = [item for item in given if item[1].rationale] or given
        heaviest = max(reasoned, key=lambda item: item[0])[1]
        correct = [(weight, answer.p_correct) for weight, answer in given if answer.p_correct is not None]
        voices = sum(weight for weight, _ in correct)
        return Forecast.of(
            masses,
            forecaster=self.name,
            version=self.version,
            p_correct=sum(weight * value for weight, value in correct) / voices if voices > 0 else None,
            rationale=heaviest.rationale,
            usage=usage,
        )


def learn_weights(
    answers: Sequence[Sequence[Forecast | Abstention]],
    truths: Sequence[float],
    start: Sequence[float] | None = None,
) -> tuple[float, ...]:
    """Weights, one per member, that make the mixture's log score best (expectation–maximisation).

    ``answers`` is members × rows. A member that abstains in a row has no part in it, nor blame for it.
    ``start`` are the weights believed in before any row, equal ones by default.
    """
    count = len(answers)
    believed: Floats = np.array(start if start is not None else [1 / count] * count)
    believed = believed / believed.sum()
    likelihood = np.array(
        [
            [
                answer.probabilities[bins.label_log2(truth)] if isinstance(answer, Forecast) else np.nan
                for answer, truth in zip(row, truths, strict=True)
            ]
            for row in answers
        ]
    )
    present = ~np.isnan(likelihood)
    likelihood = np.where(present, np.maximum(likelihood, 1e-6), 0.0)
    rows = present.any(axis=0)
    likelihood, present = likelihood[:, rows], present[:, rows]
    weights = believed
    for _ in range(200):
        share = weights[:, None] * likelihood
        share /= np.maximum(share.sum(axis=0), 1e-300)
        # An absent member keeps its weight in that row, so that abstaining neither pays nor costs.
        absent = weights[:, None] * ~present
        share = share * (1 - absent.sum(axis=0)) + absent
        renewed = (share.sum(axis=1) + _STRENGTH * believed) / (share.shape[1] + _STRENGTH)
        if abs(renewed - weights).max() < 1e-6:
            break
        weights = renewed / renewed.sum()
    return tuple(float(weight) for weight in weights / weights.sum())


def _total_usage(parts: Sequence[Usage]) -> Usage:
    """Members run one after the other: time adds up, as do tokens and money."""
    return Usage(
        sum(item.latency_seconds for item in parts),
        sum(item.input_tokens for item in parts),
        sum(item.cache_read_tokens for item in parts),
        sum(item.cache_write_tokens for item in parts),
        sum(item.output_tokens for item in parts),
        sum(item.cost_usd for item in parts),
    )
