"""Facts of devices, machines and kernels by name: a label to read, and the value with its unit."""

from typing import Any

from django import template

from leaderboard.templatetags.formats import NONE, bytesize, rate, spelled
from runners.contract.vocabulary import LANGUAGE_LABELS, Language
from runners.models import Device

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
def device_line(device: Device) -> str:
    """A device in one line, as far as it is known: cores of a run, cache, memory, ceiling."""
    facts, copy = device.facts, (device.ceilings or {}).get("copy_bytes_per_s")
    known = {
        "{} of the machine’s {} cores for a run": (facts.get("cores"), facts.get("machine_cores")),
        "compute capability {}": (facts.get("compute_capability"),),
        "last-level cache {}": (facts.get("llc_bytes") and bytesize(facts["llc_bytes"]),),
        "memory {}": (facts.get("memory_bytes") and bytesize(facts["memory_bytes"]),),
        "copies {}": (copy and rate(copy, "B/s"),),
    }
    return ", ".join(words.format(*values) for words, values in known.items() if all(values))


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
