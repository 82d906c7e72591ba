"""Forecasters by name and version, and the recipe in a version."""

import re

from surrogate.models import ForecasterVersion

#: Forecasters whose version is ``<recipe>-<digest of what they learned from>``.
_LEARNING = ("prior", "neighbours", "statistical", "source_length", "roofline")
_MEMBER = re.compile(r"([a-z_]+):[0-9.]+")
_LONGEST = 300


def recipe_of(name: str, version: str) -> str:
    """The part of a version that learning does not change."""
    members = _MEMBER.findall(version)
    if name == "ensemble" and members:
        return f"{version.split('-')[0]} of {', '.join(members)}"[:_LONGEST]
    return (version.split("-")[0] if name in _LEARNING else version)[:_LONGEST]


def stored_version(*, name: str, version: str) -> ForecasterVersion:
    row, _ = ForecasterVersion.objects.get_or_create(
        name=name, version=version[:_LONGEST], defaults={"recipe": recipe_of(name, version)}
    )
    return row
