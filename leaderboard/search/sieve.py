"""Which of the candidates are measured now: skip, defer, measure or audit, for a whole generation at once.

The rules are those of ``surrogate.policy``, which looks at one kernel; here the kernels of a generation
compete, and measuring one also says something about those like it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.search.normal import expected_gain, p_below
from leaderboard.search.outlook import View
from leaderboard.search.plan import Plan, Policy
from surrogate.policy import Action

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """``chosen`` means measured in this generation; an unchosen one that is no skip waits for a later one.

    ``mean`` and ``spread`` are the forecast in log2 seconds, None where there was none; ``gain`` is the
    expected improvement on the incumbent in octaves.
    """

    action: Action
    chosen: bool
    reason: str
    mean: float | None = None
    spread: float | None = None
    p_works: float | None = None
    p_better: float | None = None
    gain: float | None = None


def measure_all(count: int, slots: int, reason: str) -> list[Decision]:
    """Without forecasts: the first ``slots``, in the order in which they were proposed."""
    return [Decision(Action.MEASURE, place < slots, reason) for place in range(count)]


def sieve(view: View, incumbent: float, slots: int, plan: Plan, audited: Sequence[bool]) -> list[Decision]:
    """One decision for each kernel of ``view``.

    ``incumbent`` is the best log2 seconds measured so far, infinite before there is one; ``audited`` says
    which kernels were drawn to be measured even if they are to be skipped.
    """
    if plan.policy == Policy.TOPK:
        return _fastest(view, incumbent, slots)
    p_better = p_below(view.mean, view.spread, incumbent)
    actions = _actions(view, p_better, plan, audited)
    gains, chosen = _choose(view, incumbent, slots, actions)
    return [
        _decision(view, place, actions[place], place in chosen, float(p_better[place]), float(gains[place]))
        for place in range(len(actions))
    ]


def _fastest(view: View, incumbent: float, slots: int) -> list[Decision]:
    order = np.argsort(view.mean - np.log2(np.maximum(view.p_works, 1e-3)), kind="stable")
    chosen = set(order[:slots].tolist())
    p_better = p_below(view.mean, view.spread, incumbent)
    return [
        Decision(
            Action.MEASURE if place in chosen else Action.SKIP,
            place in chosen,
            f"Among the {slots} that look fastest." if place in chosen else "Others look faster.",
            float(view.mean[place]),
            float(view.spread[place]),
            float(view.p_works[place]),
            float(p_better[place]),
        )
        for place in range(len(view.mean))
    ]


def _actions(view: View, p_better: Floats, plan: Plan, audited: Sequence[bool]) -> list[Action]:
    rules = plan.rules
    return [
        (Action.AUDIT if audited[place] else Action.SKIP)
        if p_better[place] <= rules.unguaranteed_skip or view.p_works[place] < rules.least_p_correct
        else Action.MEASURE
        if p_better[place] >= rules.likely
        else Action.DEFER
        for place in range(len(p_better))
    ]


def _choose(view: View, incumbent: float, slots: int, actions: list[Action]) -> tuple[Floats, set[int]]:
    """(expected gain of each, those to measure): audits first, then by gain, each believed once chosen.

    Audits are few, and would otherwise wait for ever behind better kernels. When fewer are worth it than
    there are slots, the least unlikely of the others fill them: measurements left over win nothing.
    """
    gains = expected_gain(view.mean, view.spread, incumbent) * view.p_works
    first = gains.copy()
    chosen = [place for place, action in enumerate(actions) if action == Action.AUDIT][:slots]
    skipped = np.array([action == Action.SKIP for action in actions])
    while len(chosen) < min(slots, len(actions)):
        open_ = np.ones(len(actions), dtype=bool)
        open_[chosen] = False
        worth = open_ & ~skipped
        open_ = worth if worth.any() else open_
        if np.isfinite(incumbent):
            rank = np.where(open_, gains, -np.inf)
            # All gains may be nothing at all; then the likeliest order decides.
            place = int(np.argmax(rank)) if rank.max() > 1e-12 else int(np.argmin(_hidden(view, open_)))
        else:
            place = int(np.argmin(_hidden(view, open_)))
        chosen.append(place)
        view = view.believing(place)
        gains = expected_gain(view.mean, view.spread, incumbent) * view.p_works
    return first, set(chosen)


def _hidden(view: View, open_: NDArray[np.bool_]) -> Floats:
    hidden: Floats = np.where(open_, view.mean - np.log2(np.maximum(view.p_works, 1e-3)), np.inf)
    return hidden


def _decision(view: View, place: int, action: Action, chosen: bool, p_better: float, gain: float) -> Decision:
    beats = f"beats the incumbent with probability {p_better:.1%}"
    if action == Action.SKIP and chosen:
        action, reason = Action.DEFER, f"Nothing likelier is left: it {beats}."
    elif action == Action.AUDIT:
        reason = f"Drawn for an audit; it {beats} only."
    elif action == Action.SKIP:
        reason = f"It {beats} only."
    elif action == Action.MEASURE:
        reason = f"It {beats}."
    else:
        reason = f"Not sure enough: it {beats}."
    return Decision(
        action,
        chosen,
        reason,
        float(view.mean[place]),
        float(view.spread[place]),
        float(view.p_works[place]),
        p_better,
        gain if np.isfinite(gain) else None,
    )
