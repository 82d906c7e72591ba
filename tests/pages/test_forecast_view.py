"""How a forecast is told: against rivals that it can tell apart, and against one too far ahead for that."""

import pytest
from django.template.loader import render_to_string

from leaderboard.forecast_view import Rival, view_of
from leaderboard.templatetags.forecasters import rationale_words
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast
from surrogate.forecasters.neighbours import NeighboursForecaster
from tests.surrogate.factories import outcomes, request

#: Half of the mass in the bin before the open one, a fifth in the open one.
MASSES = (*[0.3 / (bins.COUNT - 2)] * (bins.COUNT - 2), 0.5, 0.2)


@pytest.mark.parametrize(
    ("ahead", "probability", "words"),
    [(2.0 ** bins.EDGES[-1], 0.2, "20\u202f%"), (1000.0, 0.2, "at most 20\u202f%")],
    ids=["at the open bin", "far inside it"],
)
def test_a_rival_too_far_ahead_has_an_upper_bound_only(ahead: float, probability: float, words: str) -> None:
    forecast = Forecast.of(MASSES, forecaster="test", version="1")
    view = view_of(forecast, 1.0, [Rival("first", 1 / ahead)])
    assert view.chances[0].probability == pytest.approx(probability)
    html = render_to_string("surrogate/_forecast.html", {"view": view})
    assert f'<dd class="number">{words}</dd>' in html


@pytest.mark.parametrize("known", [0, 40])
def test_kernels_that_nobody_knew_are_no_reason_for_a_forecast(known: int) -> None:
    forecaster = NeighboursForecaster()
    forecaster.fit(outcomes(known))
    (forecast,) = forecaster.forecast([request()])
    assert isinstance(forecast, Forecast)
    context = {"view": view_of(forecast, 1.0, []), "with_rationale": True}
    html = render_to_string("surrogate/_forecast.html", context)
    assert ("No similar kernel was known: the forecast comes from source, task and device" in html) == (
        not known
    )
    assert ("From how 16 similar kernels turned out. The closest counts" in html) == bool(known)
    assert "0.00" not in html


def test_a_vote_that_rounds_to_nothing_was_none() -> None:
    assert "No similar kernel" in rationale_words("16 similar kernels, the closest with weight 0.00.")
    said = "16 similar kernels, the closest with weight 0.01."
    assert rationale_words(said) == said
