"""Forecasters in words: what each one goes by, and what its recipe names."""

import re

from django import template

from surrogate.forecasters.neighbours import NO_NEIGHBOUR

register = template.Library()

_MEANINGS = {
    "ensemble": "the weighted mean of the others; what people are shown",
    "prior": "how fast kernels turned out so far, whatever their code",
    "roofline": "the device’s roofline, and the share of it that kernels usually reach",
    "neighbours": "how fast kernels of similar code turned out",
    "statistical": "learned from source, task, device and earlier outcomes (gradient boosting)",
    "local": "a small language model on this machine",
    "anthropic": "Claude, a large language model",
}
_REPEATS = re.compile(r"(.*?)-?repeats-\d+")
_MEMBERS = re.compile(r"\d+ of (.+)")
#: What the forecaster of neighbours used to say where it knew none that counts for anything.
_NONE_COUNTS = re.compile(r"(0 similar kernels.*|\d+ similar kernels, the closest with weight 0\.00\.)")


@register.filter
def forecaster_meaning(name: str) -> str:
    return _MEANINGS.get(name, "")


@register.filter
def recipe_words(recipe: str) -> str:
    """The part of a forecaster's version that learning does not change, without internal names."""
    if repeats := _REPEATS.fullmatch(recipe):
        if not repeats[1]:
            return "for kernels that were timed here before: from their own times"
        return f"{recipe_words(repeats[1])}; whether it is right from the kernel’s own earlier runs"
    if members := _MEMBERS.fullmatch(recipe):
        return f"of {members[1]}"
    if recipe == "not asked":
        return "no forecaster was asked"
    return f"version {recipe}" if recipe.isdigit() else recipe


@register.filter
def rationale_words(rationale: str) -> str:
    """A stored rationale as people read it.

    Forecasts are never changed, so those of before the forecaster said it itself still have its old sentence.
    """
    return NO_NEIGHBOUR if _NONE_COUNTS.fullmatch(rationale) else rationale
