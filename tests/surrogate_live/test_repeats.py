"""A kernel that was measured before is forecast from its own record."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Submission
from runners.contract.vocabulary import Verdict
from runners.models import Runner
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.contract.repeats import Repeats
from surrogate.desk import Desk
from surrogate.forecasters.repeats import VERSION, with_repeats
from surrogate.models import Anchor, Forecast
from surrogate.selectors.repeats import repeats_of
from surrogate.visibility import asker_of
from surrogate.work import work_round
from tests.leaderboard.conftest import PYTHON, finish_evaluation, result_document

Submit = Callable[..., Submission]
SOURCE = "def kernel(x):\n    return x * 2 + 0\n"
DOUBTFUL = ContractForecast.of(bins.uniform(), forecaster="ensemble", version="1", p_correct=0.37)


@pytest.mark.parametrize("ratio", [-3.2, -0.125, 0.0, 0.03, 0.9, 2.2, 3.4])
def test_the_measured_time_is_the_forecast(ratio: float) -> None:
    told = with_repeats(DOUBTFUL, Repeats(passed_here=1, log2_ratios=(ratio,), noise=0.01))
    assert isinstance(told, ContractForecast)
    assert told.mean == pytest.approx(ratio, abs=0.03)
    low, high = told.interval()
    assert low <= ratio <= high
    assert min(told.probabilities) >= 0


def test_a_record_is_believed_but_never_wholly() -> None:
    assert Repeats().p_correct is None
    for passed in (1, 5, 1000):
        assert 0.95 < (Repeats(passed_here=passed).p_correct or 0) < 1
    assert 0 < (Repeats(failed_here=1).p_correct or 1) < 0.05
    assert Repeats(passed_here=1, failed_here=1).p_correct == 0.5
    assert 0.9 < (Repeats(passed_elsewhere=1).p_correct or 0) < (Repeats(passed_here=1).p_correct or 0)


def test_what_failed_or_ran_elsewhere_keeps_the_time_that_was_inferred() -> None:
    assert with_repeats(DOUBTFUL, Repeats()) is DOUBTFUL
    told = with_repeats(DOUBTFUL, Repeats(passed_elsewhere=1))
    assert isinstance(told, ContractForecast)
    assert told.probabilities == DOUBTFUL.probabilities
    assert told.p_correct != DOUBTFUL.p_correct
    assert told.version != DOUBTFUL.version


def test_the_same_source_again_is_forecast_as_it_was_measured(
    submit: Submit, owner: User, outsider: User, runner: Runner, anchor: Anchor, desk: Desk
) -> None:
    first = submit(owner, source=SOURCE, is_public=True)
    work_round(desk)
    finish_evaluation(runner, first.evaluation, result_document(2.3e-3))
    work_round(desk)  # records the outcome
    again = submit(outsider, source=SOURCE)
    work_round(desk)
    row = Forecast.objects.get(question__evaluation=again.evaluation, is_shown=True)
    forecast = ContractForecast.from_document(row.document)
    assert forecast.seconds(anchor.seconds)[0] == pytest.approx(2.3e-3, rel=0.02)
    assert 0.9 < (forecast.p_correct or 0) < 1
    assert (row.forecaster.name, row.forecaster.recipe) == ("ensemble", VERSION)


def test_runs_count_only_for_their_own_source(
    submit: Submit, owner: User, runner: Runner, anchor: Anchor, desk: Desk
) -> None:
    failed = submit(owner, source=SOURCE)
    wrong = result_document(verdict=Verdict.WRONG, reason="It is wrong.", score=None)
    finish_evaluation(runner, failed.evaluation, wrong)
    work_round(desk)

    def record(source: str) -> Repeats:
        return repeats_of(language="python", source=source, anchor=anchor, asker=owner.pk)

    assert record(SOURCE) == Repeats(failed_here=1)
    assert record(SOURCE + "\n") == record(PYTHON) == Repeats()
    kernel = anchor.evaluation.kernel
    reference = repeats_of(language=kernel.language, source=kernel.source, anchor=anchor, asker=None)
    assert (reference.passed_here, reference.log2_ratio) == (1, 0.0)


def test_a_private_run_is_the_record_of_its_owner_alone(
    submit: Submit, owner: User, outsider: User, runner: Runner, anchor: Anchor, desk: Desk
) -> None:
    private = submit(owner, source=SOURCE)
    finish_evaluation(runner, private.evaluation, result_document(2.3e-3))
    work_round(desk)

    def record(user: User | None) -> Repeats:
        asker = None if user is None else user.pk
        return repeats_of(language="python", source=SOURCE, anchor=anchor, asker=asker)

    assert record(owner).passed_here == 1
    assert record(outsider) == record(None) == Repeats()
    Submission.objects.filter(pk=private.pk).update(is_public=True)
    assert record(outsider).passed_here == 1
    assert asker_of(private.evaluation_id) == owner.pk
