"""The run so far, as a page draws it. A pure fold over the supervisor's events.

An event is one JSON object with a ``type``:

- ``stage``: ``stage``, ``status`` (started, passed, failed, skipped), ``seconds`` once it ended
- ``plan``: ``tests`` and ``benchmarks``, how many cases are to come
- ``test``: ``case``, a CaseResult
- ``timing``: ``case``, a Timing without its samples
- ``activity``: ``text``, what goes on right now, and ``fraction`` of the evaluation done, 0 to 1, when known
- ``result``: ``document``, the ResultDocument; always the last, and no part of the progress
"""

from collections.abc import Mapping
from typing import Any


def empty() -> dict[str, Any]:
    return {
        "stages": [],
        "plan": {"tests": 0, "benchmarks": 0},
        "tests": [],
        "benchmarks": [],
        "activity": "",
    }


def apply(progress: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """A new progress with ``event`` added; unknown events change nothing."""
    new: dict[str, Any] = {**empty(), **progress}
    match event["type"]:
        case "stage":
            entry = {key: event[key] for key in ("stage", "status", "seconds") if key in event}
            new["stages"] = [old for old in new["stages"] if old["stage"] != entry["stage"]] + [entry]
            new["activity"] = ""
        case "plan":
            new["plan"] = {"tests": event["tests"], "benchmarks": event["benchmarks"]}
        case "test":
            new["tests"] = [*new["tests"], event["case"]]
        case "timing":
            new["benchmarks"] = [*new["benchmarks"], event["case"]]
        case "activity":
            new["activity"] = event["text"]
            if "fraction" in event:
                new["fraction"] = event["fraction"]
        case _:
            pass
    return new
