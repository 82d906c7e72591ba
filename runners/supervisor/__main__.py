"""``python -m runners.supervisor <descriptor>``: a job on standard input, events as JSON lines on the
descriptor.
"""

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from typing import Any

from runners.contract.job import Job
from runners.contract.limits import MAX_RESULT_BYTES
from runners.contract.result import ResultDocument
from runners.sandbox import libc, privileges, process_tree
from runners.sandbox.bounds import for_this_machine
from runners.sandbox.probe import probe_cached


def main() -> None:
    parent = os.getppid()
    privileges.die_with_parent(parent)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    job = Job.from_document(json.load(sys.stdin))
    events = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")

    def emit(event: dict[str, Any]) -> None:
        events.write(json.dumps(event, allow_nan=False) + "\n")
        events.flush()

    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: cancelled.set())
    limit = job.chosen_limits.deadline
    start = time.monotonic()
    try:
        document = _evaluate(job, start + limit, limit, cancelled, emit)
    finally:
        process_tree.kill(os.getpid())
    emit({"type": "result", "document": _fitting(document)})


def _evaluate(
    job: Job, deadline: float, limit: float, cancelled: threading.Event, emit: Any
) -> ResultDocument:
    # torch comes with these: a second or more, so that the events above are out before.
    from runners.supervisor.evaluation import Evaluation
    from runners.supervisor.stop import Stop

    stop = Stop(deadline, limit, cancelled.is_set)
    bounds = replace(for_this_machine(), **job.bounds)
    return Evaluation(job, probe_cached(job.data_dir), stop, emit, bounds, job.chosen_limits).run()


def _fitting(document: ResultDocument) -> ResultDocument:
    """The document without its bulkiest parts, as far as needed to stay under the cap."""
    if len(json.dumps(document)) > MAX_RESULT_BYTES and "compile" in document:
        document["compile"].pop("listing", None)
    if len(json.dumps(document)) > MAX_RESULT_BYTES:
        for timing in document["benchmarks"]:
            timing.pop("samples", None)
    return document


if __name__ == "__main__":
    main()
