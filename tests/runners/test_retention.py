"""Raw data go when their time is over, and nothing else does."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from runners.models import Evaluation, EvaluationStatus, ProfileTrace
from runners.services import retention

RESULT: dict[str, Any] = {
    "verdict": "passed",
    "score": {"seconds": 1.0, "ci_low": 0.9, "ci_high": 1.1},
    "benchmarks": [{"case": "a", "seconds": 1.0, "samples": {"1": [1.0], "4": [4.0]}}],
    "compile": {"log": "fine", "listing": [{"kind": "asm", "lines": []}]},
    "profile": {"table": "aten::mul", "raw": "trace.json", "raw_bytes": 9},
    "left_out": ["the single times of case b"],
}


@pytest.fixture
def finished(enqueue: Callable[..., Evaluation]) -> Callable[[float], Evaluation]:
    def make(days: float) -> Evaluation:
        evaluation = enqueue()
        Evaluation.objects.filter(pk=evaluation.pk).update(
            status=EvaluationStatus.FINISHED,
            verdict="passed",
            result=RESULT,
            finished_at=timezone.now() - timedelta(days=days),
        )
        ProfileTrace.objects.create(evaluation=evaluation, content=b"raw")
        return evaluation

    return make


def test_what_is_kept_says_what_is_gone() -> None:
    kept = retention.without_raw(RESULT, 30)
    assert kept["benchmarks"] == [{"case": "a", "seconds": 1.0}]
    assert kept["compile"] == {"log": "fine"}
    assert kept["profile"] == {"table": "aten::mul"}
    assert kept["score"] == RESULT["score"]
    assert kept["left_out"] == [
        "the single times of case b",
        "single times, the compiler's listings, the profiler's raw report: for 30 days only",
    ]
    assert "samples" in RESULT["benchmarks"][0], "the document that was given is left as it is"


def test_a_document_without_raw_data_stays_as_it_is() -> None:
    document = {"verdict": "wrong", "benchmarks": [], "compile": None}
    assert retention.without_raw(document, 30) == document


def test_only_what_is_older_than_the_setting_goes(
    settings: Settings, finished: Callable[[float], Evaluation]
) -> None:
    settings.RAW_DAYS = 30
    old, young = finished(31), finished(29)
    assert retention.prune() == 1
    assert retention.prune() == 0, "once"
    old.refresh_from_db()
    young.refresh_from_db()
    assert old.result is not None
    assert "samples" not in old.result["benchmarks"][0]
    assert not old.raw_kept
    assert young.result == RESULT
    assert list(ProfileTrace.objects.values_list("evaluation", flat=True)) == [young.pk]


def test_nothing_goes_where_the_operator_keeps_all(
    settings: Settings, finished: Callable[[float], Evaluation]
) -> None:
    settings.RAW_DAYS = 0
    finished(10_000)
    assert retention.prune() == 0
    assert ProfileTrace.objects.count() == 1


def test_a_run_that_was_cancelled_while_it_waited_has_no_result(
    settings: Settings, finished: Callable[[float], Evaluation]
) -> None:
    settings.RAW_DAYS = 30
    evaluation = finished(31)
    Evaluation.objects.filter(pk=evaluation.pk).update(result=None)
    assert retention.prune() == 1
