"""Numbers as people read them: a unit chosen by size, four significant digits, nothing false in between."""

import math
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

#: Shown where there is no number.
NONE = "–"
#: An error so large beside what was wanted that its digits say nothing.
_ENORMOUS = "> 1e+06"
#: Between a number and its unit; a line must not break there.
SPACE = "\u202f"

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_RATE_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_AGES = ((86400 * 365, "y"), (86400 * 30, "mo"), (86400, "d"), (3600, "h"), (60, "min"))
#: What is to come is rounded, as 90 days just begun are no two months; few of these would round by too much.
_LEAST_TO_COME = {"y": 4, "mo": 4}


def number(value: Any) -> float | None:
    """``value`` as a finite float, or None: templates hand over whatever a document held."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def significant(value: float, digits: int = 4) -> str:
    """``value`` with so many significant digits and no exponent; more digits before the point are kept."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    # 9.9996 rounds up to 10.000, one digit too many: look at the rounded value.
    magnitude = math.floor(math.log10(abs(round(value, digits - 1 - magnitude))))
    return f"{value:.{max(0, digits - 1 - magnitude)}f}"


@register.filter
def duration(seconds: Any) -> str:
    """Seconds as ns, µs, ms or s, e.g. 1.234e-5 → ``12.34 µs``."""
    value = number(seconds)
    if value is None:
        return NONE
    if value == 0:
        return f"0{SPACE}s"
    for index, (size, unit) in enumerate(_TIME_UNITS):
        if abs(value) >= size or size == _TIME_UNITS[-1][0]:
            text = significant(value / size)
            if index and float(text) >= 1000:  # 999.96 µs reads 1000 µs: take the next unit
                size, unit = _TIME_UNITS[index - 1]
                text = significant(value / size)
            return f"{text}{SPACE}{unit}"
    return NONE


@register.filter
def rough(seconds: Any) -> str:
    """A forecast time, e.g. ``110 ms``: two significant digits, as more would claim what nobody knows."""
    value = number(seconds)
    if value is None:
        return NONE
    rounded = float(f"{value:.2g}")
    size, unit = next((item for item in _TIME_UNITS if rounded >= item[0]), _TIME_UNITS[-1])
    return f"{significant(rounded / size, 2)}{SPACE}{unit}"


@register.filter
def clock(seconds: Any) -> str:
    """Seconds of waiting, coarse: ``under 1 s``, ``12 s``, ``3 min``, ``2 h 5 min``."""
    value = number(seconds)
    if value is None:
        return NONE
    if value < 1:
        return f"under 1{SPACE}s"
    if value < 90:
        return f"{value:.0f}{SPACE}s"
    minutes = round(value / 60)
    if minutes < 90:
        return f"{minutes}{SPACE}min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{SPACE}h" + (f" {minutes}{SPACE}min" if minutes else "")


@register.filter
def about(seconds: Any) -> str:
    """An expected wait in words: ``under 1 s``, else ``about 12 s``."""
    text = clock(seconds)
    return text if text == NONE or text.startswith("under") else f"about {text}"


@register.filter
def interval(item: Any) -> str:
    """The 95 % interval of something with ``seconds``, ``ci_low`` and ``ci_high``, e.g. ``± 0.8 %``.

    The larger of both half-widths is taken: a lopsided interval is never made to look tighter than it is.
    """
    middle, low, high = (number(_get(item, name)) for name in ("seconds", "ci_low", "ci_high"))
    if middle is None or low is None or high is None or middle <= 0:
        return ""
    percent = max(high - middle, middle - low) / middle * 100
    if percent < 0.05:
        return f"± < 0.1{SPACE}%"
    return f"± {percent:.1f}{SPACE}%" if percent < 10 else f"± {percent:.0f}{SPACE}%"


@register.filter
def bounds(item: Any) -> str:
    """The same interval as low to high, in words for a tooltip."""
    low, high = number(_get(item, "ci_low")), number(_get(item, "ci_high"))
    if low is None or high is None:
        return ""
    return f"95{SPACE}% interval {duration(low)} to {duration(high)}"


@register.filter
def speedup(value: Any) -> str:
    """A ratio, e.g. ``1.84×``."""
    ratio = number(value)
    return NONE if ratio is None else f"{significant(ratio, 3)}×"


@register.filter
def percent(value: Any) -> str:
    """A share of 1 as percent, e.g. 0.873 → ``87.3 %``."""
    share = number(value)
    if share is None:
        return NONE
    return f"{share * 100:.1f}{SPACE}%" if abs(share) < 0.9995 else f"{share * 100:.0f}{SPACE}%"


@register.filter
def score(value: Any) -> str:
    """A score without unit, three decimals."""
    amount = number(value)
    return NONE if amount is None else f"{amount:.3f}"


@register.filter
def chance(value: Any) -> str:
    """A probability as a whole percentage; never 0 or 100, which no forecast can know."""
    share = number(value)
    if share is None:
        return NONE
    if share < 0.01:
        return f"< 1{SPACE}%"
    return f"> 99{SPACE}%" if share > 0.99 else f"{share * 100:.0f}{SPACE}%"


@register.filter
def bytesize(value: Any) -> str:
    """Bytes in binary units, e.g. ``64 MiB``."""
    size = number(value)
    if size is None:
        return NONE
    for unit_size, unit in _BYTE_UNITS:
        if size >= unit_size:
            text = significant(size / unit_size)
            return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{SPACE}{unit}"
    return f"{size:.0f}{SPACE}B"


@register.filter
def rate(value: Any, unit: str) -> str:
    """A rate in decimal units, e.g. ``{{ 3.35e12|rate:"B/s" }}`` → ``3.350 TB/s``."""
    amount = number(value)
    if amount is None:
        return NONE
    if isinstance(value, int) and value < _RATE_UNITS[-1][0]:
        return f"{value}{SPACE}{unit}"  # counted, not measured
    for size, prefix in _RATE_UNITS:
        if amount >= size:
            return f"{significant(amount / size)}{SPACE}{prefix}{unit}"
    return f"{significant(amount)}{SPACE}{unit}"


def spelled(name: str) -> str:
    """A key of a document as words; its unit stands with the value."""
    return name.removesuffix("_bytes").replace("_", " ").capitalize()


@register.filter
def error_size(value: Any) -> str:
    """An error of a comparison, three digits, e.g. ``1.27e-03``; None means it was not finite.

    A relative error beyond a million only says that the wanted value was next to nothing.
    """
    amount = number(value)
    if amount is None:
        return "not finite"
    return f"{amount:.2e}" if amount < 1e6 else _ENORMOUS


@register.filter
def plain(value: Any) -> str:
    """A setting as it would be typed, e.g. ``1e-10``."""
    amount = number(value)
    return NONE if amount is None else f"{amount:g}"


@register.filter
def reltime(moment: datetime | None) -> SafeString | str:
    """How long ago, in a ``<time>`` that carries the moment in UTC; ``ages.js`` counts on from its age."""
    if moment is None:
        return NONE
    seconds = (timezone.now() - moment).total_seconds()
    return format_html(
        '<time datetime="{}" data-age="{}" title="{} UTC">{}</time>',
        moment.isoformat(timespec="seconds"),
        int(seconds),
        moment.strftime("%Y-%m-%d %H:%M:%S"),
        _age(seconds),
    )


def _age(seconds: float) -> str:
    for size, unit in _AGES:
        if seconds >= size:
            return f"{int(seconds // size)}{SPACE}{unit} ago"
        if -seconds >= size * _LEAST_TO_COME.get(unit, 1):
            return f"in {round(-seconds / size)}{SPACE}{unit}"
    return "just now" if seconds >= 0 else "in under a minute"


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)
