"""Whole numbers from outside."""

import pytest

from leaderboard.numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("0012", 12), ("9" * 15, 10**15 - 1), ("9" * 16, None), ("9" * 5000, None)]
    + [(text, None) for text in ("", "-1", "+1", "1.0", " 1", "1_0", "½", "٣", "1e3")],
)
def test_only_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number
