"""Proposes the kernels of a recording: what others built on the same parents, or any at random."""

from collections.abc import Sequence
from random import Random

from leaderboard.search.generators.base import Ask, Parent, Proposal
from leaderboard.search.recordings import Recording

#: Share of draws at random once there are parents.
_RANDOM = 0.4


class ListedGenerator:
    """``independent``: at random only, as independent samples are."""

    name = "recorded"

    def __init__(self, recording: Recording, *, independent: bool = False) -> None:
        self._proposals = [item.proposal for item in recording.known.values()]
        self._children: dict[str, list[Proposal]] = {}
        for proposal in self._proposals:
            for parent in proposal.parents:
                self._children.setdefault(parent, []).append(proposal)
        self._random_share = 1.0 if independent else _RANDOM

    def propose(self, ask: Ask, random: Random) -> list[Proposal]:
        """Fewer than asked for once the recording has no more."""
        left = {item.digest: item for item in self._proposals if item.digest not in ask.known}
        found: list[Proposal] = []
        while left and len(found) < ask.count:
            proposal = self._draw(ask.parents, left, random)
            del left[proposal.digest]
            found.append(proposal)
        return found

    def _draw(self, parents: Sequence[Parent], left: dict[str, Proposal], random: Random) -> Proposal:
        if parents and random.random() >= self._random_share:
            one = random.choice(parents)
            open_ = [item for item in self._children.get(one.digest, []) if item.digest in left]
            if open_:
                return random.choice(open_)
        return left[random.choice(list(left))]
