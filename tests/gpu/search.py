"""Template searches with and without the surrogate, at equal device seconds: ``run_all.sh search``.

Each seed's two searches run one after the other on one GPU, in supervisors started ahead as a runner's are.
``SEARCH_SECONDS`` is the budget of one search, with the site's own limits for a kernel; starting supervisors
adds two seconds for each, which no budget holds. ``SEARCHES`` names them, as ``softmax:cuda:0`` by task,
template and seed, all by default; ``softmax:cuda:0:none`` is one of the two. Each is a line of
``gpu_search.jsonl`` once it ends, and until then a file of its own with what it has found so far;
``python -m tests.gpu.search FILE …`` makes one report of such files (search_pairs.py compares).
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.search.generators.template import load_templates
from leaderboard.search.local import LocalSearch, SearchStopped
from leaderboard.search.plan import Plan, Policy
from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.supervisor.client import run_job
from runners.supervisor.pool import WarmPool
from surrogate.contract.request import KernelText
from tests.gpu import jobs, machine, search_pairs
from tests.gpu.provenance import provenance

TEMPLATES = (("softmax", "cuda"), ("matmul", "cuda"), ("layer-norm", "cuda"), ("softmax", "python-cuda"))
SEEDS = (0, 1, 2)
_ARMS = (Policy.SURROGATE, Policy.NONE)
_LINES = "gpu_search.jsonl"


def run() -> dict[str, Any]:
    budget = float(os.environ.get("SEARCH_SECONDS", "300"))
    usual = [f"{task}:{key}:{seed}" for seed in SEEDS for task, key in TEMPLATES]
    path = Path(os.environ["OUT"], _LINES)
    for name in os.environ.get("SEARCHES", "").split() or usual:
        task, key, seed, *only = name.split(":")
        for policy in map(Policy, only) if only else _ARMS:
            # As it comes, so that a run that is ended early leaves what was found.
            unfinished = path.with_name(f"gpu_search-{task}-{key}-{seed}-{policy}.jsonl")
            report = _search(task, key, int(seed), policy, budget, unfinished)
            with path.open("ab", buffering=0) as lines:  # one write, beside others'
                lines.write(f"{json.dumps(report)}\n".encode())
            unfinished.unlink(missing_ok=True)
    return merged([path])


def merged(paths: Sequence[Path]) -> dict[str, Any]:
    """One report of the searches in files of lines."""
    found = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    found.sort(key=lambda report: (*_group(report), report["seed"], report["policy"]))
    paired = search_pairs.pairs(found)
    return {
        # Of all searches together, which may have run on several machines and days.
        "commit": _only([report.get("commit") for report in found]),
        "date": _only([report.get("date") for report in found]),
        "machine": _only([report.get("machine") for report in found]) or {},
        "ok": all(report["speed_up"] and report["speed_up"] > 1 for report in found),
        "summary": [*_summary(found), *search_pairs.said(paired)],
        "pairs": paired,
        "searches": found,
    }


def _only(values: Sequence[Any]) -> Any:
    """The one value that all have, else all that there are."""
    different = [value for number, value in enumerate(values) if value not in values[:number]]
    return different[0] if len(different) == 1 else different or None


def _group(report: dict[str, Any]) -> tuple[str, str, float]:
    return report["task"], report["language"], report["device_seconds_allowed"]


def _search(
    task_slug: str, key: str, seed: int, policy: Policy, budget: float, unfinished: Path
) -> dict[str, Any]:
    """The report; as far as it is known, after each kernel, also in the file ``unfinished``."""
    task, device = load(CATALOG / task_slug), jobs.device()
    target = DeviceTarget(device.kind, device.index, device.cores, device.facts, jobs.ceilings())

    def measure(kernel: KernelText) -> ResultDocument:
        language = Language(kernel.language)
        job = Job("search", task.spec, language, kernel.source, Mode.BENCHMARK, target, folder)
        document = run_job(job, on_event=lambda _event: None, should_stop=lambda: False, pool=pool)
        pool.refill()
        stages.append(jobs.stages(document))
        if len(stages) == 1 and document["verdict"] != Verdict.PASSED:
            raise SearchStopped(f"the starter failed: {document['reason'][:300]}")
        return document

    def report() -> dict[str, Any]:
        found = search.report()
        del found["best_source"]
        found |= {"device_seconds_allowed": budget, "stages": stages, "machine": machine.facts()}
        return {**found, **provenance("search"), "date": time.strftime("%Y-%m-%d %H:%M:%S %Z")}

    def keep(_row: dict[str, Any]) -> None:
        unfinished.write_text(f"{json.dumps(report())}\n")

    stages: list[str] = []
    # A folder of its own, so that nothing was compiled by the other search already.
    folder = tempfile.mkdtemp(prefix="kernelhub-search-")
    with WarmPool(target, folder) as pool:
        pool.refill()
        plan = Plan(policy, seed, multiple=16)
        search = LocalSearch(task, load_templates(task_slug)[key], plan, measure, keep)
        try:
            search.run(1000, budget)
        except SearchStopped as error:
            search.stop_reason = str(error)
    return report()


def _summary(found: list[dict[str, Any]]) -> Iterator[str]:
    for group in dict.fromkeys(map(_group, found)):
        for policy in _ARMS:
            reports = [item for item in found if _group(item) == group and item["policy"] == policy]
            if not reports:
                continue
            gains = ", ".join(f"{item['seed']}: {item['speed_up'] or 0:.2f}" for item in reports)
            best = ", ".join(f"{1e6 * (item['best_seconds'] or 0):.1f}" for item in reports)
            measured = statistics.mean(item["measured"] for item in reports)
            failed = sum(row["seconds"] is None for item in reports for row in item["measurements"])
            ended = "" if all(item["stop_reason"] for item in reports) else "; not all ended"
            task, key, budget = group
            yield (
                f"{task} {key} {budget:.0f} s {policy}: × starter by seed {gains}; best µs {best}; "
                f"{measured:.0f} measured, {failed} failed{ended}"
            )


if __name__ == "__main__":
    report = {"command": "bash tests/gpu/run_all.sh search", **merged([Path(name) for name in sys.argv[1:]])}
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
