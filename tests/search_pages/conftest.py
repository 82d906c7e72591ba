"""A finished and a running search, measured without an engine, and everybody who may come to look."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.search.models import SearchRun
from leaderboard.search.services.stepping import Stepper
from runners.models import Device, Runner
from tests.search.conftest import device, measure_all, outsider, owner, runner, start, version  # noqa: F401

Start = Callable[..., SearchRun]
ROLES = ("anonymous", "outsider", "owner", "staff")


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_user("staff", is_staff=True)


@pytest.fixture
def ended(start: Start, runner: Runner, device: Device) -> SearchRun:  # noqa: F811
    """A private run that used up its ten measurements."""
    return to_end(start(measurements=10), runner, device)


@pytest.fixture
def client_of(owner: User, outsider: User, staff: User) -> Callable[[str], Client]:  # noqa: F811
    """By role: see ROLES."""
    users = {"owner": owner, "outsider": outsider, "staff": staff}

    def make(role: str) -> Client:
        client = Client()
        if role in users:
            client.force_login(users[role])
        return client

    return make


def to_end(run: SearchRun, runner: Runner, device: Device) -> SearchRun:  # noqa: F811
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    run.refresh_from_db()
    return run
