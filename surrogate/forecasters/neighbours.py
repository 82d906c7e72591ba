"""What happened to similar kernels: a vote of known outcomes, weighted by likeness of kernel and anchor."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.request import ForecastRequest, KernelText
from surrogate.features.similarity import kernel_digest, similarities
from surrogate.forecasters.base import Outcome
from surrogate.forecasters.prior import smoothed_counts, training_digest

Floats = NDArray[np.float64]

VOTERS = 16
#: Likeness is raised to this power: a kernel half as alike counts a sixteenth.
_SHARPNESS = 4.0
_OTHER_DEVICE = 0.6
#: What the distribution of all outcomes weighs against one voter that is entirely alike.
_PRIOR_WEIGHT = 0.15
#: Spread in octaves that one vote is given, on its own device and elsewhere.
_SPREAD_HERE, _SPREAD_ELSEWHERE = 0.2, 0.45
#: Weight of the strongest vote from which neighbours are a reason for the forecast.
_COUNTS = 0.005
NO_NEIGHBOUR = (
    "No similar kernel was known: the forecast comes from source, task and device, and from how fast kernels "
    "turn out whatever their code."
)


class NeighboursForecaster:
    """Votes of the request's own neighbours and of all outcomes it was fitted on."""

    name = "neighbours"

    def __init__(self) -> None:
        self.version = "1"
        self._prior = smoothed_counts([])
        self._known: list[Outcome] = []
        self._kernels = _Texts([])
        self._anchors = _Texts([])
        self._devices: NDArray[np.str_] = np.array([], dtype=str)

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        self.version = f"1-{training_digest(outcomes)}"
        self._known = [item for item in outcomes if item.log2_ratio is not None]
        self._prior = smoothed_counts(
            [item.log2_ratio for item in self._known if item.log2_ratio is not None]
        )
        self._kernels = _Texts([item.request.kernel for item in self._known])
        self._anchors = _Texts([_anchor_text(item.request) for item in self._known])
        self._devices = np.array([item.request.device.slug for item in self._known], dtype=str)

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        return [self._one(request) for request in requests]

    def _one(self, request: ForecastRequest) -> Forecast:
        votes = self._votes_of_neighbours(request) or self._votes_of_known(request)
        masses = _PRIOR_WEIGHT * np.array(self._prior)
        for weight, log2_ratio, here in votes:
            spread = _SPREAD_HERE if here else _SPREAD_ELSEWHERE
            masses += weight * np.array(bins.normal(log2_ratio, spread))
        strongest = max((weight for weight, _, _ in votes), default=0.0)
        return Forecast.of(
            tuple(masses.tolist()),
            forecaster=self.name,
            version=self.version,
            rationale=_rationale(len(votes), strongest),
        )

    def _votes_of_neighbours(self, request: ForecastRequest) -> list[tuple[float, float, bool]]:
        """Kernels of the same task over the same anchor tell more than anything else, where there are any."""
        likeness = similarities(request.kernel, [item.kernel for item in request.neighbours])
        return [
            _vote(float(alike), item.log2_ratio, item.device.slug == request.device.slug)
            for alike, item in zip(likeness, request.neighbours, strict=True)
        ]

    def _votes_of_known(self, request: ForecastRequest) -> list[tuple[float, float, bool]]:
        if not self._known:
            return []
        likeness = 0.5 * (
            self._kernels.likeness(request.kernel) + self._anchors.likeness(_anchor_text(request))
        )
        here = self._devices == request.device.slug
        order = np.argsort(-likeness * np.where(here, 1.0, _OTHER_DEVICE), kind="stable")[:VOTERS]
        return [
            _vote(float(likeness[index]), self._known[index].log2_ratio or 0.0, bool(here[index]))
            for index in order
        ]


class _Texts:
    """Likeness to a list of texts that repeats many of them."""

    def __init__(self, texts: Sequence[KernelText]) -> None:
        places: dict[str, int] = {}
        self._unique: list[KernelText] = []
        self._place: list[int] = []
        for text in texts:
            digest = kernel_digest(text)
            if digest not in places:
                places[digest] = len(self._unique)
                self._unique.append(text)
            self._place.append(places[digest])
        self._cache: dict[str, Floats] = {}

    def likeness(self, text: KernelText) -> Floats:
        digest = kernel_digest(text)
        if digest not in self._cache:
            if len(self._cache) > 2048:
                self._cache.clear()
            self._cache[digest] = similarities(text, self._unique)
        return self._cache[digest][self._place]


def _rationale(voters: int, strongest: float) -> str:
    if strongest < _COUNTS:
        return NO_NEIGHBOUR
    return (
        f"From how {voters} similar kernel{'s' * (voters != 1)} turned out. "
        f"The closest counts {strongest:.2f}, the same source on this device 1."
    )


def _vote(likeness: float, log2_ratio: float, here: bool) -> tuple[float, float, bool]:
    weight = float(likeness**_SHARPNESS) * (1.0 if here else _OTHER_DEVICE)
    return weight, log2_ratio, here


def _anchor_text(request: ForecastRequest) -> KernelText:
    return KernelText(request.anchor.language, request.anchor.source, request.anchor.parameters)
