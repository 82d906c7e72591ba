from datetime import UTC, datetime, timedelta

import pytest

from leaderboard.ranking import Entry, rank, speedup, widened

START = datetime(2026, 1, 1, tzinfo=UTC)


def entry(
    who: str, seconds: float, half: float = 0.0, *, minute: int = 0, baseline: bool = False
) -> Entry[str]:
    at = START + timedelta(minutes=minute)
    return Entry(who, baseline, seconds, seconds - half, seconds + half, at, f"{who}@{seconds}")


def places(*entries: Entry[str]) -> list[tuple[str, int | None, bool]]:
    return [(str(place.entry.entrant), place.rank, place.tied) for place in rank(entries)]


def test_fastest_first_with_ranks_from_one() -> None:
    assert places(entry("b", 2), entry("a", 1), entry("c", 3)) == [
        ("a", 1, False),
        ("b", 2, False),
        ("c", 3, False),
    ]


def test_only_the_best_entry_of_each_counts() -> None:
    found = rank([entry("a", 3), entry("a", 1), entry("b", 2), entry("a", 2)])
    assert [place.entry.item for place in found] == ["a@1", "b@2"]


def test_equal_times_go_to_the_earlier_entry() -> None:
    found = rank([entry("a", 1, minute=9), entry("b", 1, minute=2), entry("a", 1, minute=1)])
    assert [place.entry.entrant for place in found] == ["a", "b"]
    assert found[0].entry.created_at == START + timedelta(minutes=1)


def test_overlapping_intervals_share_a_rank_and_say_so() -> None:
    assert places(entry("a", 10, 1), entry("b", 11, 1), entry("c", 20, 1)) == [
        ("a", 1, True),
        ("b", 1, True),
        ("c", 3, False),
    ]


def test_overlap_is_with_the_leader_of_the_group_not_with_the_neighbour() -> None:
    chain = places(entry("a", 10, 1), entry("b", 11.5, 1), entry("c", 13, 1))
    assert chain == [("a", 1, True), ("b", 1, True), ("c", 3, False)]


def test_intervals_that_touch_overlap() -> None:
    assert places(entry("a", 10, 1), entry("b", 12, 1)) == [("a", 1, True), ("b", 1, True)]


def test_an_entry_between_two_of_a_group_ends_the_group() -> None:
    # b is too precise to overlap a; c overlaps both, and is measured against b, the leader of its group.
    assert places(entry("a", 10, 1), entry("b", 12, 0.5), entry("c", 12.2, 3)) == [
        ("a", 1, False),
        ("b", 2, True),
        ("c", 2, True),
    ]


def test_baselines_stand_in_order_without_a_rank_and_move_nobody() -> None:
    assert places(entry("a", 1), entry("eager", 2, 5, baseline=True), entry("b", 3)) == [
        ("a", 1, False),
        ("eager", None, False),
        ("b", 2, False),
    ]


def test_an_empty_board() -> None:
    assert rank([]) == []


def test_speedup_is_the_geometric_mean_over_shared_cases() -> None:
    assert speedup({"x": 4, "y": 1, "z": 9}, {"x": 1, "y": 1}) == pytest.approx(2)


def test_speedup_without_shared_cases_takes_the_means() -> None:
    assert speedup({"x": 4}, {"y": 1}, (6, 2)) == 3
    assert speedup({}, {"y": 1}) is None
    assert speedup(None, {"y": 1}) is None


def test_an_interval_narrower_than_the_noise_of_equal_runs_is_widened_to_it() -> None:
    low, high = widened(1.0, 0.999, 1.001, noise=0.01)
    assert low == pytest.approx(1 / 1.025)
    assert high == pytest.approx(1.025)


@pytest.mark.parametrize("noise", [None, 0.0, 0.001])
def test_an_interval_wider_than_the_noise_stays(noise: float | None) -> None:
    assert widened(1.0, 0.9, 1.2, noise) == (0.9, 1.2)
