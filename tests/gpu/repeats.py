"""One kernel entered many times: how much its time varies, and whether equal kernels would rank
differently.
"""

import statistics
from itertools import combinations
from typing import Any

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
    pairs = list(combinations(scores, 2))
    apart = sum(one["ci_high"] < two["ci_low"] or two["ci_high"] < one["ci_low"] for one, two in pairs)
    return {
        "ok": not failed and spread <= _GOAL,
        "scores": scores,
        "coefficient_of_variation": spread,
        "pairs": len(pairs),
        "pairs_with_intervals_apart": apart,
        "failed": failed,
        "stages": [jobs.stages(document) for document in documents],
        "summary": [
            f"{len(seconds)} of {_TIMES} passed, median {jobs.microseconds(middle)} us",
            f"coefficient of variation {100 * spread:.3f} % (goal {100 * _GOAL} %)",
            f"{apart} of {len(pairs)} pairs of equal kernels have intervals apart",
            *failed[:3],
        ],
    }
