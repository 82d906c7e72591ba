"""The default language model itself, where ``manage.py fetch_model`` has brought it."""

import pytest

pytest.importorskip("transformers", reason="needs the extra 'llm'")

import torch

from surrogate.contract.forecast import Forecast
from surrogate.fetch import default_weights
from surrogate.forecasters.local import LocalForecaster, build
from surrogate.forecasters.local_check import HIGHEST, perplexity
from surrogate.forecasters.local_weights import LocalConfig, converted
from tests.surrogate_llm.requests import KERNEL, request

#: In the checkout's own data folder: tests run with another one.
WEIGHTS = default_weights({})

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(not WEIGHTS.is_file(), reason="no weights: run manage.py fetch_model"),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other on a busy machine cost far more than they bring."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def default() -> LocalForecaster:
    forecaster = build({"KERNELHUB_LOCAL_MODEL": str(WEIGHTS)})
    assert forecaster.load() == ""
    return forecaster


def test_the_model_speaks_english():
    assert perplexity(converted(WEIGHTS)) < HIGHEST


def test_it_forecasts_and_mostly_answers_with_a_letter(default):
    answers = default.forecast([request(), request(KERNEL + KERNEL)])
    for answer in answers:
        assert isinstance(answer, Forecast)
        assert answer.raw_sum > 0.05


def test_eight_bits_stay_close_to_float32(default):
    precise = LocalForecaster(LocalConfig(str(WEIGHTS), int8=False))
    [one], [other] = default.forecast([request()]), precise.forecast([request()])
    assert one.probabilities == pytest.approx(other.probabilities, abs=0.1)
    assert one.mean == pytest.approx(other.mean, abs=0.3)
