"""One kernel entered many times: how much its time varies, and whether equal kernels would rank
differently.
"""

import statistics
from itertools import combinations
from typing import Any

from leaderboard.ranking import widened
from runners.contract.vocabulary import Language, Mode, Verdict
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
    spread = statistics.stdev(seconds) / statistics.mean(seconds) if len(seconds) > 1 else float("inf")
    middle = statistics.median(seconds or [0.0])
    half = len(seconds) // 2
    noise = statistics.stdev(seconds[:half]) / statistics.mean(seconds[:half]) if half > 1 else None
    return {
        "ok": not failed and spread <= _GOAL,
        "scores": scores,
        "coefficient_of_variation": spread,
        "pairs": _pairs(scores),
        "pairs_with_intervals_apart": _apart(scores, None),
        "noise_of_the_first_half": noise,
        "pairs_of_the_second_half": _pairs(scores[half:]),
        "pairs_of_the_second_half_apart": _apart(scores[half:], None),
        "pairs_of_the_second_half_ranked_apart": _apart(scores[half:], noise),
        "failed": failed,
        "stages": [jobs.stages(document) for document in documents],
        "summary": [
            f"{len(seconds)} of {_TIMES} passed, median {jobs.microseconds(middle)} us",
            f"coefficient of variation {100 * spread:.3f} % (goal {100 * _GOAL} %)",
            f"{_apart(scores, None)} of {_pairs(scores)} pairs of equal kernels have intervals apart",
            f"with the first half as the device's noise, {_apart(scores[half:], noise)} of "
            f"{_pairs(scores[half:])} pairs of the second half are ranked apart",
            *failed[:3],
        ],
    }


def _pairs(scores: list[Any]) -> int:
    return len(scores) * (len(scores) - 1) // 2


def _apart(scores: list[Any], noise: float | None) -> int:
    """Pairs that a board would not show as ties, on a device of this noise."""
    intervals = [widened(score["seconds"], score["ci_low"], score["ci_high"], noise) for score in scores]
    return sum(one[1] < two[0] or two[1] < one[0] for one, two in combinations(intervals, 2))
