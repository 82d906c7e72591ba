"""The rules by which a time is believed."""

import pytest

from leaderboard.trust import (
    Measured,
    agrees,
    below_floor,
    disturbed,
    doubt_of,
    measured_of,
    overlapping,
    room,
)
from runners.contract.vocabulary import DeviceKind

from .conftest import result_document


def measured(seconds: float, width: float = 0.01) -> Measured:
    return Measured(seconds, seconds * (1 - width), seconds * (1 + width), None, [])


def test_room_is_three_half_widths_of_both_and_some_at_least() -> None:
    assert room(measured(1, 0.001), measured(1, 0.001), DeviceKind.CUDA) == 0.05
    assert room(measured(1, 0.001), measured(1, 0.001), DeviceKind.CPU) == 0.25
    assert room(measured(1, 0.03), measured(2, 0.04), DeviceKind.CUDA) == pytest.approx(0.15)


@pytest.mark.parametrize(("second", "fits"), [(0.1, True), (1.0, True), (1.04, True), (1.06, False)])
def test_an_audit_may_be_faster_or_a_little_slower(second: float, fits: bool) -> None:
    assert agrees(measured(1), measured(second), DeviceKind.CUDA) is fits


def test_the_case_furthest_below_its_floor_is_named() -> None:
    document = result_document()
    found = measured_of(document)
    assert found is not None
    assert below_floor(found) == ""
    document["benchmarks"][0] |= {"seconds": 0.94e-3, "floor_seconds": 1e-3}
    document["benchmarks"][1] |= {"seconds": 0.6e-3, "floor_seconds": 1e-3}
    doubt = below_floor(measured_of(document))  # type: ignore[arg-type]
    assert "cpu-benchmark-2000" in doubt
    assert "60%" in doubt
    document["benchmarks"][1] |= {"floor_seconds": None}  # fits in the cache: no floor
    document["benchmarks"][0] |= {"seconds": 0.96e-3}
    assert below_floor(measured_of(document)) == ""  # type: ignore[arg-type]


def test_a_case_whose_calls_overlap_is_named() -> None:
    document = {"benchmarks": [{"case": "a"}, {"case": "b"}]}
    assert overlapping(document) == ""
    document["benchmarks"][1]["overlapping"] = "a call by itself takes 4 s, one of many 1 s"
    assert overlapping(document).startswith("Case b: a call by itself takes 4 s, one of many 1 s")


def test_a_disturbed_case_is_named() -> None:
    document = result_document()
    assert disturbed(document) == ""
    document["benchmarks"][1]["disturbed"] = "2 other processes used the device"
    doubt = disturbed(document)
    assert "cpu-benchmark-2000" in doubt
    assert "2 other processes" in doubt


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"floor_seconds": 2e-3}, "is 50% of"),
        ({"disturbed": "it was hot"}, "was timed twice"),
        ({"overlapping": "they overlap"}, "beside each other"),
        ({"floor_seconds": 2e-3, "disturbed": "it was hot"}, "is 50% of"),
    ],
)
def test_each_doubt_is_one_for_a_person(changes: dict[str, object], words: str) -> None:
    document = result_document(1e-3)
    document["benchmarks"][1] |= changes
    measured = measured_of(document)
    assert measured is not None
    doubt = doubt_of(measured, document)
    assert words in doubt
    assert bool(doubt) == bool(changes)
