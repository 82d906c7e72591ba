"""The answer a language model gives in words: its JSON schema, and reading it back.

An answer is ``{"rationale": "…", "probabilities": {"A": 0.01, …}, "p_correct": 0.9}``. Bins are keyed by
letter and not by position, so that a list one entry short cannot shift every label.
"""

import json
from typing import Any

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage
from surrogate.contract.words import plain

#: Longest rationale that is kept, characters.
MAX_RATIONALE = 600
#: Stated probabilities rarely add up to 1; sums outside this range mean the model lost the thread.
RAW_SUM_RANGE = (0.5, 1.5)


class MalformedAnswer(ValueError):
    """The answer breaks the contract; the message goes on from "The answer …"."""


def answer_schema() -> dict[str, Any]:
    """JSON schema of an answer; every key required and none other allowed, as structured output wants it."""
    mass = {
        letter: {"type": "number", "description": f"Probability that {bins.describe(index)[3:]}"}
        for index, letter in enumerate(bins.LETTERS)
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["rationale", "probabilities", "p_correct"],
        "properties": {
            "rationale": {
                "type": "string",
                "description": "Two sentences: what bounds the run time, and why.",
            },
            "probabilities": {
                "type": "object",
                "additionalProperties": False,
                "required": list(bins.LETTERS),
                "properties": mass,
            },
            "p_correct": {
                "type": "number",
                "description": "Probability that the kernel's results are right on every case.",
            },
        },
    }


def parse_answer(text: str, *, forecaster: str, version: str, usage: Usage) -> Forecast | Abstention:
    """Read an answer. Whatever is wrong with it becomes an abstention that says what."""
    try:
        return _read(text, forecaster=forecaster, version=version, usage=usage)
    except MalformedAnswer as error:
        return Abstention(AbstentionReason.MALFORMED, f"The answer {error}.", forecaster, version, usage)


def _read(text: str, *, forecaster: str, version: str, usage: Usage) -> Forecast:
    try:
        answer = json.loads(text, object_pairs_hook=_each_once)
    except MalformedAnswer:
        raise
    except (ValueError, RecursionError):
        raise MalformedAnswer("is not JSON") from None
    if not isinstance(answer, dict):
        raise MalformedAnswer("is not a JSON object")
    stated = answer.get("probabilities")
    if not isinstance(stated, dict):
        raise MalformedAnswer("has no object of probabilities")
    if set(stated) != set(bins.LETTERS):
        wrong = sorted(set(stated) ^ set(bins.LETTERS))
        raise MalformedAnswer(f"does not name each bin once: {', '.join(map(repr, wrong[:5]))}")
    masses = [_number(stated[letter], f"probability of bin {letter}") for letter in bins.LETTERS]
    total = sum(masses)
    if not RAW_SUM_RANGE[0] <= total <= RAW_SUM_RANGE[1]:
        raise MalformedAnswer(f"has probabilities that add up to {total:.3g}")
    p_correct = _number(answer.get("p_correct"), "p_correct")
    if p_correct > 1:
        raise MalformedAnswer(f"has a p_correct of {p_correct:.3g}")
    rationale = answer.get("rationale")
    if not isinstance(rationale, str):
        raise MalformedAnswer("has no rationale")
    return Forecast.of(
        masses,
        forecaster=forecaster,
        version=version,
        p_correct=p_correct,
        rationale=plain(rationale)[:MAX_RATIONALE],
        usage=usage,
    )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON takes the last of equal keys; which of two probabilities was meant, nobody knows."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedAnswer("says the same thing twice")
    return found


def _number(value: object, name: str) -> float:
    # bool is an int in Python, and JSON's NaN and Infinity are floats: none of them is a probability.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedAnswer(f"has no number as {name}")
    if not 0 <= value < 1e6:
        raise MalformedAnswer(f"has {value!r} as {name}")
    return float(value)
