"""The ensemble's weights, learned from how the members' stored forecasts turned out."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.forecasters.ensemble import learn_weights
from surrogate.services.places import judged

#: Forecasts looked at, newest first.
_MOST = 2000


@dataclass(frozen=True)
class Weights:
    of: Mapping[str, float]
    learned_from: str  # names the outcomes

    def __str__(self) -> str:
        return ", ".join(f"{name} {weight:.2f}" for name, weight in self.of.items())


def weights_of(names: Sequence[str], first: Mapping[str, float]) -> Weights:
    """Weights of the members ``names``; ``first`` are those before anything is known. One query."""
    rows = (
        judged()
        .filter(forecaster__name__in=names)
        .order_by("-created_at", "-pk")
        .values_list(
            "question_id", "forecaster__name", "stated", "question__evaluation__outcome__log2_ratio"
        )[:_MOST]
    )
    stated: dict[int, dict[str, list[float]]] = defaultdict(dict)
    truths: dict[int, float] = {}
    for question, name, masses, truth in rows:
        if masses is not None and truth is not None:  # ``judged`` has neither
            stated[question][name] = masses
            truths[question] = truth
    questions = sorted(truths)
    answers = [[_said(name, stated[item].get(name)) for item in questions] for name in names]
    learned = learn_weights(answers, [truths[item] for item in questions], [first[name] for name in names])
    digest = hashlib.blake2b(repr([(item, truths[item]) for item in questions]).encode(), digest_size=4)
    return Weights(dict(zip(names, learned, strict=True)), f"{len(questions)}~{digest.hexdigest()}")


def _said(name: str, masses: list[float] | None) -> Forecast | Abstention:
    if masses is None:
        return Abstention(AbstentionReason.UNAVAILABLE, "", name, "")
    return Forecast.of(masses, forecaster=name, version="")
