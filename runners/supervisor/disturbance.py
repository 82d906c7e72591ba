"""Whether something besides the submission slowed the device down while it was timed. Pure."""

from collections.abc import Mapping
from typing import Any

#: Reasons for low clocks that a kernel has no part in. A power cap is none: a kernel that draws much meets it
#: in every run.
_NOT_THE_KERNELS = frozenset(
    {"hardware slowdown", "software thermal limit", "hardware thermal limit", "power brake"}
)


def disturbance(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """A few words on what was there before or after (GpuState.read); empty when nothing was."""
    seen = {reason for state in (before, after) for reason in state.get("throttled") or ()}
    words = sorted(seen & _NOT_THE_KERNELS)
    if words:
        return f"its clocks were lowered ({', '.join(words)})"
    strangers = max(int(state.get("processes") or 0) for state in (before, after))
    if strangers:
        return f"{strangers} other process{'es' if strangers > 1 else ''} used the device"
    return ""
