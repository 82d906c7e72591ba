"""What charts are made of, without a database: bands, thinning, intervals, regret, differences."""

from itertools import combinations
from statistics import mean

import pytest

from leaderboard.search.drawing import FEWEST, band
from leaderboard.search.kinds import Kind
from leaderboard.search.pages.candidate import diff
from leaderboard.search.selectors.candidates import BadQuery, Query
from leaderboard.search.selectors.charts import Step, step_columns
from leaderboard.search.selectors.lineage import changed
from leaderboard.search.selectors.records import Judged, regrets
from leaderboard.search.thinning import MOST_SINGLE, Point, thinned
from leaderboard.templatetags.searches import settings_of

TIMES = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3, 5.8]


def test_a_band_agrees_with_all_draws_that_there_are() -> None:
    """Eight kernels and one that fails: every way to draw is counted."""
    found = band(TIMES, 1, 5)
    assert found is not None
    pool = [*TIMES, max(TIMES)]
    for count in range(1, 6):
        bests = sorted(min(draw) for draw in combinations(pool, count))
        assert found.expected[count - 1] == pytest.approx(mean(bests))
        for share, edge in ((0.1, found.low[count - 1]), (0.9, found.high[count - 1])):
            within = sum(best <= edge for best in bests) / len(bests)
            below = sum(best < edge for best in bests) / len(bests)
            assert below < share <= within or within == pytest.approx(share)


def test_a_band_ends_with_its_sample_and_says_nothing_from_few() -> None:
    found = band(TIMES, 0, 100)
    assert found is not None
    assert len(found.low) == len(TIMES)
    assert found.low[-1] == found.high[-1] == min(TIMES)
    assert band(TIMES[: FEWEST - 1], 0, 10) is None
    assert band([], 20, 10) is None


def test_thinning_keeps_every_kind_and_the_extremes() -> None:
    points = [
        Point(number, Kind.SKIPPED if number % 5 else Kind.MEASURED, None, 1.0 + number % 97)
        for number in range(10_000)
    ]
    points[4321] = Point(4321, Kind.SKIPPED, None, 0.001)
    points[7007] = Point(7007, Kind.SKIPPED, None, 5000.0)
    kept = thinned(points)
    assert len(kept) < 2 * MOST_SINGLE
    assert {4321, 7007} <= {point.number for point in kept}
    assert {point.kind for point in kept} == {Kind.SKIPPED, Kind.MEASURED}
    assert [point.number for point in kept] == sorted({point.number for point in kept})
    few = points[:MOST_SINGLE]
    assert thinned(few) == few


def test_settings_break_between_their_parts_only() -> None:
    assert settings_of({"rows": 4, "optimize": "fast-math,unroll-loops"}) == [
        ["optimize=fast-math,", "unroll-loops"],
        ["rows=4"],
    ]
    assert settings_of({}) == []


def test_an_interval_is_held_or_missed() -> None:
    item = Judged(1, 0, False, forecast=1.0, spread=1.0, seconds=2.0)
    assert (item.octaves, item.is_inside) == (1.0, True)
    assert item.low * item.high == pytest.approx(1.0)
    assert not Judged(1, 0, False, forecast=1.0, spread=0.5, seconds=2.0).is_inside


def test_regret_is_against_what_was_known_when_it_was_skipped() -> None:
    times = [(0, 8.0), (1, 4.0), (2, 1.0)]
    assert regrets([(1, 2.0), (2, 5.0), (0, 1.0)], times) == [4.0, 1.0, 1.0]


def test_changed_settings_are_named_and_a_starter_has_none() -> None:
    assert changed({"tile": 4, "fast": "no"}, {"tile": 8, "fast": "no"}) == (("tile", 4, 8),)
    assert changed({}, {"tile": 8}) == ()


def test_a_difference_shows_what_came_and_went() -> None:
    lines = diff("a\nb\n--- c\n", "a\nB\n--- c\n")
    assert [(line.kind, line.text) for line in lines] == [
        ("gap", "line 1"),
        ("same", "a"),
        ("removed", "b"),
        ("added", "B"),
        ("same", "--- c"),
    ]
    far = [f"{number}\n" for number in range(20)]
    gaps = [
        line.text
        for line in diff("".join(far), "".join(["new\n", *far[:15], *far[16:]]))
        if line.kind == "gap"
    ]
    assert gaps == ["line 1", "line 14"], "of the newer source"
    assert diff("a", "a") == []
    assert [line.kind for line in diff("--- c\n", "+++ d\n")] == ["gap", "removed", "added"]
    assert diff("x\n" * 5000, "y") == []


def test_steps_travel_as_columns() -> None:
    columns = step_columns([Step(3, 1.23456789, 2.0, 0.0, 1e-3, 7, improves=True)])
    assert columns["device_seconds"] == [1.23457]
    assert columns["number"] == [7]


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "odd"},
        {"operator": "x" * 500},
        {"sort": "seconds"},
        {"after": "1"},
        {"after": "nan~1"},
        {"after": "1e999~1"},
        {"after": "1~-1"},
        {"after": "1~99999999999"},
        {"after": "1~²"},
        {"after": "\0~1"},
    ],
)
def test_tables_are_asked_for_in_our_words_only(asked: dict[str, str]) -> None:
    with pytest.raises(BadQuery):
        Query.of(asked)
