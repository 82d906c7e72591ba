"""Facts of devices, machines and kernels by name: a label to read, and the value with its unit."""

from typing import Any

from django import template

from leaderboard.templatetags.formats import NONE, bytesize, spelled
from runners.contract.vocabulary import LANGUAGE_LABELS, Language

register = template.Library()

_LABELS = {
    "llc_bytes": "Last-level cache",
    "memory_bytes": "Memory",
    "cores": "Cores of a run",
    "machine_cores": "Cores of the machine",
    "compute_capability": "Compute capability",
    "kernel": "Linux kernel",
    "load": "Load over 1, 5, 15 min",
    "torch": "PyTorch",
    "numpy": "NumPy",
}


@register.filter
def language_name(language: str) -> str:
    """A language as the pages spell it, e.g. ``C++`` for ``cpp``."""
    return LANGUAGE_LABELS[Language(language)] if language in list(Language) else language


@register.filter
def fact_label(name: str) -> str:
    return _LABELS.get(name) or spelled(name)


@register.filter
def fact_value(value: Any, name: str) -> str:
    """The value of the fact called ``name``: bytes in binary units, the load without its process counts."""
    if value is None or value == "":
        return NONE
    if name.endswith("_bytes"):
        return bytesize(value)
    if name == "load":
        return ", ".join(str(value).split()[:3])
    return str(value)
