"""Reading what a language model answered."""

import json

import pytest

from surrogate.contract import bins
from surrogate.contract.answer import MAX_RATIONALE, parse_answer
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage


def answer(**changes: object) -> str:
    document: dict[str, object] = {
        "rationale": "Bound by memory.",
        "probabilities": dict.fromkeys(bins.LETTERS, 1 / bins.COUNT),
        "p_correct": 0.9,
    }
    return json.dumps({**document, **changes})


def parse(text: str) -> Forecast | Abstention:
    return parse_answer(text, forecaster="model", version="1", usage=Usage(output_tokens=7))


def test_a_good_answer_becomes_a_forecast() -> None:
    forecast = parse(answer())
    assert isinstance(forecast, Forecast)
    assert sum(forecast.probabilities) == pytest.approx(1.0)
    assert forecast.usage.output_tokens == 7


def test_sums_near_one_are_renormalised_and_the_raw_sum_is_kept() -> None:
    forecast = parse(answer(probabilities=dict.fromkeys(bins.LETTERS, 0.8 / bins.COUNT)))
    assert isinstance(forecast, Forecast)
    assert forecast.raw_sum == pytest.approx(0.8)
    assert sum(forecast.probabilities) == pytest.approx(1.0)


def test_a_long_rationale_is_cut() -> None:
    forecast = parse(answer(rationale="x" * 10_000))
    assert isinstance(forecast, Forecast)
    assert len(forecast.rationale) == MAX_RATIONALE


def test_a_rationale_is_a_line_of_text_that_can_be_stored_and_shown() -> None:
    forecast = parse(
        answer(
            rationale=" Fast.\0\n\tIt \u202eeman\u2066 is\u200b \ud83d<b>bound</b>\x1b[1m \u05d0é \U000e0041"
        )
    )
    assert isinstance(forecast, Forecast)
    assert forecast.rationale == "Fast. It eman is <b>bound</b>[1m \u05d0é"


even = dict.fromkeys(bins.LETTERS, 1 / bins.COUNT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "not a JSON object"),
        (answer(probabilities=[0.1] * bins.COUNT), "no object of probabilities"),
        (answer(probabilities={"A": 1.0}), "each bin once"),
        (answer(probabilities={**even, "Z": 0.0}), "each bin once: 'Z'"),
        (answer(probabilities={**even, "A": -0.1}), "-0.1 as probability of bin A"),
        (answer(probabilities={**even, "A": True}), "no number as probability of bin A"),
        (answer(probabilities={**even, "A": "0.1"}), "no number as probability of bin A"),
        (answer().replace(json.dumps(1 / bins.COUNT), "NaN", 1), "nan as probability of bin A"),
        (answer(probabilities=dict.fromkeys(bins.LETTERS, 0.0)), "add up to 0"),
        (answer(probabilities=dict.fromkeys(bins.LETTERS, 1.0)), "add up to 14"),
        (answer().replace('"B":', '"A":'), "the same thing twice"),
        (answer()[:-1] + ', "p_correct": 0.1}', "the same thing twice"),
        (answer(probabilities={**even, "\0\u202e": 0.0}), r"each bin once: '\x00\u202e'"),
        (answer(p_correct=1.2), "p_correct of 1.2"),
        (answer(p_correct=None), "no number as p_correct"),
        (answer(rationale=None), "no rationale"),
    ],
)
def test_malformed_answers_are_abstentions_that_say_why(text: str, said: str) -> None:
    abstention = parse(text)
    assert isinstance(abstention, Abstention)
    assert abstention.reason == AbstentionReason.MALFORMED
    assert said in abstention.message
    assert abstention.usage.output_tokens == 7
