"""What follows from a forecast's distribution."""

import math

import pytest

from surrogate.contract import bins
from surrogate.contract.documents import DocumentError, request_document, request_from
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage
from tests.surrogate.factories import request


def forecast(*masses: float, **more: object) -> Forecast:
    row = [*masses, *([0.0] * (bins.COUNT - len(masses)))]
    return Forecast.of(row, forecaster="model", version="1", **more)  # type: ignore[arg-type]


def spread_over(*letters: str) -> Forecast:
    return forecast(*[1.0 if letter in letters else 0.0 for letter in bins.LETTERS])


def test_probability_of_being_faster_splits_a_bin() -> None:
    even = spread_over("G", "H")  # a quarter octave to each side of the anchor
    assert even.p_faster_than(1.0) == pytest.approx(0.5)
    assert even.p_faster_than(2**0.125) == pytest.approx(0.25)
    assert even.p_faster_than(8.0) == pytest.approx(0.0)
    assert even.mean == pytest.approx(0.0)


def test_interval_and_seconds_follow_the_anchor() -> None:
    even = spread_over("G", "H")
    assert even.interval(0.8) == pytest.approx((-0.2, 0.2))
    middle, shortest, longest = even.seconds(1e-3)
    assert shortest == pytest.approx(1e-3 / 2**0.2)
    assert longest == pytest.approx(1e-3 * 2**0.2)
    assert middle == pytest.approx(1e-3)


def test_confidence_runs_from_even_to_certain() -> None:
    assert forecast(*bins.uniform()).confidence == pytest.approx(0.0)
    assert forecast(*bins.one_hot(3)).confidence == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("masses", "said"),
    [
        ([0.5, 0.5], "2 probabilities"),
        ([-1.0] * bins.COUNT, "bin A is -1.0"),
        ([math.nan] * bins.COUNT, "bin A is nan"),
        ([0.0] * bins.COUNT, "add up to 0.0"),
    ],
)
def test_no_forecast_is_made_of_nonsense(masses: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Forecast.of(masses, forecaster="model", version="1")


def test_p_correct_must_be_a_probability() -> None:
    with pytest.raises(ValueError, match=r"P\(correct\)"):
        forecast(1.0, p_correct=1.5)


def test_documents_keep_everything() -> None:
    one = forecast(0.25, 0.75, p_correct=0.5, rationale="why", usage=Usage(0.1, 1, 2, 3, 4, 0.5))
    assert Forecast.from_document(one.to_document()) == one
    asked = request()
    assert request_from(request_document(asked)) == asked


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kernel": None}, "'kernel' is not an object"),
        ({"task": {"slug": 3}}, "'slug' is not a text"),
        ({"neighbours": {}}, "'neighbours' is not a list"),
        ({"anchor": {"name": "a", "language": "cuda", "source": "", "case_seconds": {"x": 0}}}, "above zero"),
    ],
)
def test_documents_from_elsewhere_are_checked(change: dict[str, object], said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        request_from({**request_document(request()), **change})


def test_why_there_is_no_forecast_is_a_line_of_text_that_can_be_stored_and_shown() -> None:
    said = Abstention(AbstentionReason.DECLINED, "It\0 said:\n\u202eno\ud800.", "model", "1")
    assert said.message == "It said: no."
