"""What all prompts of a run begin with, for the writer and for pages. Loads no client of Claude's API."""

from collections.abc import Mapping
from typing import Any

from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.llm.pens import Pen
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.models import SearchRun
from leaderboard.selectors.specs import spec_of
from surrogate.contract.request import DeviceFacts

#: The journal's step that asks for the reference in functional form.
FORM_STEP = "form"
_LONGEST_FORM = 6000  # characters


def brief_of(run: SearchRun, pen: Pen, form: str = "") -> Brief:
    device = run.device
    facts = DeviceFacts(device.slug, device.kind, device.name, device.facts, device.ceilings or {})
    return Brief(spec_of(run.version), run.version.task.title, pen.language, facts, form)


def formed_brief(run: SearchRun) -> Brief:
    """With the reference in functional form where the journal has one. A query for it."""
    replied = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.REPLIED, step=FORM_STEP)
    form = form_of(replied.values_list("document__data", flat=True).first())
    return brief_of(run, Pen(run.language), form)


def shared_prompt(run: SearchRun) -> str:
    """As prompts of a language model's run begin, which its journal does not repeat. Two queries at most."""
    return "\n\n".join(block.text for block in formed_brief(run).system)


def form_of(data: Any) -> str:
    """Steps and ideas as lines; empty for what holds none."""
    if not isinstance(data, Mapping):
        return ""
    lines = []
    for title, key in (("Steps:", "steps"), ("Ideas:", "ideas")):
        items = data.get(key)
        if isinstance(items, list) and items:
            lines += [title, *(f"- {item}" for item in items if isinstance(item, str) and item.strip())]
    return "\n".join(lines)[:_LONGEST_FORM]
