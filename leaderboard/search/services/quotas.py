"""Holding users to their quotas, one call after the other."""

from django.contrib.auth.models import User

from leaderboard.models import TaskVersion
from leaderboard.search.selectors.quotas import quota_of
from leaderboard.search.selectors.starting import each_seconds
from leaderboard.services.errors import Refusal
from runners.models import Device


def lock_user(user: User) -> None:
    """Until the transaction ends, so that parallel calls are counted one by one. Before any run's row."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)


def require(*, user: User, runs: int = 0, measurements: int = 0, dollars: float = 0.0) -> None:
    """Raises Refusal too_many_runs, over_measurements, over_money. Locks the user's row."""
    lock_user(user)
    if refusal := quota_of(user).refusal(runs=runs, measurements=measurements, dollars=dollars):
        raise Refusal(*refusal)


def require_a_measurement(*, version: TaskVersion, device: Device, device_seconds: float) -> None:
    """Raises Refusal limits_wrong: a run that can't pay for one would end before it has begun."""
    needed = each_seconds(version, device)
    if device_seconds < needed:
        raise Refusal(
            "limits_wrong",
            f"A measurement of {version.task.title} sets aside {needed:.0f} device seconds until it ends; "
            f"{device_seconds:g} pay for none.",
        )
