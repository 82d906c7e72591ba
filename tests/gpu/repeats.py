"""One kernel entered many times: how much its time varies, and whether equal kernels would rank
differently.
"""

import statistics
from itertools import combinations
from typing import Any

from leaderboard.ranking import widened
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.noise import ASSUMED, pooled
from tests.gpu import jobs
from tests.gpu.tasks import steps, steps_source

_TIMES = 20
_GOAL = 0.005


def run() -> dict[str, Any]:
    rounds, count = 4, 1 << 26
    spec, source = steps(rounds, count), steps_source(rounds)
    documents = [jobs.evaluate(spec, Language.CUDA, source, Mode.RANKED) for _ in range(_TIMES)]
    failed = [document["reason"] for document in documents if document["verdict"] != Verdict.PASSED]
    scores = [document["score"] for document in documents if document["score"]]
    seconds = [score["seconds"] for score in scores]
    spread = _spread(scores) if len(scores) > 1 else float("inf")
    middle = statistics.median(seconds or [0.0])
    found = halves(scores)
    return {
        "ok": not failed and spread <= _GOAL and not any(half["ranked_apart"] for half in found),
        "scores": scores,
        "coefficient_of_variation": spread,
        "pairs": _pairs(scores),
        "pairs_with_intervals_apart": _apart(scores, None),
        "halves": found,
        "failed": failed,
        "stages": [jobs.stages(document) for document in documents],
        "summary": [
            f"{len(seconds)} of {_TIMES} passed, median {jobs.microseconds(middle)} us",
            f"coefficient of variation {100 * spread:.3f} % (goal {100 * _GOAL} %)",
            f"{_apart(scores, None)} of {_pairs(scores)} pairs of equal kernels have intervals apart",
            *(
                f"with the noise of the {half['noise_of']} half, {half['ranked_apart']} of {half['pairs']} "
                f"pairs of the other are ranked apart; {half['apart']} without"
                for half in found
            ),
            *failed[:3],
        ],
    }


def halves(scores: list[Any]) -> list[dict[str, Any]]:
    """Either half of ``scores`` taken for the calibration of a device on which the other was entered."""
    middle = len(scores) // 2
    first, second = scores[:middle], scores[middle:]
    return [
        {
            "noise_of": name,
            "noise": _spread(one),
            "noise_at_most": _at_most(one),
            "pairs": _pairs(other),
            "apart": _apart(other, None),
            "ranked_apart": _apart(other, _at_most(one)),
        }
        for name, one, other in (("first", first, second), ("second", second, first))
        if len(one) > 1
    ]


def _spread(scores: list[Any]) -> float:
    seconds = [score["seconds"] for score in scores]
    return float(statistics.stdev(seconds) / statistics.mean(seconds))


def _at_most(scores: list[Any]) -> float:
    """As a device's noise is learned; what is assumed of one where there are too few runs."""
    found = pooled([[score["seconds"] for score in scores]])
    return found.at_most if found else ASSUMED["cuda"]


def _pairs(scores: list[Any]) -> int:
    return len(scores) * (len(scores) - 1) // 2


def _apart(scores: list[Any], noise: float | None) -> int:
    """Pairs that a board would not show as ties, on a device of this noise."""
    intervals = [widened(score["seconds"], score["ci_low"], score["ci_high"], noise) for score in scores]
    return sum(one[1] < two[0] or two[1] < one[0] for one, two in combinations(intervals, 2))
