"""What may be promised of skips: from a record, where it is long enough, and nowhere else."""

from random import Random

import pytest
from django.contrib.auth.models import User
from django.test import Client

from surrogate.contract import bins
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.models import Anchor, Forecast, GuaranteeVersion
from surrogate.policy import Action
from surrogate.services import answers, guarantees, places
from surrogate.services.answers import Given
from surrogate.services.guarantees import EVERY, LEAST
from tests.surrogate_live.judged import ask_one, judge_one, unlike

NAME = "statistical"
PLACE = "double"


def losers(anchor: Anchor, count: int, *, seed: int = 0, wrong: float = 0.0, source: str = "") -> None:
    """Kernels forecast to be slower than the anchor, more or less surely; a share of them is faster."""
    draw = Random(seed)
    for _ in range(count):
        truth = 1.0 if draw.random() < wrong else -1.0
        guess = draw.uniform(-1.0, -0.4)
        judge_one(anchor, {NAME: guess}, truth, source=source or unlike(draw), spread=0.4)


def refit() -> GuaranteeVersion | None:
    guarantees.refit_due(places.records())
    return GuaranteeVersion.objects.order_by("-pk").first()


def asked(anchor: Anchor, guess: float, *, version: str = "1") -> Forecast:
    """A new forecast, made with what is guaranteed by now."""
    question = ask_one(anchor, unlike(Random(f"{guess} {version}")))
    forecast = ContractForecast.of(bins.normal(guess, 0.4), forecaster=NAME, version=version)
    place = places.Place(NAME, "1", anchor.device_id, PLACE)
    given = Given(forecast, forecast.probabilities, guarantee=guarantees.newest_guarantees().get(place))
    assert answers.close(question=question, answers={NAME: given}, shown=NAME, anchor=anchor)
    return Forecast.objects.get(question=question)


def test_too_few_outcomes_promise_nothing(anchor: Anchor) -> None:
    losers(anchor, LEAST - 1)
    assert refit() is None
    assert asked(anchor, -0.6).guarantee is None


def test_enough_outcomes_promise_skips_and_each_version_is_kept(anchor: Anchor) -> None:
    losers(anchor, LEAST)
    first = refit()
    assert first is not None
    assert first.score is not None
    assert (first.family, first.device, first.cases, first.errors) == (PLACE, anchor.device, LEAST, 0)
    assert first.bound is not None
    assert first.bound <= first.risk
    assert refit() == first
    losers(anchor, EVERY, seed=1)
    second = refit()
    assert second is not None
    assert second.pk != first.pk
    assert GuaranteeVersion.objects.count() == 2


def test_the_policy_skips_on_the_guarantee_and_says_so(anchor: Anchor) -> None:
    # Too unsure to be skipped without a guarantee: one in twenty or so would win.
    assert asked(anchor, -0.7).action == Action.DEFER
    losers(anchor, 60)
    row = refit()
    assert row is not None
    with_guarantee = asked(anchor, -0.75)
    assert (with_guarantee.action, with_guarantee.guarantee) == (Action.AUDIT, row)
    # A likely winner is never skipped, whatever the record; another recipe has no record.
    assert asked(anchor, 0.5).action == Action.MEASURE
    elsewhere = asked(anchor, -0.76, version="2")
    assert (elsewhere.action, elsewhere.guarantee) == (Action.DEFER, None)


def test_a_record_of_broken_words_promises_nothing_and_says_why(anchor: Anchor) -> None:
    losers(anchor, LEAST + 10, wrong=0.4)
    row = refit()
    assert row is not None
    assert row.score is None
    assert row.doubt.startswith("Too many won after all of the ")
    refused = asked(anchor, -0.7)
    assert (refused.action, refused.guarantee) == (Action.DEFER, None)


def test_near_copies_count_once(anchor: Anchor) -> None:
    losers(anchor, LEAST, source=unlike(Random(5)))
    row = refit()
    assert row is not None
    assert (row.outcomes, row.cases, row.score) == (LEAST, 1, None)
    assert row.doubt.startswith("Only 1 ")


def test_kernels_are_judged_by_the_time_to_beat_when_they_were_forecast(anchor: Anchor) -> None:
    draw = Random(3)
    for _ in range(LEAST):
        # Half as fast as the anchor, twice as fast as what was to beat: no loser, so no case.
        judge_one(
            anchor,
            {NAME: -1.0},
            -1.0,
            source=unlike(draw),
            spread=0.4,
            incumbent_seconds=anchor.seconds * 4,
        )
    row = refit()
    assert row is not None
    assert row.cases == 0


@pytest.mark.parametrize("count", [7, 60])
def test_the_page_says_where_it_holds_and_what_is_missing(anchor: Anchor, client: Client, count: int) -> None:
    losers(anchor, count)
    refit()
    page = client.get(f"/surrogate/{anchor.device.slug}/").content.decode()
    assert "What its record allows" in page
    assert ("holds</span>" in page) == (count == 60)
    # Columns of numbers only where there are some: without them the sentences fit a phone.
    assert ("Threshold <small>" in page, 'class="stacked"' in page) == (count == 60, count == 7)
    assert (f"At least {LEAST - 7} more kernels must be judged" in page) == (count == 7)
    assert "It does not hold for other tasks, devices or forecasters" in page


def test_the_submission_tells_what_is_promised(anchor: Anchor, owner: User) -> None:
    from leaderboard.selectors.forecasts import _view

    losers(anchor, 60)
    refit()
    view = _view(asked(anchor, -0.75))
    assert "Of such skips at most 10% would beat the first, with 90% confidence, as 60 kernels" in view.policy
