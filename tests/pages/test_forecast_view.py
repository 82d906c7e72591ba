"""How a forecast is told: against rivals that it can tell apart, and against one too far ahead for that."""

import pytest
from django.template.loader import render_to_string

from leaderboard.forecast_view import Rival, view_of
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast

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
