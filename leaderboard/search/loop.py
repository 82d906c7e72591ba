"""One step of a search: propose, forecast, decide. State in, a generation out; equal seeds, equal steps."""

from random import Random

from leaderboard.search import sieve
from leaderboard.search.generators.base import Ask, Generator, GeneratorPaused, GeneratorSpent, Proposal
from leaderboard.search.outlook import Outlook
from leaderboard.search.plan import MOST_WAITING, Plan, Policy
from leaderboard.search.sieve import Decision
from leaderboard.search.standing import Standing, unguaranteed
from leaderboard.search.state import Candidate, Generation, SearchState
from surrogate.policy import Action

#: Times that the starter is begun at most, where it is lost through our own fault.
MOST_OPENINGS = 2

_WHY = {
    Policy.NONE: "No surrogate: every candidate is measured.",
    Policy.RANDOM: "Independent sampling: every candidate is measured.",
}


def step(
    state: SearchState,
    generator: Generator,
    outlook: Outlook | None,
    plan: Plan,
    *,
    slots: int | None = None,
    considered: int | None = None,
    standing: Standing | None = None,
) -> Generation:
    """The next generation; ``state`` is left as it is.

    ``slots`` and ``considered`` lower what the plan sets where a budget leaves less. ``standing`` is what the
    record of the outlook allows; by default nothing is known of it. Nothing chosen means that the generator
    has run dry and nothing waits. Raises GeneratorPaused, and GeneratorSpent once nothing waits any more:
    what was paid for is measured first. An opening that was lost comes again before anything else.
    """
    if again := _lost_opening(state):
        return again
    slots = plan.slots if slots is None else min(slots, plan.slots)
    most = plan.considered * slots // plan.slots
    considered = most if considered is None else min(considered, most)
    random = Random(f"{plan.seed}:{state.generations}")  # noqa: S311  repeatable, not secret
    asks = plan.policy.asks_surrogate and outlook is not None
    try:
        proposals = _propose(state, generator, plan, considered, random)
    except GeneratorSpent:
        if not (asks and state.waiting):
            raise
        proposals = []
    if not plan.policy.asks_surrogate or outlook is None:
        decisions = sieve.measure_all(len(proposals), slots, _WHY.get(plan.policy, _WHY[Policy.NONE]))
        return Generation(
            state.generations,
            tuple(
                Candidate(proposal, island, state.generations, False, decision)
                for (proposal, island), decision in zip(proposals, decisions, strict=True)
            ),
        )
    # The rate of the rules is a share of the measurements; a candidate's own chance is that much smaller.
    chance = (
        plan.rules.audit_rate * slots / max(len(proposals), 1) if plan.policy == Policy.SURROGATE else 0.0
    )
    audits = [random.random() < chance for _ in proposals]
    waiting = state.waiting[-MOST_WAITING:]
    kernels = [item.kernel for item in state.kernels(waiting)] + [item.kernel for item, _ in proposals]
    if not kernels:
        return Generation(state.generations, ())
    view = outlook.look(state.seen(), kernels)
    if standing is not None:
        view = view.tempered(standing.temperature)
    bar = unguaranteed(plan.rules) if standing is None else standing.bar(plan.rules, outlook)
    audited = [state.candidates[digest].audited for digest in waiting] + audits
    sieved = sieve.sieve(view, state.incumbent, slots, plan, audited, bar)
    first = len(waiting)
    return Generation(
        state.generations,
        tuple(
            Candidate(proposal, island, state.generations, audit, sieved.decision(first + place))
            for place, ((proposal, island), audit) in enumerate(zip(proposals, audits, strict=True))
        ),
        {
            digest: sieved.decision(place)
            for place, digest in enumerate(waiting)
            if place in sieved.chosen or sieved.actions[place] != state.candidates[digest].decision.action
        },
    )


def opening(proposal: Proposal) -> Generation:
    """The generation that measures one kernel to compare all others with."""
    decision = Decision(Action.MEASURE, True, "What everybody begins with, to compare with.")
    return Generation(0, (Candidate(proposal, 0, 0, False, decision),))


def _lost_opening(state: SearchState) -> Generation | None:
    """The opening once more, or no speed-up could be told of anything that the search finds."""
    for digest, times in state.lost.items():
        is_gone = digest in state.dropped and times < MOST_OPENINGS
        if is_gone and state.candidates[digest].proposal.is_starter:
            decision = Decision(Action.MEASURE, True, "Once more: it was lost through the site's own fault.")
            return Generation(state.generations, (), {digest: decision})
    return None


def _propose(
    state: SearchState, generator: Generator, plan: Plan, count: int, random: Random
) -> list[tuple[Proposal, int]]:
    """(proposal, island): the islands in turns, the first remainder to those whose turn it is."""
    known = set(state.candidates)
    found: list[tuple[Proposal, int]] = []
    islands = len(state.islands)
    for turn in range(islands):
        island = (state.generations + turn) % islands
        share = count // islands + (turn < count % islands)
        if share == 0:
            continue
        parents = () if plan.policy == Policy.RANDOM else state.islands[island].parents(random)
        ask = Ask(share, parents, known, f"g{state.generations}.i{island}")
        try:
            proposals = generator.propose(ask, random)
        except (GeneratorPaused, GeneratorSpent):
            if found:  # what was paid for is measured; the next step hears of it again
                break
            raise
        for proposal in proposals:
            known.add(proposal.digest)
            found.append((proposal, island))
    return found
