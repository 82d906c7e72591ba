"""Replaying a search of a tuning space in which every answer is known: how soon is a good setting found?

The searched device is new: nothing of it is known before the search, everything of the other devices is.
A setting that fails costs a measurement like any other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from surrogate.datasets.tuning_space import Settings, Space

Floats = NDArray[np.float64]

#: Sizes of the pool at which the learning search looks at what it has measured and thinks again.
_FIRST, _GROWTH = 5, 1.6
#: Share of a batch that is measured at random, so that the model also sees what it thinks is bad.
_EXPLORED = 0.15


@dataclass(frozen=True)
class Replay:
    """One device's space against what the other devices know. Rows are settings.

    ``log2_seconds`` is infinite for settings that fail; ``elsewhere`` is settings × devices, log2 of the time
    over the device's median, NaN where the setting failed or was not measured.
    """

    settings: tuple[Settings, ...]
    log2_seconds: Floats
    elsewhere: Floats

    @classmethod
    def of(cls, space: Space, others: Sequence[Space]) -> "Replay":
        settings = tuple(sorted(space.seconds))
        return cls(
            settings,
            np.array([_log2(space.seconds[item], math.inf) for item in settings]),
            np.array([_relative(other, settings) for other in others]).reshape(len(others), -1).T,
        )

    @property
    def pool(self) -> int:
        return len(self.settings)


def random_order(replay: Replay, generator: np.random.Generator, budget: int) -> NDArray[np.int64]:
    """Settings in a random order: what every strategy must beat."""
    return generator.permutation(replay.pool)[:budget]


def history_order(replay: Replay, generator: np.random.Generator, budget: int) -> NDArray[np.int64]:
    """By the mean of the other devices; equals in random order. Learns nothing from the search itself."""
    shuffled = generator.permutation(replay.pool)
    return shuffled[np.argsort(_mean_elsewhere(replay)[shuffled], kind="stable")][:budget]


def learned_order(
    replay: Replay, generator: np.random.Generator, budget: int, *, use_history: bool = True
) -> NDArray[np.int64]:
    """Gradient boosting taught by what has been measured so far, asked again after each growing batch.

    With history there are two models, and each names half of a batch: one that corrects the other devices'
    mean, one that knows the settings alone. So a device unlike the others costs half of the budget at most.
    A few settings are drawn at random, so that the models also see what they think is bad.
    """
    settings = np.array([[_log2(value + 1, 0.0) for _, value in item] for item in replay.settings])
    models = [_Model(settings, np.zeros(replay.pool))]
    if use_history:
        models.append(_Model(np.hstack([settings, replay.elsewhere]), _mean_elsewhere(replay)))
    start = history_order if use_history else random_order
    chosen = list(start(replay, generator, min(_FIRST, budget)))
    batch = float(_FIRST)
    while len(chosen) < min(budget, replay.pool):
        batch *= _GROWTH
        rest = np.setdiff1d(np.arange(replay.pool), chosen)
        count = min(round(batch), budget - len(chosen), len(rest))
        explored = int(generator.binomial(count, _EXPLORED))
        measured = np.array(chosen)
        orders = [
            rest[np.argsort(item.expected(measured, replay.log2_seconds[measured], rest), kind="stable")]
            for item in models
        ]
        named = dict.fromkeys(np.stack(orders, axis=1).ravel().tolist())  # in turns, each setting once
        best = list(named)[: count - explored]
        others = np.setdiff1d(rest, best)
        chosen += [*best, *generator.choice(others, min(explored, len(others)), replace=False).tolist()]
    return np.array(chosen[:budget], dtype=np.int64)


class _Model:
    """Expected log2 seconds of settings, up to a constant, as a departure from what is ``known`` of them."""

    def __init__(self, features: Floats, known: Floats) -> None:
        finite = known[np.isfinite(known)]
        self._known = np.where(np.isfinite(known), known, finite.max(initial=0.0) + 1)
        self._features = features[:, ~np.isnan(features).all(axis=0)]

    def expected(self, measured: NDArray[np.int64], log2_seconds: Floats, rest: NDArray[np.int64]) -> Floats:
        worked = np.isfinite(log2_seconds)
        if worked.sum() < 2:
            return self._known[rest]
        # A failed setting is as bad as the slowest that worked, and a little worse.
        took = np.where(worked, log2_seconds, log2_seconds[worked].max() + 1)
        model = HistGradientBoostingRegressor(
            max_iter=40,
            learning_rate=0.15,
            max_leaf_nodes=8,
            min_samples_leaf=3,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=0,
        )
        with threadpool_limits(1):
            model.fit(self._features[measured], took - self._known[measured])
            expected: Floats = self._known[rest] + model.predict(self._features[rest])
        return expected


Strategy = Callable[[Replay, np.random.Generator, int], NDArray[np.int64]]


def _learned_without_history(
    replay: Replay, generator: np.random.Generator, budget: int
) -> NDArray[np.int64]:
    return learned_order(replay, generator, budget, use_history=False)


STRATEGIES: dict[str, Strategy] = {
    "random": random_order,
    "learned without history": _learned_without_history,
    "mean of other devices": history_order,
    "learned with history": learned_order,
}


def _mean_elsewhere(replay: Replay) -> Floats:
    """Mean over the other devices; a setting that failed anywhere comes after all that worked everywhere."""
    if not replay.elsewhere.shape[1]:
        return np.zeros(replay.pool)
    failed = np.isnan(replay.elsewhere)
    total = np.where(failed, 0.0, replay.elsewhere).sum(axis=1)
    mean = total / np.maximum((~failed).sum(axis=1), 1)
    result: Floats = np.where(failed.all(axis=1), np.inf, mean + 8.0 * failed.mean(axis=1))
    return result


def _relative(space: Space, settings: Sequence[Settings]) -> Floats:
    known = [value for value in space.seconds.values() if value is not None]
    middle = math.log2(float(np.median(known)))
    return np.array([_log2(space.seconds.get(item), math.nan) - middle for item in settings])


def _log2(value: float | None, otherwise: float) -> float:
    return math.log2(value) if value is not None and value > 0 else otherwise
