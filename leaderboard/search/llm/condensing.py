"""What a profiler said of a kernel, put into a few findings by a model, for the prompts that build on it.

A profile is pages of numbers; a prompt has room for what matters in them. Asked once per kernel: the reply is
in the journal like any other.
"""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from leaderboard.search.llm.prompts import Brief, marked, sendable
from surrogate.llm.request import Effort, Request, TextBlock

#: Characters of a profile that are sent, and tokens of the answer, thinking included.
MOST_READ, MOST_CONDENSED = 8_000, 2_000
#: Findings that are kept, and characters of each.
MOST_FINDINGS, _LONGEST_FINDING = 3, 400

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"findings": {"type": "array", "items": {"type": "string"}}},
    "required": ["findings"],
    "additionalProperties": False,
}
#: Of a compiled function, in the order of their worth.
_OF_FUNCTION = ("name", "registers", "shared_bytes", "spill_bytes", "local_bytes", "occupancy")
#: Numbers of a profile; floors and rates are per call of its case.
_NUMBERS = (
    "seconds", "floor_seconds", "bytes_per_s", "memory_share", "flops_per_s", "compute_share", "nearer",
)  # fmt: skip


def step_of(digest: str) -> str:
    return f"profile.{digest}"


def readable(document: Mapping[str, Any]) -> str:
    """A profile-mode result as text, what matters first, cut at ``MOST_READ``; empty where it holds none."""
    profile = document.get("profile")
    if not isinstance(profile, Mapping):
        return ""
    lines = [f"Case {profile.get('case', '')}"]
    lines += [f"{name}: {profile[name]}" for name in _NUMBERS if profile.get(name) is not None]
    compiled = document.get("compile")
    functions = compiled.get("functions") or [] if isinstance(compiled, Mapping) else []
    for function in functions[:8]:
        known = {name: function[name] for name in _OF_FUNCTION if function.get(name) is not None}
        lines.append(f"compiled function: {json.dumps(known)}")
    for kernel in (profile.get("kernels") or [])[:8]:
        lines.append(f"kernel by hardware counters: {json.dumps(kernel)}")
    if profile.get("counters"):
        lines.append(f"no hardware counters: {profile['counters']}")
    if profile.get("table"):
        lines += [f"table of {profile.get('profiler', 'a profiler')}:", str(profile["table"])]
    return "\n".join(lines)[:MOST_READ]


def condense(brief: Brief, source: str, profile: str, effort: Effort | None) -> Request:
    marks = count(1)
    lines = [
        "A kernel for the task:",
        marked(source, marks),
        "What a profiler says of it:",
        marked(profile, marks),
        "",
        f"Name what keeps this kernel from being faster, in at most {MOST_FINDINGS} findings, the most "
        "important first. Each is one or two sentences: what the numbers show, and the change that follows. "
        "Say nothing that the numbers do not bear out.",
    ]
    text = sendable("\n".join(lines))
    return Request(brief.system, (TextBlock(text),), MOST_CONDENSED, SCHEMA, effort, purpose="search profile")


def findings_of(data: Any) -> str:
    """An answer's findings as lines; empty where it holds none, whatever the schema asked for."""
    items = data.get("findings") if isinstance(data, Mapping) else None
    if not isinstance(items, list):
        return ""
    texts = [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]
    return "\n".join(f"- {text[:_LONGEST_FINDING]}" for text in texts[:MOST_FINDINGS])
