"""Moves on a grid stay on it, keep to its rules, and are what they say."""

from random import Random

from leaderboard.search.grid import Grid, settings_of

GRID = Grid(
    {"block": (16, 32, 64, 128), "tile": (1, 2, 4), "memory": ("a", "b", "c")},
    lambda settings: dict(settings)["block"] * dict(settings)["tile"] <= 256,
)


def test_any_point_keeps_to_the_rules_and_reaches_all_of_them() -> None:
    random = Random(1)
    found = {GRID.any(random) for _ in range(2000)}
    allowed = {
        settings_of({"block": block, "tile": tile, "memory": memory})
        for block in GRID.parameters["block"]
        for tile in GRID.parameters["tile"]
        for memory in GRID.parameters["memory"]
        if block * tile <= 256
    }
    assert found == allowed


def test_a_neighbour_differs_in_one_parameter_or_two() -> None:
    random = Random(2)
    start = settings_of({"block": 32, "tile": 2, "memory": "a"})
    for _ in range(200):
        point = GRID.neighbour(start, random)
        assert point is not None
        assert GRID.allows(point)
        assert sum(one != other for one, other in zip(start, point, strict=True)) <= 2


def test_a_crossover_takes_every_value_from_a_parent() -> None:
    random = Random(3)
    one = settings_of({"block": 16, "tile": 1, "memory": "a"})
    other = settings_of({"block": 64, "tile": 4, "memory": "c"})
    children = {GRID.crossover(one, other, random) for _ in range(200)}
    assert len(children) > 4
    for child in children:
        assert child is not None
        assert all(item in (left, right) for item, left, right in zip(child, one, other, strict=True))


def test_equal_parents_have_no_crossover() -> None:
    point = settings_of({"block": 16, "tile": 1, "memory": "a"})
    assert GRID.crossover(point, point, Random(4)) is None


def test_a_grid_that_forbids_everything_gives_nothing_up() -> None:
    nothing = Grid({"block": (1, 2)}, lambda _: False)
    assert nothing.any(Random(5)) is None
    assert nothing.neighbour(settings_of({"block": 1}), Random(5)) is None
