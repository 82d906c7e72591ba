"""Cases have one spelling for people, whatever the measuring side calls them."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from leaderboard.case_names import described
from leaderboard.models import Submission, TaskVersion
from runners.contract.spec import TaskSpec


def test_every_name_of_a_case_is_spelled_as_in_tables(version: TaskVersion, spec: TaskSpec) -> None:
    for case in spec.cases:
        text = described(f"Case {case.name}: it ran over; {case.name}.", lambda: version)
        assert text == f"Case {case.describe()}: it ran over; {case.describe()}."
        longer = f"my-{case.name} and {case.name}-more"
        assert described(longer, lambda: version) == longer


def test_pages_and_api_use_that_spelling(
    spec: TaskSpec,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    client: Client,
) -> None:
    case = spec.cases[0]
    reason = f"Case {case.name}: y[3] is 1, the reference says 2."
    profile = {"case": case.name, "seconds": 1e-3}
    broken = {"case": case.name, "description": case.describe(), "status": "error"}
    stuck = {**broken, "message": f"A batch of calls in case {case.name} took too long."}
    document = {"score": None, "profile": profile, "tests": [stuck], "benchmarks": [stuck]}
    found = finish(submit(owner), verdict="wrong", reason=reason, **document)
    client.force_login(owner)
    html = client.get(f"/submissions/{found.pk}/").content.decode()
    wanted = f"Case {case.describe()}: y[3] is 1, the reference says 2."
    assert html.count(wanted) >= 2, "the verdict and what is read aloud"
    assert f"of case <code>{case.describe()}</code>" in html
    assert html.count(f"A batch of calls in case {case.describe()} took too long.") == 2
    assert case.name not in html
    api = APIClient()
    api.force_login(owner)
    assert api.get(f"/api/v1/submissions/{found.pk}/").json()["reason"] == wanted
