"""What a forecaster answers: a distribution over speed-ups, or the reason why it gives none."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from surrogate.contract import bins
from surrogate.contract.words import plain

UNCALIBRATED = "uncalibrated"


@dataclass(frozen=True)
class Usage:
    """What one forecast cost. Tokens are zero where no language model was asked."""

    latency_seconds: float = 0.0
    input_tokens: int = 0  # not counting the two cached kinds
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class AbstentionReason(StrEnum):
    """Why there is no forecast. Abstentions are counted, never dropped."""

    MALFORMED = "malformed"  # the answer broke the contract
    DECLINED = "declined"  # the model refused to answer
    TRUNCATED = "truncated"  # the answer was cut off
    TOO_LONG = "too_long"  # the request does not fit the forecaster
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"  # nobody waits for it any more
    OVER_BUDGET = "over_budget"  # tokens or money
    UNAVAILABLE = "unavailable"  # no key, no weights, service down
    UNSUPPORTED = "unsupported"  # the forecaster knows nothing about this kind of request


@dataclass(frozen=True)
class Abstention:
    reason: AbstentionReason
    message: str  # one sentence for people
    forecaster: str
    version: str
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        # It may quote a service, which may quote a model.
        object.__setattr__(self, "message", plain(self.message))


@dataclass(frozen=True)
class Forecast:
    """Probabilities over ``bins``, slowest first, summing to 1; build it with ``Forecast.of``.

    ``raw_sum`` is their sum before renormalisation, a sign of a model's health. ``calibration`` names the
    version of the recalibration that was applied.
    """

    probabilities: tuple[float, ...]
    forecaster: str
    version: str
    p_correct: float | None = None  # None: the forecaster says nothing about correctness
    rationale: str = ""
    usage: Usage = Usage()
    raw_sum: float = 1.0
    calibration: str = UNCALIBRATED

    @classmethod
    def of(
        cls,
        probabilities: "tuple[float, ...] | list[float]",
        *,
        forecaster: str,
        version: str,
        p_correct: float | None = None,
        rationale: str = "",
        usage: Usage | None = None,
    ) -> "Forecast":
        """Check and renormalise. Raises ValueError with one sentence saying what is wrong."""
        raw_sum = check_probabilities(probabilities)
        if p_correct is not None and not (math.isfinite(p_correct) and 0 <= p_correct <= 1):
            raise ValueError(f"P(correct) must be between 0 and 1, not {p_correct!r}")
        return cls(
            tuple(mass / raw_sum for mass in probabilities),
            forecaster,
            version,
            p_correct,
            plain(rationale),
            usage or Usage(),
            raw_sum,
        )

    @property
    def mean(self) -> float:
        """Expected log2 speed-up over the anchor."""
        return bins.mean(self.probabilities)

    @property
    def predicted_bin(self) -> int:
        return max(range(bins.COUNT), key=self.probabilities.__getitem__)

    @property
    def confidence(self) -> float:
        """1 − entropy / log(bin count): 0 for an even spread, 1 for a single bin."""
        entropy = -sum(mass * math.log(mass) for mass in self.probabilities if mass > 0)
        return max(0.0, 1.0 - entropy / math.log(bins.COUNT))

    def interval(self, share: float = 0.8) -> tuple[float, float]:
        """Central interval of the log2 speed-up."""
        tail = (1 - share) / 2
        return bins.quantile(self.probabilities, tail), bins.quantile(self.probabilities, 1 - tail)

    def p_faster_than(self, speed_up: float = 1.0) -> float:
        """P(t_anchor / t_kernel > ``speed_up``); 1 asks whether the kernel beats the anchor."""
        return 1.0 - bins.cumulative(self.probabilities, math.log2(speed_up))

    def most_faster_than(self, speed_up: float) -> tuple[float, bool]:
        """(P(t_anchor / t_kernel > ``speed_up``), whether that is an upper bound only).

        How far the fastest bin reaches no forecast says: of a ``speed_up`` inside it all of it may go beyond.
        """
        if math.log2(speed_up) > bins.EDGES[-1]:
            return self.probabilities[-1], True
        return self.p_faster_than(speed_up), False

    def seconds(self, anchor_seconds: float, share: float = 0.8) -> tuple[float, float, float]:
        """Predicted time and the ends of its interval: (middle, shortest, longest)."""
        low, high = self.interval(share)
        return anchor_seconds / 2**self.mean, anchor_seconds / 2**high, anchor_seconds / 2**low

    def recalibrated(self, probabilities: tuple[float, ...], calibration: str) -> "Forecast":
        """The same forecast with other probabilities and the name of what made them."""
        total = check_probabilities(probabilities)
        return replace(
            self, probabilities=tuple(mass / total for mass in probabilities), calibration=calibration
        )

    def to_document(self) -> dict[str, Any]:
        document = asdict(self)
        document["probabilities"] = list(self.probabilities)
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Forecast":
        """Inverse of ``to_document``; trusts its input, which was checked when it was made."""
        return cls(
            **{
                **document,
                "probabilities": tuple(document["probabilities"]),
                "usage": Usage(**document["usage"]),
            }
        )


def check_probabilities(probabilities: "tuple[float, ...] | list[float]") -> float:
    """The sum of well-formed bin masses. Raises ValueError otherwise."""
    if len(probabilities) != bins.COUNT:
        raise ValueError(f"{len(probabilities)} probabilities, but there are {bins.COUNT} bins")
    for index, mass in enumerate(probabilities):
        if not (math.isfinite(mass) and mass >= 0):
            raise ValueError(f"the probability of bin {bins.LETTERS[index]} is {mass!r}")
    total = sum(probabilities)
    if not (math.isfinite(total) and total > 0):
        raise ValueError(f"the probabilities add up to {total!r}")
    return total
