"""Scores, boards, history, records and the home page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from pytest_django import DjangoAssertNumQueries

from leaderboard.models import Score, Submission, TaskVersion
from leaderboard.selectors import boards, tasks, users
from leaderboard.services import baselines, scores, submissions
from leaderboard.services.tasks import load_task
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, Lane, Runner
from runners.signals import device_registered

from .conftest import catalog_task

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def test_ranked_runs_that_pass_score_and_others_do_not(submit: Submit, finish: Finish, owner: User) -> None:
    finish(submit(owner, mode="benchmark"))
    finish(submit(owner), verdict=Verdict.WRONG, reason="Case 1 differs.", score=None)
    assert not Score.objects.exists()
    submission = finish(submit(owner), 2e-3)
    score = Score.objects.get()
    assert (score.submission_id, score.user, score.seconds) == (submission.pk, owner, 2e-3)
    assert [case["case"] for case in score.cases] == ["cpu-benchmark-1000", "cpu-benchmark-2000"]


def test_scoring_twice_scores_once(submit: Submit, finish: Finish, owner: User) -> None:
    evaluation = finish(submit(owner)).evaluation
    scores.record(evaluation=evaluation)
    assert Score.objects.count() == 1


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_times_never_reach_a_board(
    submit: Submit, finish: Finish, owner: User, seconds: float
) -> None:
    measured = {"seconds": seconds, "ci_low": seconds, "ci_high": seconds, "roofline": None}
    evaluation = finish(submit(owner)).evaluation
    Score.objects.all().delete()
    evaluation.result["score"] = measured
    assert scores.record(evaluation=evaluation) is None
    assert not Score.objects.exists()


def test_a_board_orders_people_and_baselines(
    submit: Submit, finish: Finish, owner: User, outsider: User, version: TaskVersion, device: Device
) -> None:
    assert baselines.enqueue_missing(device) == 2
    eager, compiled = Submission.objects.order_by("-baseline")
    finish(eager, 4e-3, cases=(4e-3, 4e-3))
    finish(compiled, 3e-3)
    finish(submit(owner), 2e-3, cases=(1e-3, 4e-3))
    finish(submit(owner), 9e-3)
    finish(submit(outsider, is_public=True), 1e-3)
    board = boards.board(version, device, owner)
    assert [(row.rank, row.username, row.baseline) for row in board.rows] == [
        (1, "outsider", ""),
        (2, "owner", ""),
        (None, None, "compiled"),
        (None, None, "eager"),
    ]
    assert board.total == 2
    assert board.rows[1].speedup == pytest.approx((4 * 1) ** 0.5)
    assert board.rows[3].speedup == pytest.approx(1)
    assert [column.description for column in board.cases] == ["n=1000", "n=2000"]
    assert [cell.seconds for cell in board.rows[1].cases if cell] == [1e-3, 4e-3]
    assert board.seq == 5 + 2  # two of the five scores were audited


def test_times_that_differ_by_less_than_equal_runs_do_share_a_rank(
    submit: Submit, finish: Finish, owner: User, outsider: User, version: TaskVersion, device: Device
) -> None:
    finish(submit(owner), 1e-3)
    finish(submit(outsider), 1.2e-3)
    ranks = [(row.rank, row.tied) for row in boards.board(version, device).rows]
    assert ranks == [(1, False), (2, False)]
    Device.objects.filter(pk=device.pk).update(noise=0.1)
    ranks = [(row.rank, row.tied) for row in boards.board(version, device).rows]
    assert ranks == [(1, True), (1, True)]


def test_a_board_can_be_narrowed_to_whose_kernels_ran(
    submit: Submit, finish: Finish, owner: User, outsider: User, version: TaskVersion, device: Device
) -> None:
    """Among those shown the ranks begin at one, and whoever leads a view was audited like any leader."""
    baselines.enqueue_missing(device)
    finish(Submission.objects.get(baseline="eager"), 4e-3)
    finish(submit(owner), 1e-3, work="library")
    own = finish(submit(owner), 3e-3, work="own", audit=False)
    assert [(row.rank, row.standing) for row in boards.board(version, device, owner, "own").rows] == [
        (None, "auditing"),
        (None, "ranked"),
    ]
    Score.objects.filter(submission=own).update(standing="ranked")
    finish(submit(outsider), 2e-3, work="library")
    finish(submit(outsider), 5e-3, work="anything")

    def seen(kernels: str) -> list[tuple[int | None, str | None, str]]:
        shown = boards.board(version, device, owner, kernels)
        assert shown.kernels == kernels
        return [(row.rank, row.username, row.work) for row in shown.rows]

    assert seen("own") == [(1, "owner", "own"), (None, None, "")]
    assert seen("library") == [(1, "owner", "library"), (2, "outsider", "library"), (None, None, "")]
    assert seen("") == [(1, "owner", "library"), (2, "outsider", "library"), (None, None, "")]


def test_links_are_shown_to_those_who_may_follow_them(
    submit: Submit,
    finish: Finish,
    owner: User,
    outsider: User,
    staff: User,
    version: TaskVersion,
    device: Device,
) -> None:
    submission = finish(submit(owner))

    def shown(viewer: User | AnonymousUser | None) -> bool:
        return boards.board(version, device, viewer).rows[0].submission_visible

    assert [shown(viewer) for viewer in (owner, staff, outsider, AnonymousUser(), None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    submissions.set_visibility(user=owner, submission=submission, is_public=True)
    assert shown(outsider)
    assert shown(AnonymousUser())


def test_overlapping_entries_share_a_rank(
    submit: Submit, finish: Finish, owner: User, outsider: User, version: TaskVersion, device: Device
) -> None:
    finish(submit(owner), 1.00e-3)
    finish(submit(outsider), 1.01e-3)
    assert [(row.rank, row.tied) for row in boards.board(version, device).rows] == [(1, True), (1, True)]


def test_versions_never_mix(
    submit: Submit, finish: Finish, owner: User, version: TaskVersion, device: Device
) -> None:
    finish(submit(owner))
    load_task(source=catalog_task(reference="def reference(x):\n    return x + x\n"))
    new = tasks.current_version(version.task)
    assert new.number == 2
    assert not boards.board(new, device).rows
    assert len(boards.board(version, device).rows) == 1
    finish(submit(owner))
    assert len(boards.board(new, device).rows) == 1
    assert len(boards.history(version, device)) == 1


def test_history_keeps_only_steps_forward(
    submit: Submit, finish: Finish, owner: User, outsider: User, version: TaskVersion, device: Device
) -> None:
    baselines.enqueue_missing(device)
    for baseline in Submission.objects.order_by("-baseline"):
        finish(baseline, 1e-6)  # baselines are no one's record
    for user, seconds in ((owner, 5e-3), (outsider, 6e-3), (outsider, 4e-3), (owner, 4e-3), (owner, 1e-3)):
        finish(submit(user), seconds)
    points = boards.history(version, device)
    assert [(point.username, point.seconds) for point in points] == [
        ("owner", 5e-3),
        ("outsider", 4e-3),
        ("owner", 1e-3),
    ]
    records = tasks.records()
    assert [(record.score.seconds, record.previous_seconds) for record in records] == [
        (1e-3, 4e-3),
        (4e-3, 5e-3),
        (5e-3, None),
    ]


def test_home_shows_leaders_entries_and_devices(
    submit: Submit, finish: Finish, owner: User, outsider: User, device: Device, gpu: Device
) -> None:
    finish(submit(owner), 2e-3)
    finish(submit(outsider), 1e-3)
    load_task(source=catalog_task("second"))
    home = tasks.home()
    card, second = home.tasks
    assert [(leader.username, leader.seconds) for leader in card.leaders] == [("outsider", 1e-3)]
    assert (card.entries, second.entries, second.leaders) == (2, 0, [])
    assert [(status.device.slug, status.online) for status in home.devices] == [
        ("cpu-test", True),
        ("gpu-test", False),
    ]


def test_query_counts_do_not_grow(
    submit: Submit,
    finish: Finish,
    owner: User,
    outsider: User,
    version: TaskVersion,
    device: Device,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for user in (owner, outsider):
        finish(submit(user))
    boards.board(version, device)  # reads the contract, which stays in memory
    with django_assert_num_queries(2):
        boards.board(version, device, owner)
    with django_assert_num_queries(1):
        boards.history(version, device)
    with django_assert_num_queries(9):
        tasks.home()
    with django_assert_num_queries(3):
        profile = users.profile("owner", outsider)
        assert len(profile.best) == 1
        assert not list(profile.submissions)


def test_a_profile_ranks_like_the_board(submit: Submit, finish: Finish, owner: User, outsider: User) -> None:
    finish(submit(owner), 2e-3)
    finish(submit(outsider), 1e-3)
    (place,) = users.profile("owner", owner).best
    assert (place.rank, place.entries, place.tied) == (2, 2, False)


def test_baselines_are_queued_once_last_and_again_only_without_an_answer(
    version: TaskVersion, device: Device, gpu: Device, finish: Finish
) -> None:
    assert baselines.enqueue_missing(device) == 2
    assert baselines.enqueue_missing(device) == 0
    assert baselines.enqueue_missing(gpu) == 0  # the task has no CUDA cases
    assert set(Evaluation.objects.values_list("lane", flat=True)) == {Lane.BASELINE}
    first, second = Submission.objects.order_by("created_at")
    finish(first, verdict=Verdict.INTERNAL_ERROR, score=None)
    finish(second, verdict=Verdict.WRONG, score=None)
    assert baselines.enqueue_missing(device) == 1
    first.refresh_from_db()
    assert first.evaluation.status == "queued"
    assert Submission.objects.count() == 2


def test_a_failed_baseline_is_measured_again_where_the_facts_have_changed(
    version: TaskVersion, device: Device, finish: Finish
) -> None:
    device.facts = {"compiler": "none", "uuid": "GPU-1"}
    baselines.enqueue_missing(device)
    first, second = Submission.objects.order_by("evaluation__queued_at")
    finish(first, verdict=Verdict.RUNTIME_ERROR, score=None, device=device.facts)
    finish(second, device=device.facts)
    device.facts = {"compiler": "none", "uuid": "GPU-2"}
    assert baselines.enqueue_missing(device) == 0
    device.facts = {"compiler": "g++", "uuid": "GPU-2"}
    assert baselines.enqueue_missing(device) == 1
    first.refresh_from_db()
    assert first.evaluation.status == "queued"


def test_new_versions_get_their_baselines_where_a_runner_is_online(
    version: TaskVersion, runner: Runner, gpu: Device
) -> None:
    assert baselines.enqueue_for_online_devices() == 2
    assert baselines.enqueue_for_online_devices() == 0
    load_task(source=catalog_task(reference="def reference(x):\n    return x + x\n"))
    assert baselines.enqueue_for_online_devices() == 2


@pytest.mark.parametrize("wanted", [True, False])
def test_a_device_that_registers_is_given_its_baselines(
    version: TaskVersion, device: Device, settings: Any, wanted: bool
) -> None:
    settings.MEASURE_BASELINES = wanted
    device_registered.send(sender=Device, device=device)
    assert Submission.objects.exists() is wanted


def test_baseline_sources_define_the_entry_point(version: TaskVersion) -> None:
    from leaderboard.models import Baseline

    reference = "def reference(x):\n    return x * 2"
    for baseline in Baseline:
        source = baselines.baseline_source(reference, baseline)
        compile(source, "baseline", "exec")
        assert "kernel" in source
    names: dict[str, object] = {}
    exec(baselines.baseline_source(reference, Baseline.EAGER), names)  # noqa: S102 our own text
    assert names["kernel"](21) == 42  # type: ignore[operator]
