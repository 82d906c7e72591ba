"""What measuring a kernel came to, in the few words that a prompt has room for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runners.contract.vocabulary import Verdict

_LONGEST_LOG = 1500  # characters of a compiler's or program's own words: its first lines say most


@dataclass(frozen=True)
class Outcome:
    """``cases`` maps a benchmark case's description to (seconds, its floor in seconds or None)."""

    verdict: str
    log2_seconds: float | None = None
    error: str = ""
    cases: tuple[tuple[str, float, float | None], ...] = ()

    @property
    def worked(self) -> bool:
        return self.log2_seconds is not None


def read_outcome(document: Mapping[str, Any]) -> Outcome:
    """From a result document; what is missing in it is left out."""
    verdict, score = str(document.get("verdict", "")), document.get("score")
    if verdict == Verdict.PASSED and score:
        cases = tuple(
            (str(item.get("description") or item["case"]), float(item["seconds"]), item.get("floor_seconds"))
            for item in document.get("benchmarks", [])
            if item.get("seconds")
        )
        return Outcome(verdict, math.log2(score["seconds"]), cases=cases)
    return Outcome(verdict, error=_error(document))


def _error(document: Mapping[str, Any]) -> str:
    """The reason, then what the compiler, the failed cases and the program itself said."""
    parts = [str(document.get("reason", ""))]
    if document.get("failed_stage") == "compile" and document.get("compile"):
        parts.append(str(document["compile"].get("log", ""))[:_LONGEST_LOG])
    for case in [*(document.get("tests") or []), *(document.get("benchmarks") or [])]:
        if case.get("status") in ("failed", "error") and not case.get("hidden"):
            parts += [f"Case {case.get('description', '')}: {case.get('message', '')}"]
            parts += [_difference(item) for item in case.get("outputs", [])]
            break
    said = str((document.get("output") or {}).get("stderr", ""))
    if said.strip() and document.get("verdict") == Verdict.RUNTIME_ERROR:
        parts.append(said[-_LONGEST_LOG:])
    return "\n".join(part for part in parts if part.strip())


def _difference(item: Mapping[str, Any]) -> str:
    if not item.get("mismatches"):
        return ""
    return (
        f"Output {item.get('output')}: {item['mismatches']} of {item.get('elements')} elements differ; at "
        f"{item.get('worst_index')} it is {item.get('got')}, and {item.get('want')} was expected."
    )
