"""The built-in tasks' CUDA and Triton submissions: good ones must pass, wrong ones must fail by their own
fault.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from leaderboard.catalog import loader
from leaderboard.catalog.loader import CatalogTask, Fixture
from leaderboard.trust import doubt_of, measured_of
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Mode, Verdict
from tests.gpu import jobs

#: Test mode times nothing, so that several runs may share the GPU.
_AT_ONCE = 4
_RANKED = (("softmax", "online.cu"), ("softmax", "fused_triton.py"), ("matmul", "register_tiles.cu"))


def smoke() -> dict[str, Any]:
    """One submission per language through every stage; on failure all that is known of it."""
    task = task_named("softmax")
    outcomes = {}
    for name in ("online.cu", "fused_triton.py", "in_place.py"):
        fixture = next(item for item in task.good if item.path.name == name)
        for mode in (Mode.TEST, Mode.BENCHMARK):
            outcomes[f"{name} {mode}"] = _run(task, fixture, mode)
    return {
        "ok": all(document["verdict"] == Verdict.PASSED for document in outcomes.values()),
        "any_passed": any(document["verdict"] == Verdict.PASSED for document in outcomes.values()),
        "outcomes": outcomes,
        "summary": [line for name, document in outcomes.items() for line in _lines(name, document)],
    }


def run() -> dict[str, Any]:
    """Every fixture for CUDA devices, in test mode, several at once."""
    work = [
        (task, fixture)
        for task in loader.load_all()
        for fixture in (*task.good, *task.wrong)
        if DeviceKind.CUDA in fixture.device_kinds
    ]
    start = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        documents = list(pool.map(lambda item: _run(item[0], item[1], Mode.TEST), work))
    rows = [_row(*item, document) for item, document in zip(work, documents, strict=True)]
    broken = [row for row in rows if not row["as_expected"]]
    summary = [f"{len(rows)} fixtures in {time.monotonic() - start:.0f} s, {len(broken)} not as expected"]
    summary += [f"{row['task']}/{row['fixture']}: {row['verdict']}: {row['reason'][:250]}" for row in broken]
    return {"ok": not broken, "rows": rows, "summary": summary}


def ranked() -> dict[str, Any]:
    """A few good submissions as they would be ranked, with every time taken. No doubt may hold one back."""
    outcomes = {}
    for slug, name in _RANKED:
        task = task_named(slug)
        fixture = next(item for item in task.good if item.path.name == name)
        outcomes[f"{slug}/{name}"] = _run(task, fixture, Mode.RANKED)
    doubts = {name: doubt for name, document in outcomes.items() if (doubt := _doubt(document))}
    return {
        "ok": all(document["verdict"] == Verdict.PASSED for document in outcomes.values()) and not doubts,
        "outcomes": outcomes,
        "doubts": doubts,
        "summary": [line for name, document in outcomes.items() for line in _lines(name, document)]
        + [f"{name} would be held: {doubt}" for name, doubt in doubts.items()],
    }


def _doubt(document: ResultDocument) -> str:
    measured = measured_of(document)
    return "" if measured is None else doubt_of(measured, document)


def task_named(slug: str) -> CatalogTask:
    return loader.load(loader.CATALOG / slug)


def _run(task: CatalogTask, fixture: Fixture, mode: Mode) -> ResultDocument:
    return jobs.evaluate(task.spec, fixture.language, fixture.path.read_text(), mode)


def _row(task: CatalogTask, fixture: Fixture, document: ResultDocument) -> dict[str, Any]:
    verdict = document["verdict"]
    return {
        "task": task.slug,
        "fixture": f"{fixture.path.parent.name}/{fixture.path.name}",
        "as_expected": verdict == fixture.verdict,
        "verdict": verdict,
        "reason": document["reason"],
        "stages": jobs.stages(document),
        "first_test_seconds": document["environment"].get("first_test_seconds"),
        "stderr": document["output"]["stderr"][-400:],
    }


def _lines(name: str, document: ResultDocument) -> list[str]:
    first = document["environment"].get("first_test_seconds")
    lines = [f"{name}: {document['verdict']} {document['reason'][:300]}"]
    lines.append(f"  {jobs.stages(document)}; first test after {first or 0:.2f} s")
    if document["verdict"] != Verdict.PASSED:
        lines += [f"  | {line}" for line in document["output"]["stderr"].strip().splitlines()[-8:]]
    for timing in document["benchmarks"]:
        if "seconds" not in timing:
            continue
        half = (timing["ci_high"] - timing["ci_low"]) / 2 / timing["seconds"]
        counts = {length: len(times) for length, times in timing["samples"].items()}
        alone = jobs.microseconds(timing.get("alone_seconds"))
        lines.append(
            f"  {timing['case']}: {jobs.microseconds(timing['seconds'])} us ± {100 * half:.2f} %, events "
            f"{jobs.microseconds(timing.get('event_seconds'))} us, copy "
            f"{jobs.microseconds(timing['copy_seconds'])} us, overhead "
            f"{jobs.microseconds(timing['overhead_seconds'])} us, alone {alone} us "
            f"(events {jobs.microseconds(timing.get('alone_event_seconds'))} us), batches {counts}, "
            f"{timing['bytes'] / timing['seconds'] / 1e12:.2f} TB/s"
        )
    return lines
