from typing import Any

import pytest

from leaderboard.reports import duration, event_line, result_text, table


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.5, "1.500 s"),
        (0.012345, "12.35 ms"),
        (1.2e-5, "12.00 µs"),
        (9.9999e-4, "1.000 ms"),
        (7.261e-9, "7.261 ns"),
        (12345.6, "12346 s"),
        (0.0, "0 s"),
        (None, "–"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_failed_case_shows_the_worst_element() -> None:
    error = {
        "output": "y",
        "mismatches": 3,
        "elements": 1000,
        "worst_index": [2, 999],
        "got": "nan",
        "want": "0.5",
    }
    document: dict[str, Any] = {
        "verdict": "wrong",
        "reason": "Case n=1000 differs.",
        "tests": [
            {"case": "a", "status": "passed"},
            {"case": "b", "status": "failed", "outputs": [error]},
        ],
        "compile": {"log": "kernel.cpp:3: warning: unused"},
    }
    text = result_text(document)
    assert "verdict: wrong (Case n=1000 differs.)" in text
    assert "tests: 1 passed, 1 not" in text
    assert "y: 3 of 1000 elements differ, worst at [2, 999]: got nan, want 0.5" in text
    assert "kernel.cpp:3: warning: unused" in text


def test_a_passed_run_shows_times_with_their_intervals() -> None:
    timing = {
        "case": "n=9",
        "status": "passed",
        "seconds": 1e-3,
        "ci_low": 0.9e-3,
        "ci_high": 1.1e-3,
        "floor_seconds": 5e-4,
    }
    score = {"seconds": 1e-3, "ci_low": 0.9e-3, "ci_high": 1.1e-3, "roofline": 0.5}
    text = result_text(
        {"verdict": "passed", "reason": "", "tests": [], "benchmarks": [timing], "score": score}
    )
    assert "n=9: 1.000 ms [900.0 µs to 1.100 ms], 50.0% of the roofline" in text
    assert "score: 1.000 ms [900.0 µs to 1.100 ms], 50.0% of the roofline" in text


def test_events_that_say_nothing_make_no_line() -> None:
    assert event_line({"type": "stage", "stage": "compile", "status": "started"}) == ""
    assert event_line({"type": "plan", "tests": 3, "benchmarks": 2}) == ""
    assert event_line({"type": "stage", "stage": "compile", "status": "passed", "seconds": 1.5}) == (
        "compile: passed in 1.500 s"
    )


def test_cases_are_spelled_as_asked_wherever_they_are_named() -> None:
    def spell(text: str) -> str:
        return text.replace("cpu-test-5", "n=5")

    case = {"case": "cpu-test-5", "status": "failed", "message": "Case cpu-test-5 differs."}
    timing = {"case": "cpu-test-5", "status": "passed", "seconds": 1e-3, "ci_low": 9e-4, "ci_high": 2e-3}
    document = {
        "verdict": "wrong",
        "reason": "Case cpu-test-5 differs.",
        "tests": [case],
        "benchmarks": [timing],
    }
    texts = [
        result_text(document, spell),
        event_line({"type": "test", "case": case}, spell),
        event_line({"type": "timing", "case": timing}, spell),
    ]
    assert [text.count("n=5") for text in texts] == [4, 2, 1]
    assert not any("cpu-test-5" in text for text in texts)


def test_tables_line_up() -> None:
    assert table([("a", "bb"), ("ccc", "d")]) == "a    bb\nccc  d"


def test_what_a_submission_says_does_not_command_the_terminal() -> None:
    case = {"status": "error", "case": "one", "message": "\x1b]0;title\x07 \x9b2J\ttab"}

    shown = event_line({"type": "test", "case": case})

    assert "\\x1b]0;title\\x07 \\x9b2J\ttab" in shown
    assert not any(character in shown for character in "\x1b\x07\x9b")
