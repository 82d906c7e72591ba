"""Every page answers, for whom it should, under one strict policy, and lets no stranger's text run."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Submission
from runners.models import Device, Runner
from tests.leaderboard.conftest import result_document
from tests.pages.conftest import HOSTILE

PUBLIC = [
    "/",
    "/devices/",
    "/surrogate/",
    "/surrogate/cpu-test/",
    "/searches/",
    "/searches/new/",
    "/tasks/double/",
    "/tasks/double/submit/",
    "/accounts/login/",
    "/accounts/signup/",
]
PERSONAL = ["/submissions/", "/settings/tokens/"]


def assert_clean(html: str) -> None:
    """Nothing that the policy would block: no inline script, no style element, attribute or handler."""
    for tag in re.findall(r"<script\b[^>]*>", html):
        assert "src=" in tag or 'type="application/json"' in tag, tag
    assert not re.search(r"<style\b", html)
    assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", re.sub(r"<(meta|link)[^>]*>", "", html))


@pytest.fixture
def finished(submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User) -> Submission:
    return finish(submit(owner))


@pytest.mark.parametrize("path", PUBLIC)
def test_public_pages_need_no_account(client: Client, finished: Submission, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert_clean(response.content.decode())


@pytest.mark.parametrize("path", PERSONAL)
def test_personal_pages_send_strangers_to_log_in(client: Client, owner: User, path: str) -> None:
    assert client.get(path)["Location"].startswith("/accounts/login/")
    client.force_login(owner)
    response = client.get(path)
    assert response.status_code == 200
    assert_clean(response.content.decode())


@pytest.mark.parametrize("path", [*PUBLIC, "/nothing/here/", "/admin/login/"])
def test_one_strict_policy_holds_everywhere(
    client: Client, finished: Submission, path: str, settings: Any
) -> None:
    # The admin site names its files through the storage, which knows none before collectstatic.
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    policy = client.get(path)["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if rule.strip())
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy


def test_a_private_submission_is_not_found_by_others(
    client: Client, finished: Submission, outsider: User, owner: User, staff: User
) -> None:
    paths = [f"/submissions/{finished.pk}/{part}" for part in ("", "live/", "source/")]
    for viewer in (None, outsider):
        if viewer:
            client.force_login(viewer)
        assert [client.get(path).status_code for path in paths] == [404, 404, 404]
        assert client.post(f"/submissions/{finished.pk}/cancel/").status_code in (302, 404)
    for viewer in (owner, staff):
        client.force_login(viewer)
        assert [client.get(path).status_code for path in paths] == [200, 200, 200]


def test_only_the_owner_can_publish(
    client: Client, finished: Submission, owner: User, outsider: User
) -> None:
    path = f"/submissions/{finished.pk}/visibility/"
    client.force_login(owner)
    client.post(path, {"is_public": "on"})
    finished.refresh_from_db()
    assert finished.is_public
    client.force_login(outsider)
    assert client.get(f"/submissions/{finished.pk}/").status_code == 200
    assert client.post(path).status_code == 403
    finished.refresh_from_db()
    assert finished.is_public


def test_a_failed_run_shows_the_case_and_runs_nothing_of_it(
    client: Client,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    failing_result: dict[str, Any],
) -> None:
    submission = finish(
        submit(owner, source=f"def kernel(x):\n    return 1  # {HOSTILE}\n"), **failing_result
    )
    client.force_login(owner)
    for path in (f"/submissions/{submission.pk}/", f"/submissions/{submission.pk}/live/"):
        html = client.get(path).content.decode()
        assert "Failed case: <code>n=5</code>" in html
        assert "y[2, 999]" in html
        assert "0.0012304" in html
        assert "3</span> of <span" in html
        assert "alert(" in html
        assert HOSTILE not in html
        assert "What it launched: a library's kernels" in html
        assert "outside the error budget" in html
        assert "12.5\u202f×</span> used" in html
        assert "43.0\u202f%</span> of the measured copy bandwidth" in html
        assert f'href="/submissions/{submission.pk}/trace/" download' in html
        assert_clean(html)


@pytest.mark.parametrize(
    ("language", "told", "not_told"),
    [
        ("python", ("What it launched", "a profiler in the submission"), ("as the compiler lists",)),
        ("cuda", ("What it may launch", "as the compiler lists them"), ("profiler", "What it launched")),
    ],
)
def test_whose_kernels_ran_is_told_with_where_the_names_come_from(
    client: Client,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    language: str,
    told: tuple[str, ...],
    not_told: tuple[str, ...],
) -> None:
    launches = [{"name": "mine", "on_device": True, "library": False}]
    submission = finish(submit(owner), language=language, launches=launches, work="own")
    client.force_login(owner)
    page = client.get(f"/submissions/{submission.pk}/live/").content.decode()
    assert all(words in page for words in told)
    assert not any(words in page for words in not_told)


def test_the_devices_clocks_and_temperature_stand_folded_under_how_it_was_measured(
    client: Client, submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User
) -> None:
    before = {"sm_clock": 1980, "temperature": 41, "power": 120.4, "throttled": [], "processes": 0}
    after = {**before, "sm_clock": 1755, "temperature": 67, "throttled": ["power cap"], "processes": 2}
    timings = result_document()["benchmarks"]
    timings[0]["condition"] = {"before": before, "after": after}
    client.force_login(owner)
    plain = finish(submit(owner))
    assert "SM clock" not in client.get(f"/submissions/{plain.pk}/live/").content.decode()
    submission = finish(submit(owner), benchmarks=timings)
    page = client.get(f"/submissions/{submission.pk}/live/").content.decode()
    _, _, folded = page.partition("<summary>How it was measured</summary>")
    cells = ("1980 → 1755", "41 → 67", "120 → 120", "0 → 2", "– → –")
    assert all(f'<td class="n">{cell}</td>' in folded for cell in cells)
    assert "<td>power cap</td>" in folded
    assert_clean(page)


def test_a_quarantined_device_says_why_and_staff_how_to_go_on(
    client: Client, device: Device, runner: Runner, owner: User, staff: User
) -> None:
    Runner.objects.update(host="rack-seven")
    Device.objects.update(quarantine_reason=f"GPU 3 did not answer (runner {runner.short_name}).")
    for viewer, sees_more in ((None, False), (owner, False), (staff, True)):
        if viewer is not None:
            client.force_login(viewer)
        page = client.get("/devices/").content.decode()
        assert f"GPU 3 did not answer (runner {runner.short_name})." in page
        assert "no runner of this device is given work, on any host; what waits is kept" in page
        assert ("/admin/runners/runner/" in page) is sees_more
        assert ("the other runners go on at once" in page) is sees_more
        assert "rack-seven" not in page


def test_the_largest_error_is_that_of_all_outputs(
    client: Client, submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User
) -> None:
    outputs = [
        {"output": "y", "max_abs_error": 1e-9, "max_rel_error": 1e-8},
        {"output": "z", "max_abs_error": 0.25, "max_rel_error": None},
    ]
    test = {"case": "a", "description": "n=5", "hidden": False, "status": "passed", "outputs": outputs}
    submission = finish(
        submit(owner), tests=[{**test, "allowance_used": 0.25, "repeats": 5, "deterministic": True}]
    )
    client.force_login(owner)
    page = client.get(f"/submissions/{submission.pk}/live/").content.decode()
    assert '<td class="n">2.50e-01</td><td class="n">not finite</td>' in page
    assert '<td class="n">25.0\u202f%</td>' in page
    assert '<span class="number">5</span> bit-identical' in page


def test_the_source_is_downloaded_as_text(client: Client, finished: Submission, owner: User) -> None:
    client.force_login(owner)
    response = client.get(f"/submissions/{finished.pk}/source/")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.content.decode() == finished.kernel.source


def test_the_board_shows_place_time_and_interval(
    client: Client, finished: Submission, device: Device
) -> None:
    html = client.get(f"/tasks/double/board/?device={device.slug}").content.decode().replace("\u202f", " ")
    assert "1.000 ms" in html
    assert "± 1.0 %" in html
    assert "50.0 %" in html
    assert ">owner</a>" in html
    assert f"/submissions/{finished.pk}/" not in html  # private: no link that leads nowhere
    assert '<a href="?device=cpu-test&amp;kernels=own">Own kernels</a>' in html
    narrowed = client.get(f"/tasks/double/board/?device={device.slug}&kernels=own").content.decode()
    assert "with this filter" in narrowed
    assert "version=1&amp;kernels=own" in narrowed  # where it fetches itself anew
    assert_clean(html)


@pytest.mark.parametrize(
    "query",
    [
        "kernels=mine",
        "device=none",
        "version=0",
        "version=x",
        "version=²",
        "version=99999999999",
        "device=%00",
    ],
)
def test_odd_addresses_are_not_found(client: Client, finished: Submission, query: str) -> None:
    assert client.get(f"/tasks/double/?{query}").status_code == 404


def test_a_task_tells_how_many_cores_its_device_has_for_a_run(
    client: Client, task: object, device: Device
) -> None:
    Device.objects.filter(pk=device.pk).update(facts={"cores": 1, "machine_cores": 2})
    html = client.get("/tasks/double/").content.decode()
    assert "1 of the machine’s 2 cores for a run. " in html
    assert f'<a href="/devices/#{device.slug}">' in html


def test_unknown_people_and_tasks_are_not_found(client: Client, owner: User) -> None:
    for path in ("/users/nobody/", "/tasks/none/", "/tasks/none/submit/", "/submissions/not-a-uuid/"):
        assert client.get(path).status_code == 404
    assert client.get("/users/owner/").status_code == 200


def test_pages_ask_a_fixed_number_of_questions(
    client: Client,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    outsider: User,
    django_assert_max_num_queries: Any,
) -> None:
    for user in (owner, outsider, owner, outsider):
        finish(submit(user))
    client.force_login(owner)
    # Two of each are for the state of the site, which every page may have to show.
    for path, most in (
        ("/", 14),
        ("/tasks/double/", 16),  # two for what is pending
        ("/tasks/double/submit/", 14),
        ("/submissions/", 8),
        ("/users/owner/", 10),
    ):
        with django_assert_max_num_queries(most):
            assert client.get(path).status_code == 200


def test_a_waiting_run_tells_the_wait_for_audits_that_may_overtake_it(
    client: Client, submit: Callable[..., Submission], owner: User, runner: Runner
) -> None:
    client.force_login(owner)
    first, second = submit(owner), submit(owner)
    said = "for audits that may go first"
    assert said not in client.get(f"/submissions/{first.pk}/").content.decode()
    html = client.get(f"/submissions/{second.pk}/").content.decode()
    assert 'place <span class="number">2</span>' in html
    assert said in html
