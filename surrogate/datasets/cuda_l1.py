"""CUDA-L1: optimised PyTorch modules with published speed-ups over several baselines, on five GPUs.

Only ratios are published, and only winners: the plain ratio is never below 1. So each pair is given in both
directions, and pairs with the CUDA-graph baseline, which many entries lose against, are added. A class name
marks the optimised side of every pair; it is renamed, because reading it would be cheating.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from surrogate.contract.request import Anchor, ForecastRequest, KernelText, TaskFacts
from surrogate.datasets.devices import device_of
from surrogate.datasets.record import Dataset, positive, record, without_repeats
from surrogate.features.text import strip_comments
from surrogate.forecasters.base import Outcome

#: Column of a baseline's source → column of the ratio t_baseline / t_custom.
_BASELINES = {"ref_code": "score_default", "cuda_graph_code": "score_cuda_graph"}


def recognises(first: Mapping[str, Any]) -> bool:
    return {"custom_code", "ref_code", "score_default"} <= first.keys()


def load(rows: Iterable[Mapping[str, Any]]) -> Dataset:
    data = Dataset()
    found = []
    for row in rows:
        data.counts["lines"] += 1
        reference = module_source(row.get("ref_code"))
        custom = module_source(row.get("custom_code"))
        if not reference or not custom:
            data.counts["without_source"] += 1
            continue
        task = TaskFacts(problem_slug(row.get("level_id"), row.get("task_id")), reference, "kernelbench")
        device = device_of(str(row.get("device")))
        for source_column, ratio_column in _BASELINES.items():
            baseline, ratio = module_source(row.get(source_column)), positive(row, ratio_column)
            if not baseline or ratio is None:
                data.counts["without_ratio"] += 1
                continue
            for anchor, kernel, sign in ((baseline, custom, 1), (custom, baseline, -1)):
                request = ForecastRequest(
                    task, KernelText("python", kernel), device, Anchor("baseline", "python", anchor)
                )
                found.append(record(Outcome(request, sign * math.log2(ratio))))
    data.records = without_repeats(found, data.counts)
    return data


def module_source(value: object) -> str:
    """A KernelBench module without comments and without the name that marks it as the optimised one."""
    if not isinstance(value, str):
        return ""
    return re.sub(r"\bModelNew\b", "Model", strip_comments("python", value))


def problem_slug(level: object, problem: object) -> str:
    """One name for a KernelBench problem, whichever data set it comes from: splits go by it."""
    return f"kernelbench-{level}-{problem}"
