"""Islands keep the best of every kind, offer parents, and hear of their neighbour's best."""

from collections import Counter
from random import Random

from leaderboard.search.archive import Island, migrate
from leaderboard.search.generators.base import Operator, Parent, Proposal
from leaderboard.search.sieve import Decision
from leaderboard.search.state import Candidate, Generation, SearchState
from surrogate.contract.request import KernelText
from surrogate.policy import Action

WIDE, NARROW = ("wide",), ("narrow",)


def parent(name: str, log2_seconds: float) -> Parent:
    return Parent(name, KernelText("cpp", f"// {name}"), log2_seconds)


def names(island: Island, seed: int = 0) -> list[str]:
    return [item.digest for item in island.parents(Random(seed))]


def test_the_best_of_each_kind_is_kept_however_good_another_kind_is() -> None:
    island = Island()
    assert island.add(WIDE, parent("good", -12))
    assert island.add(NARROW, parent("slow but other", -2))
    assert not island.add(WIDE, parent("slower", -11))
    assert not island.add(WIDE, parent("as fast, and later", -12))
    assert island.add(NARROW, parent("better", -3))
    assert names(island) == ["good", "better"]
    assert island.best == -12


def test_what_has_many_children_lets_others_have_a_turn() -> None:
    island = Island()
    for place in range(20):
        island.add((str(place),), parent(str(place), -5))
    island.count_children(["0"] * 50)
    drawn = Counter(name for seed in range(200) for name in names(island, seed))
    others = [drawn[str(place)] for place in range(1, 20)]
    assert drawn["0"] < min(others) / 4
    assert names(island, 7) == names(island, 7), "equal seeds draw equally"


def test_each_tells_the_next_its_best_in_a_ring_and_forgets_nothing() -> None:
    one, two, three = Island(), Island(), Island()
    one.add(WIDE, parent("one", -9))
    one.add(NARROW, parent("one, narrow", -8))
    two.add(WIDE, parent("two", -10))
    migrate([one, two, three])
    assert names(three) == ["two"]  # which tells it only its own best, not what it hears at the same time
    assert set(names(two)) == {"two"}, "a slower one of the same kind takes no place"
    assert set(names(one)) == {"one", "one, narrow"}
    migrate([one, two, three])
    assert names(one)[0] == "two"


def test_a_search_migrates_every_few_generations() -> None:
    state = SearchState(islands=2, migrate_every=3)

    def generation(number: int, island: int, log2_seconds: float) -> None:
        name = f"of generation {number}"
        proposal = Proposal(name, KernelText("cpp", f"// {name}"), Operator.RANDOM, cell=(name,))
        decision = Decision(Action.MEASURE, True, "")
        state.consider(Generation(number, (Candidate(proposal, island, number, False, decision),)))
        state.measure(name, log2_seconds)

    generation(0, 0, -5.0)
    generation(1, 0, -6.0)
    assert names(state.islands[1]) == []
    generation(2, 1, -1.0)
    assert names(state.islands[1]) == ["of generation 1", "of generation 2"]
    assert state.best == ("of generation 1", -6.0)
