"""``python -m runners.supervisor <descriptor>``: a job on standard input, events as JSON lines on the
descriptor.

Before the job a line may ask to get ready for a device. Nothing of the job is known by then.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import MAX_RESULT_BYTES
from runners.contract.result import ResultDocument
from runners.sandbox import libc, privileges, process_tree
from runners.sandbox.bounds import for_this_machine
from runners.sandbox.probe import probe_cached
from runners.supervisor.sandboxes import Sandboxes


def main() -> None:
    serve(int(sys.argv[1]), os.getppid())
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # taking torch apart takes tenths of a second, for which the caller would wait


def serve(descriptor: int, parent: int) -> None:
    """Sees the one job of this process through, and leaves no process behind. Returns without a word when
    there is none.
    """
    privileges.die_with_parent(parent)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    events = os.fdopen(descriptor, "w", encoding="utf-8")
    sandboxes = Sandboxes()
    try:
        for message in _messages():
            if "prepare" in message:
                _prepare(sandboxes, message["prepare"])
            else:
                _run(Job.from_document(message), sandboxes, events)
                return
    finally:
        process_tree.kill(os.getpid())


def _messages() -> Iterator[dict[str, Any]]:
    for line in os.fdopen(0, "rb", closefd=False):
        yield json.loads(line)


def _prepare(sandboxes: Sandboxes, request: dict[str, Any]) -> None:
    """Does ahead what every job on the device needs. What fails is done again, and told, with the job."""
    try:
        from runners.supervisor.rehearsal import rehearse

        target = DeviceTarget.from_document(request["target"])
        sandboxes.prepare(target, for_this_machine(), probe_cached(request["data_dir"]).usable())
        rehearse(target.kind)
    except Exception:  # noqa: BLE001
        traceback.print_exc()


def _run(job: Job, sandboxes: Sandboxes, events: Any) -> None:
    def emit(event: dict[str, Any]) -> None:
        events.write(json.dumps(event, allow_nan=False) + "\n")
        events.flush()

    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: cancelled.set())
    limit = job.chosen_limits.deadline
    start = time.monotonic()
    try:
        document = _evaluate(job, start + limit, limit, cancelled, emit, sandboxes)
    finally:
        process_tree.kill(os.getpid())
    emit({"type": "result", "document": _fitting(document)})


def _evaluate(
    job: Job, deadline: float, limit: float, cancelled: threading.Event, emit: Any, sandboxes: Sandboxes
) -> ResultDocument:
    from runners.supervisor.evaluation import Evaluation
    from runners.supervisor.stop import Stop

    stop = Stop(deadline, limit, cancelled.is_set)
    bounds = replace(for_this_machine(), **job.bounds)
    probe = probe_cached(job.data_dir)
    return Evaluation(job, probe, stop, emit, bounds, job.chosen_limits, sandboxes).run()


def _fitting(document: ResultDocument) -> ResultDocument:
    """The document without its bulkiest parts, as far as needed to stay under the cap. It says which."""
    left_out: list[str] = []
    if _is_too_large(document) and "listing" in document.get("compile", {}):
        del document["compile"]["listing"]
        left_out.append("the compiler's listings")
    if _is_too_large(document):
        for timing in document["benchmarks"]:
            if timing.pop("samples", None) is not None:
                left_out.append(f"the single times of case {timing['case']}")
    if left_out:
        document["left_out"] = [*document.get("left_out", ()), *left_out]
    return document


def _is_too_large(document: ResultDocument) -> bool:
    return len(json.dumps(document)) > MAX_RESULT_BYTES


if __name__ == "__main__":
    main()
