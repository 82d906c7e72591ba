"""Gradient boosting over what can be read from source, task, device and known outcomes.

The mean of log2 speed-up is learned first. Its errors on tasks it has not seen (grouped cross-validation)
then teach a second model how far off the first one tends to be, and give the shape of the distribution. So
the stated spread is that of new tasks, not of the training set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.request import ForecastRequest
from surrogate.features.request import SAME_KERNEL_ELSEWHERE, FeatureNames, feature_table, mirrored
from surrogate.features.similarity import kernel_digest
from surrogate.forecasters.base import Outcome
from surrogate.forecasters.prior import share_correct, smoothed_counts, training_digest
from surrogate.history import History

Floats = NDArray[np.float64]

#: Outcomes, and groups among them, before anything is learned; until then the prior answers.
FEWEST, FEWEST_GROUPS = 40, 3
_FEWEST_FAILURES = 20
#: Outcomes beyond this many octaves teach no more than "far off".
_CLIP = 6.0
_LEAST_SPREAD = 0.05
_FOLDS = 3
#: Share of the prior mixed in, so that no bin is ever impossible.
_PRIOR_SHARE = 0.02
_QUANTILES = (np.arange(100) + 0.5) / 100
_SMOOTHING = 0.25  # of the standardised errors' distribution


class _Known:
    """A model over the columns of which anything was known when it was taught; it takes no others."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, table: Floats, target: NDArray[Any]) -> "_Known":
        self._columns = np.flatnonzero(~np.isnan(table).all(axis=0))
        self._model.fit(table[:, self._columns], target)
        return self

    def predict(self, table: Floats) -> Floats:
        found: Floats = self._model.predict(table[:, self._columns])
        return found

    def probability(self, table: Floats) -> Floats:
        found: Floats = self._model.predict_proba(table[:, self._columns])[:, 1]
        return found


@dataclass(frozen=True)
class _Fitted:
    names: FeatureNames
    mean: _Known
    spread: _Known
    errors: Floats  # quantiles of (truth − mean) / spread
    correct: _Known | None
    history: History


class StatisticalForecaster:
    name = "statistical"

    def __init__(self) -> None:
        self.version = "1"
        self._prior = smoothed_counts([])
        self._p_correct: float | None = None
        self._fitted: _Fitted | None = None

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        self.version = f"1-{training_digest(outcomes)}"
        known = [item for item in outcomes if item.log2_ratio is not None]
        self._prior = smoothed_counts([item.log2_ratio for item in known if item.log2_ratio is not None])
        self._p_correct = share_correct(outcomes) if outcomes else None
        self._fitted = None
        if len(known) >= FEWEST and len(set(_groups(known))) >= FEWEST_GROUPS:
            with threadpool_limits(1):  # other processes of this machine may be timing kernels
                self._fitted = _fit(outcomes, known)

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        if not requests:
            return []
        if self._fitted is None:
            masses: Floats = np.tile(self._prior, (len(requests), 1))
            correct = [self._p_correct] * len(requests)
        else:
            with threadpool_limits(1):
                masses, correct = self._predict(self._fitted, requests)
        return [
            Forecast.of(
                tuple(row.tolist()), forecaster=self.name, version=self.version, p_correct=probability
            )
            for row, probability in zip(masses, correct, strict=True)
        ]

    def _predict(
        self, fitted: _Fitted, requests: Sequence[ForecastRequest]
    ) -> tuple[Floats, list[float | None]]:
        known = [item if item.neighbours else fitted.history.attach(item) for item in requests]
        table = feature_table(known, fitted.names)
        location = _mean_of(fitted.mean, table, _reversed_table(known, fitted.names))
        spread = np.maximum(np.exp(fitted.spread.predict(table)), _LEAST_SPREAD)
        masses = _masses(location, spread, fitted.errors)
        masses = (1 - _PRIOR_SHARE) * masses + _PRIOR_SHARE * np.array(self._prior)
        if fitted.correct is None:
            return masses, [self._p_correct] * len(requests)
        return masses, [float(value) for value in fitted.correct.probability(table)]


def _fit(outcomes: Sequence[Outcome], known: Sequence[Outcome]) -> _Fitted:
    history = History(known)
    # Each outcome is learned from twice, with and without its neighbours: new tasks come without any.
    bare = [item.request for item in known]
    requests = [history.attach(item) for item in bare] + [replace(item, neighbours=()) for item in bare]
    target = np.clip([item.log2_ratio for item in known], -_CLIP, _CLIP).astype(np.float64)
    target = np.concatenate([target, target])
    names = FeatureNames.of(requests)
    table, reverse = feature_table(requests, names), _reversed_table(requests, names)
    departure = target - _known_elsewhere(table)
    groups = np.array(_groups(known) * 2)
    guess = np.zeros(len(target))
    for train, test in GroupKFold(n_splits=min(_FOLDS, len(set(groups)))).split(table, target, groups):
        model = _regressor().fit(table[train], departure[train])
        guess[test] = _mean_of(model, table[test], reverse[test])
    error = target - guess
    spread = _regressor(iterations=60).fit(table, np.log(abs(error) + _LEAST_SPREAD))
    standard = error / np.maximum(np.exp(spread.predict(table)), _LEAST_SPREAD)
    return _Fitted(
        names,
        _regressor().fit(table, departure),
        spread,
        np.quantile(standard, _QUANTILES),
        _fit_correct(outcomes, names, history),
        history,
    )


def _fit_correct(outcomes: Sequence[Outcome], names: FeatureNames, history: History) -> _Known | None:
    """P(correct), where enough kernels failed to learn from."""
    worked = np.array([item.log2_ratio is not None for item in outcomes])
    if min(worked.sum(), (~worked).sum()) < _FEWEST_FAILURES:
        return None
    table = feature_table([history.attach(item.request) for item in outcomes], names)
    model = HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.08, max_leaf_nodes=8, min_samples_leaf=10, random_state=0
    )
    return _Known(model).fit(table, worked.astype(int))


def _regressor(iterations: int = 100) -> _Known:
    model = HistGradientBoostingRegressor(
        max_iter=iterations,
        learning_rate=0.08,
        max_leaf_nodes=12,
        min_samples_leaf=10,
        l2_regularization=1.0,
        max_features=0.5,
        random_state=0,
    )
    return _Known(model)


def _groups(outcomes: Sequence[Outcome]) -> list[str]:
    """What must not be on both sides of a cross-validation: tasks, else devices, else kernels.

    With few tasks it is a new device that a forecast must be humble about; splitting by kernel there gave
    spreads far too narrow for one.
    """
    tasks = [item.request.task.slug for item in outcomes]
    if len(set(tasks)) >= 2 * _FOLDS:
        return tasks
    devices = [item.request.device.slug for item in outcomes]
    if len(set(devices)) >= _FOLDS:
        return devices
    return [
        f"{task} {kernel_digest(item.request.kernel)}" for task, item in zip(tasks, outcomes, strict=True)
    ]


def _known_elsewhere(table: Floats) -> Floats:
    """What the same kernel did on other devices, 0 where that is unknown.

    The model learns how far this device departs from it: so it need not learn to repeat it.
    """
    return np.nan_to_num(table[:, SAME_KERNEL_ELSEWHERE], nan=0.0)


def _mean_of(model: _Known, table: Floats, reverse: Floats) -> Floats:
    """log2(a/b) must be −log2(b/a): half the difference of both answers errs less than either alone.

    Rows of ``reverse`` are NaN where the question cannot be turned round.
    """
    straight = model.predict(table) + _known_elsewhere(table)
    backward = model.predict(reverse)
    return np.where(np.isnan(reverse).all(axis=1), straight, (straight - backward) / 2)


def _reversed_table(requests: Sequence[ForecastRequest], names: FeatureNames) -> Floats:
    """Features of the mirrored requests; NaN for those with neighbours, which know more than a mirror."""
    table = feature_table([mirrored(item) for item in requests], names)
    table[[bool(item.neighbours) or not item.anchor.source for item in requests]] = np.nan
    return table


def _masses(location: Floats, spread: Floats, errors: Floats) -> Floats:
    """Bin masses: the errors' distribution, smoothed by a logistic curve, moved and stretched per row."""
    edges = (np.array(bins.EDGES)[None, :] - location[:, None]) / spread[:, None]
    below = (1 / (1 + np.exp(-np.clip((edges[:, :, None] - errors) / _SMOOTHING * 1.7, -60, 60)))).mean(
        axis=2
    )
    ends: Any = np.zeros((len(location), 1))
    masses: Floats = np.diff(np.concatenate([ends, below, ends + 1], axis=1), axis=1)
    return masses
