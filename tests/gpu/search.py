"""Template searches with and without the surrogate, at equal device seconds: ``run_all.sh search``.

Each seed's two searches run one after the other on the same GPU, the seeds in turns on all GPUs there are.
``SEARCH_SECONDS`` is the budget of one search, of which a kernel takes some 15 with the site's own limits.
Shorter timing was tried: most kernels were then refused, as the two clocks disagreed by more than they may.
``SEARCH_SEEDS`` names the seeds, all by default.
"""

import json
import os
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.search.generators.template import load_templates
from leaderboard.search.local import LocalSearch, SearchStopped
from leaderboard.search.plan import Plan, Policy
from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.devices import DetectedDevice, detect
from runners.supervisor.client import run_job
from surrogate.contract.request import KernelText

SEARCHES = (("softmax", "cuda"), ("matmul", "cuda"), ("softmax", "python-cuda"))
SEEDS = "0 1 2"


def run() -> dict[str, Any]:
    budget = float(os.environ.get("SEARCH_SECONDS", "300"))
    free: SimpleQueue[DetectedDevice] = SimpleQueue()
    devices = [device for device in detect() if device.kind == DeviceKind.CUDA]
    for device in devices:
        free.put(device)
    seeds = [int(word) for word in os.environ.get("SEARCH_SEEDS", SEEDS).split()]
    jobs = [(task, key, seed) for seed in seeds for task, key in SEARCHES]

    def pair(job: tuple[str, str, int]) -> list[dict[str, Any]]:
        device = free.get()
        try:
            return [_search(*job, policy, device, budget) for policy in (Policy.SURROGATE, Policy.NONE)]
        finally:
            free.put(device)

    with ThreadPoolExecutor(len(devices)) as pool:
        found = [report for reports in pool.map(pair, jobs) for report in reports]
    return {
        "ok": all(report["speed_up"] and report["speed_up"] > 1 for report in found),
        "device_seconds_per_search": budget,
        "summary": list(_summary(found)),
        "searches": found,
    }


def _search(
    task_slug: str, key: str, seed: int, policy: Policy, device: DetectedDevice, budget: float
) -> dict[str, Any]:
    task = load(CATALOG / task_slug)
    folder = tempfile.mkdtemp(prefix="kernelhub-search-")
    target = DeviceTarget(DeviceKind(device.kind), device.index, tuple(device.cores), device.facts)

    def measure(kernel: KernelText) -> ResultDocument:
        language = Language(kernel.language)
        job = Job("search", task.spec, language, kernel.source, Mode.BENCHMARK, target, folder)
        return run_job(job, on_event=lambda _event: None, should_stop=lambda: False)

    search = LocalSearch(task, load_templates(task_slug)[key], Plan(policy, seed, multiple=16), measure)
    try:
        search.run(1000, budget)
    except SearchStopped as error:
        search.stop_reason = str(error)
    report = search.report()
    del report["best_source"]
    # As they come, so that a lease that ends early leaves what was found.
    with (Path(os.environ["OUT"]) / "gpu_search.jsonl").open("a") as lines:
        lines.write(json.dumps(report) + "\n")
    return report


def _summary(found: list[dict[str, Any]]) -> Any:
    for task, key in SEARCHES:
        for policy in (Policy.SURROGATE, Policy.NONE):
            reports = [
                item
                for item in found
                if (item["task"], item["language"], item["policy"]) == (task, key, policy)
            ]
            gains = ", ".join(f"{item['speed_up'] or 0:.2f}" for item in reports)
            best = ", ".join(f"{1e6 * (item['best_seconds'] or 0):.1f}" for item in reports)
            measured = statistics.mean(item["measured"] for item in reports)
            failed = sum(row["seconds"] is None for item in reports for row in item["measurements"])
            yield (
                f"{task} {key} {policy}: × starter {gains}; best µs {best}; "
                f"{measured:.0f} measured, {failed} failed"
            )
