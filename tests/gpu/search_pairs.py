"""What two searches found in the same device seconds, one with the surrogate and one without. Pure.

A search knows nothing of the seconds it has left: the first 100 s of a search of 200 s are a search of 100 s
(``tests/search/test_local.py``). So where two had different budgets, both are cut to the smaller one.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.search.plan import Policy


def pairs(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One for each task, template and seed that both policies searched. Seconds, device seconds and kernels
    measured; ``times_faster`` is above one where the surrogate's best kernel is the faster.
    """
    by_seed: defaultdict[tuple[str, str, int], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for report in reports:
        by_seed[report["task"], report["language"], report["seed"]][report["policy"]] = report
    return [
        _pair(both[Policy.SURROGATE], both[Policy.NONE])
        for _, both in sorted(by_seed.items())
        if {Policy.SURROGATE, Policy.NONE} <= both.keys()
    ]


def _pair(with_it: Mapping[str, Any], without: Mapping[str, Any]) -> dict[str, Any]:
    seconds = min(with_it["device_seconds_allowed"], without["device_seconds_allowed"])
    names = {name: with_it[name] for name in ("task", "language", "seed")}
    found = {"surrogate": within(with_it, seconds), "none": within(without, seconds)}
    best, usual = (side["best_seconds"] for side in found.values())
    return {
        **names,
        "device_seconds_allowed": seconds,
        **found,
        "times_faster": usual / best if best and usual else None,
    }


def within(report: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What a search had found when it began no more evaluations, had it been allowed ``seconds``."""
    used, measured, times = 0.0, 0, []
    for row in report["measurements"]:
        if used >= seconds:
            break
        used += row["device_seconds"]
        measured += 1
        times += [] if row["seconds"] is None else [row["seconds"]]
    return {"best_seconds": min(times, default=None), "measured": measured, "device_seconds": used}


def said(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each pair, and one for all."""
    for pair in found:
        name = f"{pair['task']} {pair['language']} {pair['seed']}"
        best, usual = (pair[side]["best_seconds"] for side in ("surrogate", "none"))
        if pair["times_faster"] is None:
            yield f"{name}: a search in which nothing passed"
            continue
        yield (
            f"{name} in {pair['device_seconds_allowed']:.0f} s: {1e6 * best:.1f} µs with the surrogate "
            f"({pair['surrogate']['measured']} measured), {1e6 * usual:.1f} without "
            f"({pair['none']['measured']}): × {pair['times_faster']:.3f}"
        )
    gains = [pair["times_faster"] for pair in found if pair["times_faster"]]
    if gains:
        mean = math.exp(statistics.mean(map(math.log, gains)))
        ahead = sum(gain > 1 for gain in gains)
        yield f"ahead with the surrogate in {ahead} of {len(gains)}, geometric mean × {mean:.3f}"
