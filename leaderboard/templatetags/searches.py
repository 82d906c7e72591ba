"""How pages of searches write what a run used, and name what became of a candidate."""

from typing import Any

from django import template

from leaderboard.search.pages.overview import ARMS, Meter
from leaderboard.search.plan import Policy
from leaderboard.templatetags.formats import NONE, SPACE, clock, number

register = template.Library()


@register.filter
def thousands(value: Any) -> str:
    """A count in groups of three, e.g. ``12 345``."""
    amount = number(value)
    return NONE if amount is None else f"{amount:,.0f}".replace(",", SPACE)


@register.filter
def dollars(value: Any) -> str:
    """Money, e.g. ``$0.0123``: more digits where there is little of it."""
    amount = number(value)
    if amount is None:
        return NONE
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


@register.filter
def used(value: Any, meter: Meter) -> str:
    """An amount of a budget in the meter's unit."""
    if meter.unit == "seconds":
        return clock(value) if value else f"0{SPACE}s"
    return dollars(value) if meter.unit == "dollars" else thousands(value)


@register.filter
def within(spread: Any) -> str:
    """A spread in octaves as the factor that one standard deviation is, e.g. ``×/÷ 1.3``."""
    amount = number(spread)
    return "" if amount is None else f"×/÷{SPACE}{2**amount:.2f}"


@register.filter
def arm(policy: Any) -> str:
    """What an arm of a search is called."""
    return ARMS[Policy(policy)][0] if policy in list(Policy) else str(policy)


@register.filter
def arm_meaning(policy: Any) -> str:
    return ARMS[Policy(policy)][1] if policy in list(Policy) else ""


@register.filter
def settings_line(parameters: Any) -> str:
    """A template's parameters in one line, e.g. ``rows=4 unroll=2``."""
    return " ".join(f"{name}={value}" for name, value in sorted(parameters.items())) if parameters else ""
