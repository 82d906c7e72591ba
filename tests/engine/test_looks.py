"""How many outputs of a timed batch are looked at, by what batches and looks took so far."""

from random import Random

import pytest

from runners.supervisor.looks import Looks


def spent(**values: float) -> Looks:
    looks = Looks(budget=10, batches=20, quick=20, exact=5)
    for name, value in values.items():
        setattr(looks, name, value)
    return looks


def test_the_first_batches_are_looked_at_and_compared_exactly() -> None:
    looks = Looks(budget=10)
    assert (looks.quick_ones(), looks.exact_ones()) == (2, 1)
    assert looks.draws_an_exact_one(Random(0))


@pytest.mark.parametrize(
    ("batch", "look", "count"),
    [(0.1, 0.01, 5), (0.1, 1.0, 2), (1.0, 1e-4, 128)],
    ids=["half the time of a batch", "two at least", "some at most"],
)
def test_quick_looks_take_half_as_long_as_the_batches(batch: float, look: float, count: int) -> None:
    assert spent(batch_seconds=20 * batch, quick_seconds=20 * look).quick_ones() == count


@pytest.mark.parametrize(("check", "count"), [(0.1, 10), (4.0, 1), (1e-5, 128)])
def test_a_close_look_takes_a_tenth_of_the_budget(check: float, count: int) -> None:
    assert spent(exact_seconds=5 * check).exact_ones() == count


def test_costly_exact_ones_are_drawn_as_seldom_as_their_share_asks_for() -> None:
    looks = spent(batch_seconds=20 * 0.1, quick_seconds=20 * 0.1, exact_seconds=5 * 0.3)
    random = Random(1)
    drawn = sum(looks.draws_an_exact_one(random) for _ in range(10_000))
    assert drawn / 10_000 == pytest.approx(0.15 * 0.2 / 0.3, abs=0.02)
    looks.exact_seconds = 5 * 0.001
    assert all(looks.draws_an_exact_one(random) for _ in range(100)), "cheap ones always"
