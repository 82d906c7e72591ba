"""The best kernel of an ended run on the board: by itself or because its owner asks, once, and marked."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.models import Submission, TaskVersion
from leaderboard.search.loop import MOST_OPENINGS
from leaderboard.search.models import SearchRun
from leaderboard.search.pages.overview import overview_of
from leaderboard.search.selectors import runs as selectors
from leaderboard.search.services import entering, runs
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.stepping import Stepper
from leaderboard.selectors import boards
from leaderboard.services import tasks
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Verdict
from runners.models import Device, Lane, Runner
from runners.services import evaluations
from tests.search.conftest import claimed, finish, made_up_seconds, measure_all

Start = Callable[..., SearchRun]


@pytest.fixture
def ended(start: Start, runner: Runner, device: Device) -> SearchRun:
    """A run that found something and enters nothing by itself."""
    run = start(measurements=8)
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    run.refresh_from_db()
    return run


def refused(run: SearchRun, user: User) -> str:
    with pytest.raises(Refusal) as found:
        entering.enter(run=SearchRun.objects.get(pk=run.pk), user=user)
    return found.value.rule


def test_the_owner_enters_it_once(ended: SearchRun, owner: User, outsider: User) -> None:
    assert entering.due() == []
    with pytest.raises(PermissionDenied):
        entering.enter(run=ended, user=outsider)
    submission = entering.enter(run=ended, user=owner)
    ended.refresh_from_db()
    assert ended.entered == submission
    assert (submission.user, submission.machine_written, submission.mode) == (owner, True, "ranked")
    assert refused(ended, owner) == "entered_before"
    assert Submission.objects.count() == 1


def test_a_page_read_while_the_best_is_entered_goes_on(ended: SearchRun, owner: User) -> None:
    """It has the state from before the entry with the log from after it, and must ask once more."""
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    before = SearchRun.objects.get(pk=ended.pk)
    assert entering.enter_best(run=SearchRun.objects.get(pk=ended.pk))
    assert not overview_of(before, is_owner=True).is_over
    assert overview_of(SearchRun.objects.get(pk=ended.pk), is_owner=True).is_over


def test_what_is_not_entered(start: Start, ended: SearchRun, owner: User) -> None:
    going = start()
    assert refused(going, owner) == "run_going"
    runs.cancel(run=going, user=owner)
    assert refused(going, owner) == "nothing_found"
    TaskVersion.objects.update(is_current=False)
    assert refused(ended, owner) == "run_changed"
    assert not Submission.objects.exists()


def test_nothing_is_entered_on_a_version_it_was_not_measured_on(ended: SearchRun) -> None:
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    source = load(CATALOG / "softmax")
    reference = f"# Said otherwise.\n{source.spec.reference}"
    tasks.load_task(source=replace(source, spec=replace(source.spec, reference=reference)))
    (due,) = entering.due()
    assert entering.enter_best(run=due) is None
    assert not Submission.objects.exists()
    assert entering.due() == [], "it is not tried again"
    event = ended.events.latest("seq")
    assert "new version" in event.document["message"]


def test_what_ended_long_ago_is_entered_only_when_its_owner_asks(ended: SearchRun, owner: User) -> None:
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    assert [run.pk for run in entering.due()] == [ended.pk]
    long_ago = timezone.now() - selectors.DUE_FOR - timedelta(seconds=1)
    SearchRun.objects.filter(pk=ended.pk).update(finished_at=long_ago)
    assert entering.due() == []
    overview = overview_of(SearchRun.objects.get(pk=ended.pk), is_owner=True)
    assert (overview.can_enter, overview.is_over) == (True, True), "the page offers it, and waits for nothing"
    assert entering.enter(run=SearchRun.objects.get(pk=ended.pk), user=owner)


def test_a_run_whose_starter_has_no_time_may_enter_its_best_all_the_same(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    """As when that failed through the site's own fault, and once more: nothing is measured in its place."""
    run = start(measurements=4)
    stepper = Stepper(run)
    for _ in range(MOST_OPENINGS):
        stepper.step()
        (opening,) = claimed(runner, device)
        finish(opening, verdict=Verdict.INTERNAL_ERROR)
    while stepper.step():
        measure_all(runner, device)
    run.refresh_from_db()
    assert (run.starter_seconds, run.measurements_spent) == (None, 4)
    assert overview_of(run, is_owner=True).can_enter
    assert entering.enter(run=run, user=owner)


def test_a_refusal_is_no_entry_and_the_owner_may_ask_again(
    ended: SearchRun, owner: User, device: Device
) -> None:
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    Device.objects.filter(pk=device.pk).update(is_open=False)
    entering.enter_best(run=SearchRun.objects.get(pk=ended.pk))
    assert refused(ended, owner) == "device_closed"
    assert not Submission.objects.exists()
    Device.objects.filter(pk=device.pk).update(is_open=True)
    assert entering.due() == [], "it was refused once, and nobody asked again"
    again = SearchRun.objects.get(pk=ended.pk)
    assert entering.enter(run=again, user=owner) == Submission.objects.get()


def test_board_and_api_mark_it(ended: SearchRun, owner: User, device: Device, runner: Runner) -> None:
    api = APIClient()
    api.force_login(owner)
    made = api.post(f"/api/v1/searches/{ended.pk}/enter/")
    assert made.status_code == 201, made.json()
    evaluation = evaluations.claim_next(queue=device.slug, runner=runner)
    assert evaluation is not None
    assert evaluation.lane == Lane.PERSON
    seconds = made_up_seconds(evaluation.kernel.source)
    score = {"seconds": seconds, "ci_low": seconds, "ci_high": seconds, "roofline": None}
    result = {"verdict": "passed", "reason": "", "device_seconds": 1.0, "benchmarks": [], "score": score}
    assert evaluations.finish(evaluation=evaluation, result=result)
    (row,) = boards.board(ended.version, device).rows
    assert row.machine_written
    told = api.get(f"/api/v1/submissions/{made.json()['submission']}/").json()
    assert told["machine_written"] is True
    told = api.get(f"/api/v1/tasks/softmax/board/?device={device.slug}").json()
    assert [item["machine_written"] for item in told["rows"]] == [True]
    assert "machine-written" in api.get(f"/tasks/softmax/?device={device.slug}").content.decode()


def go_on(run: SearchRun, owner: User, runner: Runner, device: Device, seconds: float) -> SearchRun:
    """Raise the limits of a run; all that is measured now takes so long."""
    runs.extend(run=run, user=owner, more=Limits(4, 0, 0))
    stepper = Stepper(run)
    while stepper.step():
        while evaluation := evaluations.claim_next(queue=device.slug, runner=runner):  # entries too
            finish(evaluation, seconds=seconds)
    run.refresh_from_db()
    assert run.status == "finished"
    return run


def page_of(run: SearchRun, owner: User) -> str:
    client = Client()
    client.force_login(owner)
    return client.get(f"/searches/{run.pk}/").content.decode()


def test_a_better_kernel_that_was_found_later_is_entered_too(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    def entry_after(seconds: float) -> Submission | None:
        run = go_on(SearchRun.objects.get(), owner, runner, device, seconds)
        assert 'id="enter"' not in page_of(run, owner), "it is entered by itself in a moment"
        (due,) = entering.due()
        entry = entering.enter_best(run=due)
        assert entering.due() == [], "it is asked once after each ending"
        return entry

    start(measurements=4, enters_best=True)
    assert entry_after(1.0) is None, "nothing is faster than the starter"
    first, second = entry_after(1e-5), entry_after(1e-6)
    assert first is not None
    assert second is not None
    assert first.kernel != second.kernel
    run = SearchRun.objects.get()
    assert run.entered == second
    assert refused(run, owner) == "entered_before"
    assert entry_after(1.0) is None
    run.refresh_from_db()
    assert run.entered == second
    assert "The best kernel is <a" in page_of(run, owner)


def test_the_owner_enters_a_better_kernel_that_was_found_later(
    ended: SearchRun, owner: User, runner: Runner, device: Device
) -> None:
    first = entering.enter(run=ended, user=owner)
    assert 'id="enter"' not in page_of(ended, owner)
    run = go_on(SearchRun.objects.get(pk=ended.pk), owner, runner, device, 1e-5)
    page = page_of(run, owner)
    assert 'id="enter"' in page
    assert "The best kernel of before is <a" in page
    second = entering.enter(run=run, user=owner)
    run.refresh_from_db()
    assert run.entered == second != first
    assert second.kernel != first.kernel
    assert refused(run, owner) == "entered_before"
    assert [selectors.entered_as(item, owner) for item in (first, second)] == [run, run]


def test_a_kernel_is_entered_by_one_of_two_that_ask(ended: SearchRun, owner: User) -> None:
    one, other = SearchRun.objects.get(pk=ended.pk), SearchRun.objects.get(pk=ended.pk)
    entering.enter(run=one, user=owner)
    with pytest.raises(Refusal) as found:
        entering.enter(run=other, user=owner)
    assert found.value.rule == "entered_before"
    assert Submission.objects.count() == 1


def test_of_two_workers_one_enters_it(ended: SearchRun) -> None:
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    (one,), (other,) = entering.due(), entering.due()
    assert entering.enter_best(run=one) == Submission.objects.get()
    assert entering.enter_best(run=other) is None
    assert ended.events.filter(kind="entered").count() == 1


def test_a_run_that_goes_on_is_not_entered_by_a_worker_that_saw_it_ended(
    ended: SearchRun, owner: User
) -> None:
    SearchRun.objects.filter(pk=ended.pk).update(enters_best=True)
    (due,) = entering.due()
    runs.extend(run=ended, user=owner, more=Limits(4, 0, 0))
    assert entering.enter_best(run=due) is None
    assert not Submission.objects.exists()
    assert not ended.events.filter(kind="entered").exists()
