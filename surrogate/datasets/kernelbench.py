"""KernelBench solutions of several language models, timed on one GPU.

The reference's own time is not published, so kernels of one problem are compared with each other: each
working one in turn is the anchor. Failed ones are kept, as outcomes without a ratio.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from surrogate.contract.request import Anchor, ForecastRequest, KernelText, TaskFacts
from surrogate.datasets.cuda_l1 import module_source, problem_slug
from surrogate.datasets.devices import device_of
from surrogate.datasets.record import Dataset, positive, record, without_repeats
from surrogate.forecasters.base import Outcome


def recognises(first: Mapping[str, Any]) -> bool:
    return {"problem", "code", "compiled", "runtime_ms"} <= first.keys()


def load(rows: Iterable[Mapping[str, Any]]) -> Dataset:
    data = Dataset()
    problems: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        data.counts["lines"] += 1
        if not module_source(row.get("code")):
            data.counts["without_source"] += 1
            continue
        problems[problem_slug(row.get("level"), row.get("problem")), str(row.get("device"))].append(row)
    found = []
    for (slug, device_name), solutions in problems.items():
        task = TaskFacts(slug, module_source(solutions[0].get("ref_code")), "kernelbench")
        device = device_of(device_name)
        timed = [(row, seconds) for row in solutions if (seconds := _seconds(row)) is not None]
        if not timed:
            data.counts["without_anchor"] += len(solutions)
        for anchor_row, anchor_seconds in timed:
            anchor = Anchor(
                "incumbent", "python", module_source(anchor_row.get("code")), {"case": anchor_seconds}
            )
            for row in solutions:
                if row is anchor_row:
                    continue
                request = ForecastRequest(
                    task, KernelText("python", module_source(row.get("code"))), device, anchor
                )
                seconds = _seconds(row)
                ratio = None if seconds is None else math.log2(anchor_seconds / seconds)
                noise = math.hypot(_noise(anchor_row), _noise(row))
                found.append(record(Outcome(request, ratio, noise)))
    data.records = without_repeats(found, data.counts)
    data.counts["failed"] = sum(item.outcome.log2_ratio is None for item in data.records)
    return data


def _seconds(row: Mapping[str, Any]) -> float | None:
    if row.get("correct") is not True:
        return None
    milliseconds = positive(row, "runtime_ms")
    return None if milliseconds is None else milliseconds / 1000


def _noise(row: Mapping[str, Any]) -> float:
    """Relative spread of the repeats, in octaves."""
    stats = row.get("runtime_stats")
    if not isinstance(stats, Mapping):
        return 0.0
    mean, spread = positive(stats, "mean"), positive(stats, "std")
    return spread / mean / math.log(2) if mean and spread else 0.0
