"""Which of the candidates are measured now: skip, defer, measure or audit, for a whole generation at once.

``surrogate.policy`` judges every kernel by itself, as it does anywhere else. Here the kernels of a generation
compete for the measurements, and measuring one also says something about those like it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.search.normal import expected_gain, p_below
from leaderboard.search.outlook import View
from leaderboard.search.plan import Plan, Policy
from surrogate.policy import Action, Bar, Ground, judge

Floats = NDArray[np.float64]


#: P(it works) below which a reason names it.
_DOUBTFUL = 0.5


@dataclass(frozen=True)
class Decision:
    """``chosen`` means measured in this generation; an unchosen one that is no skip waits for a later one.

    ``mean`` and ``spread`` are the forecast in log2 seconds, None where there was none; ``gain`` is the
    expected improvement on the incumbent in octaves. ``is_guaranteed``: a skip, or the audit of one, of which
    the record promises how often such go wrong.
    """

    action: Action
    chosen: bool
    reason: str
    mean: float | None = None
    spread: float | None = None
    p_works: float | None = None
    p_better: float | None = None
    gain: float | None = None
    is_guaranteed: bool = False


def measure_all(count: int, slots: int, reason: str) -> list[Decision]:
    """Without forecasts: the first ``slots``, in the order in which they were proposed."""
    return [Decision(Action.MEASURE, place < slots, reason) for place in range(count)]


@dataclass(frozen=True)
class Sieved:
    """What became of each kernel of a view. Sentences are made when somebody asks: thousands may wait."""

    view: View
    slots: int
    policy: Policy
    actions: list[Action]
    chosen: frozenset[int]
    p_better: Floats
    gains: Floats
    guaranteed: frozenset[int] = frozenset()

    def decision(self, place: int) -> Decision:
        gain = float(self.gains[place])
        has_rival = np.isfinite(gain)
        return Decision(
            self.actions[place],
            place in self.chosen,
            self._reason(place),
            # Before anything has passed only the order of the forecasts means something, not their level.
            float(self.view.mean[place]) if has_rival else None,
            float(self.view.spread[place]) if has_rival else None,
            float(self.view.p_works[place]),
            float(self.p_better[place]) if has_rival else None,
            gain if has_rival else None,
            place in self.guaranteed,
        )

    def _reason(self, place: int) -> str:
        if self.policy == Policy.TOPK:
            return (
                f"Among the {self.slots} that look fastest."
                if place in self.chosen
                else "Others look faster."
            )
        if not np.isfinite(self.gains[place]):
            return "Nothing has passed yet that it would have to beat."
        beats = f"beats the best kernel so far with probability {self.p_better[place]:.1%}"
        works = float(self.view.p_works[place])
        doubt = f", as it works with probability {works:.0%}" if works < _DOUBTFUL else ""
        if self.actions[place] == Action.AUDIT:
            return f"Drawn for an audit; it {beats} only{doubt}."
        if self.actions[place] == Action.SKIP:
            return f"It {beats} only{doubt}."
        if self.actions[place] == Action.MEASURE:
            return f"It {beats}{doubt}."
        return f"Not sure enough: it {beats}{doubt}."


def sieve(view: View, incumbent: float, slots: int, plan: Plan, audited: Sequence[bool], bar: Bar) -> Sieved:
    """One decision for each kernel of ``view``.

    ``incumbent`` is the best log2 seconds measured so far, infinite before there is one; ``audited`` says
    which kernels were drawn to be measured even if they are to be skipped; ``bar`` how sure a skip must be.
    """
    # A kernel that fails beats nothing: what will hardly work is skipped like what is surely slow.
    p_better = p_below(view.mean, view.spread, incumbent) * view.p_works
    gains = expected_gain(view.mean, view.spread, incumbent) * view.p_works
    if plan.policy == Policy.TOPK:
        chosen = frozenset(np.argsort(_worth(view), kind="stable")[:slots].tolist())
        actions = [Action.MEASURE if place in chosen else Action.SKIP for place in range(len(p_better))]
        return Sieved(view, slots, plan.policy, actions, chosen, p_better, gains)
    judged = [
        judge(1 - better, better, works, bar, plan.rules, is_drawn=drawn)
        for better, works, drawn in zip(p_better.tolist(), view.p_works.tolist(), audited, strict=True)
    ]
    actions = [action for action, _ in judged]
    chosen = _choose(view, gains, incumbent, slots, actions)
    for place in chosen:
        if actions[place] == Action.SKIP:
            actions[place] = Action.DEFER  # nothing likelier was left
    guaranteed = frozenset(
        place
        for place, (_, ground) in enumerate(judged)
        if bar.is_guaranteed and ground == Ground.LOSES and actions[place] != Action.DEFER
    )
    return Sieved(view, slots, plan.policy, actions, chosen, p_better, gains, guaranteed)


def _choose(view: View, gains: Floats, incumbent: float, slots: int, actions: list[Action]) -> frozenset[int]:
    """Audits first, then by gain, each kernel believed once it is chosen.

    Audits are few, and would otherwise wait for ever behind better kernels. When fewer are worth it than
    there are slots, the least unlikely of the others fill them: measurements left over win nothing.
    """
    audits = [place for place, action in enumerate(actions) if action == Action.AUDIT]
    chosen = audits[:slots]
    left = np.ones(len(actions), dtype=bool)
    left[chosen] = False
    worth = np.array([action != Action.SKIP for action in actions], dtype=bool)
    while len(chosen) < min(slots, len(actions)):
        open_ = left & worth if (left & worth).any() else left
        rank = np.where(open_, gains, -np.inf)
        if np.isfinite(incumbent) and rank.max() > 1e-12:
            place = int(np.argmax(rank))
        else:  # nothing to improve on yet, or no gain at all in sight
            place = int(np.argmin(np.where(open_, _worth(view), np.inf)))
        chosen.append(place)
        left[place] = False
        view = view.believing(place)
        gains = expected_gain(view.mean, view.spread, incumbent) * view.p_works
    return frozenset(chosen)


def _worth(view: View) -> Floats:
    """log2 seconds, what will hardly work counted as slower: smaller is better."""
    worth: Floats = view.mean - np.log2(np.maximum(view.p_works, 1e-3))
    return worth
