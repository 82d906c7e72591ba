"""Times that beat the device wait for a person, who is recorded."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.core.exceptions import PermissionDenied
from django.test import Client

from leaderboard.models import Audit, Score, Standing, Submission, TaskVersion
from leaderboard.selectors import boards, tasks, users
from leaderboard.services import baselines, reviews
from runners.models import Device, Runner

from .conftest import finish_evaluation, result_document

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]
SCORES = "/admin/leaderboard/score/"
PLAIN = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}


def too_fast(seconds: float = 1e-3) -> dict[str, Any]:
    """A result whose second case takes 80 % of what the device's ceilings allow."""
    document = result_document(seconds)
    document["benchmarks"][1]["floor_seconds"] = seconds / 0.8
    return document


@pytest.fixture
def held(submit: Submit, owner: User, runner: Runner) -> Submission:
    submission = submit(owner, is_public=True)
    finish_evaluation(runner, submission.evaluation, too_fast())
    return submission


@pytest.fixture
def reviewer(staff: User) -> User:
    staff.user_permissions.add(
        *Permission.objects.filter(codename__in=["change_score", "view_score"]),
    )
    return User.objects.get(pk=staff.pk)


def board_of(version: TaskVersion, device: Device) -> list[tuple[int | None, str | None]]:
    return [(row.rank, row.username) for row in boards.board(version, device).rows]


def test_a_time_below_the_floor_passes_but_is_on_no_board(
    held: Submission, owner: User, version: TaskVersion, device: Device
) -> None:
    held.evaluation.refresh_from_db()
    assert held.evaluation.verdict == "passed"
    score = Score.objects.get()
    assert score.standing == Standing.HELD
    assert "cpu-benchmark-2000" in score.standing_reason
    assert "80%" in score.standing_reason
    assert board_of(version, device) == []
    assert boards.history(version, device) == []
    assert tasks.records() == []
    assert users.profile("owner", owner).best == []
    assert not Audit.objects.exists()


def test_its_owner_reads_why_and_others_that_it_is_held(
    held: Submission, owner: User, outsider: User
) -> None:
    for viewer, shown in ((owner, True), (outsider, False)):
        client = Client()
        client.force_login(viewer)
        page = client.get(f"/submissions/{held.pk}/").content.decode()
        assert "Held for review" in page
        assert ("n=2000: 0.001 s a call is 80%" in page) is shown


def test_baselines_are_not_held(version: TaskVersion, device: Device, runner: Runner) -> None:
    baselines.enqueue_missing(device)
    submission = Submission.objects.first()
    assert submission is not None
    finish_evaluation(runner, submission.evaluation, too_fast())
    assert Score.objects.get().standing == Standing.RANKED


def test_a_released_score_is_audited_and_then_counts(
    held: Submission, reviewer: User, version: TaskVersion, device: Device, runner: Runner
) -> None:
    assert reviews.release(reviewer=reviewer, score=Score.objects.get())
    score = Score.objects.get()
    assert (score.standing, score.reviewed_by) == (Standing.AUDITING, reviewer)
    assert score.reviewed_at is not None
    # The audit is as fast; the person has said already that this is right.
    finish_evaluation(runner, Audit.objects.get().evaluation, too_fast())
    assert board_of(version, device) == [(1, "owner")]
    assert not reviews.release(reviewer=reviewer, score=Score.objects.get())  # nothing to release


def test_an_audit_below_the_floor_holds_what_was_above_it(
    submit: Submit, finish: Finish, owner: User, runner: Runner
) -> None:
    finish(submit(owner), audit=False)
    finish_evaluation(runner, Audit.objects.get().evaluation, too_fast())
    assert Score.objects.get().standing == Standing.HELD


def test_a_rejected_leader_leaves_and_stays_away(
    submit: Submit, finish: Finish, owner: User, reviewer: User, version: TaskVersion, device: Device
) -> None:
    finish(submit(owner), 2e-3)
    cheat = finish(submit(owner), 1e-3)
    assert reviews.reject(reviewer=reviewer, score=cheat.score, reason="Reads the answers from a file.")
    assert [row.seconds for row in boards.board(version, device).rows] == [2e-3]
    cheat.score.refresh_from_db()
    assert cheat.score.standing_reason == "Reads the answers from a file."
    assert not reviews.reject(reviewer=reviewer, score=cheat.score)


def test_a_rejection_outlives_the_audit_under_way(
    submit: Submit, finish: Finish, owner: User, reviewer: User, runner: Runner
) -> None:
    submission = finish(submit(owner), audit=False)
    assert reviews.reject(reviewer=reviewer, score=submission.score)
    finish_evaluation(runner, Audit.objects.get().evaluation, result_document())
    assert Score.objects.get().standing == Standing.WITHDRAWN


def test_only_staff_with_the_permission_may_review(
    held: Submission, owner: User, outsider: User, staff: User
) -> None:
    outsider.user_permissions.add(Permission.objects.get(codename="change_score"))  # but is no staff
    for user in (owner, User.objects.get(pk=outsider.pk), staff):
        for decide in (reviews.release, reviews.reject):
            with pytest.raises(PermissionDenied):
                decide(reviewer=user, score=Score.objects.get())
    assert Score.objects.get().standing == Standing.HELD


def test_the_admin_releases_and_rejects(held: Submission, reviewer: User, settings: Any) -> None:
    settings.STORAGES = {**settings.STORAGES, "staticfiles": PLAIN}
    client = Client()
    client.force_login(reviewer)
    score = Score.objects.get()
    assert "cpu-benchmark-2000" in client.get(SCORES).content.decode()
    for action, standing in (("reject", Standing.WITHDRAWN), ("release", Standing.AUDITING)):
        answer = client.post(SCORES, {"action": action, "_selected_action": [score.pk]}, follow=True)
        assert "1 of 1 scores" in answer.content.decode()
        score.refresh_from_db()
        assert (score.standing, score.reviewed_by) == (standing, reviewer)
    assert LogEntry.objects.filter(user=reviewer, object_id=str(score.pk)).count() == 2


def test_the_admin_offers_no_review_without_the_permission(
    held: Submission, staff: User, settings: Any
) -> None:
    settings.STORAGES = {**settings.STORAGES, "staticfiles": PLAIN}
    staff.user_permissions.add(Permission.objects.get(codename="view_score"))
    client = Client()
    client.force_login(staff)
    client.post(SCORES, {"action": "release", "_selected_action": [Score.objects.get().pk]})
    assert Score.objects.get().standing == Standing.HELD
