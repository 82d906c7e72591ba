"""Parts of a result document as tables. Columns come from the compiler and differ per language."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from leaderboard.case_names import described
from leaderboard.models import Score, TaskVersion
from leaderboard.templatetags.formats import (
    NONE,
    SPACE,
    bytesize,
    error_size,
    number,
    percent,
    significant,
    spelled,
)
from leaderboard.views.run import VERDICT_LABELS
from runners.contract.vocabulary import WORK_LABELS, Verdict

#: No task allows half of a value: where so much differs and passed, the value was next to nothing.
_BEYOND_ANY_RTOL = 0.5

register = template.Library()

#: A place in a compiler's message; the submission's file is called kernel, whatever the language.
_PLACE = re.compile(r"\b(kernel\.(?:cpp|cu|py)[:(]([1-9]\d{0,6})\b)")
_OCCUPANCY = re.compile(r"occupancy_(\d+)")
_MANY = 1e6  # times a limit; how many more says nothing
_LABELS = {
    "registers": "Registers",
    "shared_bytes": "Shared memory",
    "static_shared_bytes": "Static shared memory",
    "local_bytes": "Local memory",
    "constant_bytes": "Constant memory",
    "spill_bytes": "Spills",
    "spill_stores_bytes": "Spill stores",
    "spill_loads_bytes": "Spill loads",
    "stack_bytes": "Stack",
    "barriers": "Barriers",
    "launch_bounds": "Launch bounds",
    "occupancy": "Occupancy",
    "occupancy_limit": "Occupancy limited by",
}


@register.filter
def columns(functions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys of compiled functions apart from their name: known ones first; databases keep no order."""
    names = {name for function in functions for name in function} - {"name"}
    known = [name for name in _LABELS if name in names]
    # By length first, so that occupancy_128 stands before occupancy_1024.
    return known + sorted(names.difference(known), key=lambda name: (len(name), name))


@register.filter
def column_label(name: str) -> str:
    if match := _OCCUPANCY.fullmatch(name):
        return f"Occupancy, {match[1]} threads"
    return _LABELS.get(name) or spelled(name)


@register.filter
def cells(function: Mapping[str, Any], functions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The values of one function under ``columns`` of all, with units."""
    return [_cell(name, function.get(name)) for name in columns(functions)]


@register.filter
def largest(outputs: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """The largest ``name`` of a case's outputs; None, not finite, is larger than any number."""
    values = [output.get(name) for output in outputs]
    return None if None in values else max(float(value) for value in values if value is not None)


@register.filter
def relative_error(test: Mapping[str, Any]) -> str:
    """The largest relative error of a case; where it says nothing and the case passed, what covers it."""
    error = largest(test["outputs"], "max_rel_error")
    is_covered = test.get("status") == "passed" and error is not None and error >= _BEYOND_ANY_RTOL
    return "covered by atol" if is_covered else error_size(error)


@register.filter
def allowance_used(test: Mapping[str, Any]) -> str:
    """How much of what a case allowed its largest error took; results from before it was told have none."""
    if "allowance_used" not in test:
        return NONE
    used = number(test["allowance_used"])
    if used is None:  # of one that passed: an older result, whose budget decided alone
        return NONE if test.get("status") == "passed" else "beyond all bounds"
    return times(used)


@register.filter
def times(share: float) -> str:
    """A share of a limit: in percent up to it, in multiples beyond: ``12.5 %``, ``37 ×``."""
    if share <= 1:
        return percent(share)
    return f"{significant(share, 3) if share < _MANY else 'over 1e6'}{SPACE}×"


@register.filter
def cases_of(text: str, version: TaskVersion) -> str:
    """A stored sentence with cases as tables spell them."""
    return described(text, lambda: version)


@register.filter
def first_where(work: str) -> str:
    """Where an entry that is audited would be first: audits guard the whole board and each view of it."""
    among = WORK_LABELS.get(work)
    return "first among all kernels" + (f", or among {among} alone" if among else "")


@register.filter
def case_of(score: Score, name: str) -> Mapping[str, Any]:
    """What a score has for one case; empty where it has none."""
    return next((case for case in score.cases if case["case"] == name), {})


@register.filter
def linked_log(log: str) -> SafeString:
    """A compiler's log, escaped, with each place in the submission a link to its source line."""
    return mark_safe(_PLACE.sub(r'<a href="#L-\2">\1</a>', escape(log)))  # noqa: S308 - escaped just now


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


@register.filter
def verdict_label(verdict: str) -> str:
    return VERDICT_LABELS[Verdict(verdict)] if verdict in list(Verdict) else verdict


def _cell(name: str, value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    amount = number(value)
    if amount is None:
        return str(value)
    if name.endswith("_bytes"):
        return bytesize(amount)
    if "occupancy" in name:
        return percent(amount)
    return str(value) if isinstance(value, int) else significant(amount)
