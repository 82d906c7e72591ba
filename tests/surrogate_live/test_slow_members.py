"""Members that take seconds: overtaken by the measurement, asked once, and not asked while somebody types."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Submission
from surrogate import desk as desk_module
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.desk import QUICK, Desk
from surrogate.models import Anchor, Forecast
from surrogate.work import work_round
from tests.surrogate.factories import request

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def shown(submission: Submission) -> Forecast:
    return Forecast.objects.get(question__evaluation=submission.evaluation, is_shown=True)


def test_a_slow_member_that_is_overtaken_does_not_cost_the_quick_ones_their_forecast(
    submit: Submit, finish: Finish, owner: User, anchor: Anchor, desk: Desk
) -> None:
    class Overtaken:
        name, version = "local", "slow"

        def forecast(self, requests: object) -> list[ContractForecast]:
            finish(submission)
            return [ContractForecast.of((1.0,) * 14, forecaster=self.name, version=self.version)]

    desk.add("local", Overtaken())
    submission = submit(owner)
    work_round(desk)
    row = shown(submission)
    submission.evaluation.refresh_from_db()
    assert row.document is not None
    assert submission.evaluation.finished_at is not None
    assert row.created_at < submission.evaluation.finished_at
    assert not Forecast.objects.filter(forecaster__name="local").exists()


def test_nobody_is_asked_twice_where_there_are_slow_members(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk
) -> None:
    asked: list[str] = []

    class Slow:
        name, version = "local", "slow"

        def forecast(self, requests: object) -> list[ContractForecast]:
            asked.append(self.name)
            return [ContractForecast.of((1.0,) * 14, forecaster=self.name, version=self.version)]

    desk.add("local", Slow())
    assert desk.taught is not None
    for member in desk.taught.members:
        forecast = member.forecast

        def counted(requests: Any, name: str = member.name, forecast: Any = forecast) -> Any:
            asked.append(name)
            return forecast(requests)

        member.forecast = counted  # type: ignore[method-assign]
    submission = submit(owner)
    work_round(desk)
    assert sorted(asked) == sorted([*QUICK, "local"])
    assert shown(submission).document is not None
    assert Forecast.objects.filter(forecaster__name="local").exists()


def test_a_slow_member_is_asked_about_typed_text_only_where_it_will_answer_soon(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        name, version = "local", "slow"

        def forecast(self, requests: object) -> list[ContractForecast]:
            now["seconds"] += 2.0
            return [ContractForecast.of((1.0,) * 14, forecaster=self.name, version=self.version)]

    now = {"seconds": 100.0}
    monkeypatch.setattr(desk_module.time, "perf_counter", lambda: now["seconds"])
    monkeypatch.setattr(desk_module.time, "monotonic", lambda: now["seconds"])
    desk.add("local", Slow())
    assert desk.worth_waiting_for(["local"], 10_000) == ["local"]  # nothing known: it is tried
    desk.ask_slow(desk.inquire(request(kernel="x" * 1000), 1), ["local"])
    assert desk.worth_waiting_for(["local"], 1000) == ["local"]
    assert desk.worth_waiting_for(["local"], 10_000) == []  # 20 s, as it goes
    now["seconds"] += 16
    assert desk.worth_waiting_for(["local"], 10_000) == ["local"]
