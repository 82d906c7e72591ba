"""The default language model itself, where ``manage.py fetch_model`` has brought it."""

import pytest

pytest.importorskip("transformers", reason="needs the extra 'llm'")

from surrogate.contract.forecast import Forecast
from surrogate.fetch import default_weights
from surrogate.forecasters.local import LocalForecaster, build
from surrogate.forecasters.local_check import HIGHEST, perplexity
from surrogate.forecasters.local_weights import LocalConfig, converted
from tests.surrogate_llm.requests import KERNEL, request

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(not default_weights().is_file(), reason="no weights: run manage.py fetch_model"),
]


@pytest.fixture(scope="module")
def default() -> LocalForecaster:
    forecaster = build()
    assert forecaster.load() == ""
    return forecaster


def test_the_model_speaks_english():
    assert perplexity(converted(default_weights())) < HIGHEST


def test_it_forecasts_and_mostly_answers_with_a_letter(default):
    answers = default.forecast([request(), request(KERNEL + KERNEL)])
    for answer in answers:
        assert isinstance(answer, Forecast)
        assert answer.raw_sum > 0.05


def test_eight_bits_stay_close_to_float32(default):
    precise = LocalForecaster(LocalConfig(str(default_weights()), int8=False))
    [one], [other] = default.forecast([request()]), precise.forecast([request()])
    assert one.probabilities == pytest.approx(other.probabilities, abs=0.1)
    assert one.mean == pytest.approx(other.mean, abs=0.3)
