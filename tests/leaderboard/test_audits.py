"""Nobody shows as first before a second run agreed; whoever led before leads on."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from leaderboard.models import Audit, Score, Standing, Submission, TaskVersion
from leaderboard.selectors import boards, tasks
from leaderboard.selectors.budgets import budget_of
from leaderboard.selectors.site import site_status
from leaderboard.services import audits, baselines
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, Lane, Runner
from runners.services import evaluations

from .conftest import finish_evaluation, result_document
from .races import together

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def test_the_first_place_waits_for_its_audit(
    submit: Submit, finish: Finish, owner: User, outsider: User, rows: Any, end_audit: Any
) -> None:
    finish(submit(outsider), 2e-3)
    new = finish(submit(owner), 1e-3, audit=False)
    assert rows() == [(None, "owner", "auditing"), (1, "outsider", "ranked")]
    card = tasks.home().tasks[0]
    assert [leader.username for leader in card.leaders] == ["outsider"]
    assert [record.score.user for record in tasks.records()] == [outsider]
    assert end_audit(new).standing == Standing.RANKED
    assert rows() == [(1, "owner", "ranked"), (2, "outsider", "ranked")]
    assert Audit.objects.get(submission=new).outcome == "confirmed"


def test_an_audit_is_a_run_of_its_own_that_goes_first_and_costs_its_owner_nothing(
    submit: Submit, finish: Finish, owner: User, device: Device, end_audit: Any
) -> None:
    waiting = submit(owner)
    new = finish(submit(owner), audit=False)
    evaluation = new.audit.evaluation
    assert evaluation.pk != new.evaluation_id
    assert (evaluation.kernel_id, evaluation.spec_id) == (new.kernel_id, new.version.spec_id)
    assert (evaluation.mode, evaluation.lane, evaluation.status) == ("ranked", Lane.AUDIT, "queued")
    assert evaluation.lane < waiting.evaluation.lane
    before = budget_of(owner, device)
    end_audit(new)
    assert budget_of(owner, device) == before
    assert site_status().spent == before.spent + 12.5


def test_those_behind_the_first_and_baselines_are_not_audited(
    submit: Submit, finish: Finish, owner: User, outsider: User, device: Device
) -> None:
    finish(submit(owner), 1e-3)
    finish(submit(outsider), 2e-3)
    baselines.enqueue_missing(device)
    for baseline in Submission.objects.exclude(baseline=""):
        finish(baseline, 1e-4)
    assert [audit.submission.user for audit in Audit.objects.all()] == [owner]


def test_one_who_would_share_the_first_rank_is_audited(
    submit: Submit, finish: Finish, owner: User, outsider: User, rows: Any
) -> None:
    finish(submit(owner), 1.00e-3)
    finish(submit(outsider), 1.01e-3, audit=False)
    assert rows() == [(1, "owner", "ranked"), (None, "outsider", "auditing")]


def test_the_slower_of_two_times_counts(submit: Submit, finish: Finish, owner: User, end_audit: Any) -> None:
    first, second = finish(submit(owner), 2e-3, audit=False), submit(owner)
    assert end_audit(first, 2.2e-3, cases=(2e-3, 2.42e-3)).seconds == 2.2e-3
    assert Score.objects.get().cases[1]["seconds"] == 2.42e-3
    second = finish(second, 1e-3, audit=False)
    assert end_audit(second, 0.5e-3).seconds == 1e-3


def test_a_passed_audit_is_told_with_its_time(
    submit: Submit, finish: Finish, owner: User, end_audit: Any, client: Client
) -> None:
    client.force_login(owner)
    new = finish(submit(owner), 2e-3, audit=False)
    paths = f"/submissions/{new.pk}/", f"/api/v1/submissions/{new.pk}/"
    assert client.get(paths[1]).json()["score"]["audit"] is None
    end_audit(new, 2.2e-3)
    page, entry = client.get(paths[0]).content.decode(), client.get(paths[1]).json()
    assert "2.200\u202fms</span> agrees" in page
    assert entry["score"]["audit"]["seconds"] == 2.2e-3
    assert client.get("/api/v1/submissions/").json()["results"][0]["score"]["audit"]["seconds"] == 2.2e-3


def test_times_of_the_cases_say_whether_they_are_the_runs_or_the_boards(
    submit: Submit, finish: Finish, owner: User, end_audit: Any, client: Client
) -> None:
    client.force_login(owner)
    for audit, has_both in ((1.9e-3, False), (2.2e-3, True)):
        entry = finish(submit(owner), 2e-3, audit=False)
        end_audit(entry, audit, cases=(audit, 3.142e-3))
        page = client.get(f"/submissions/{entry.pk}/live/").content.decode()
        assert ("On the board <small>its audit</small>" in page) is has_both
        assert ("3.142\u202fms" in page) is has_both
        Submission.objects.filter(pk=entry.pk).delete()


@pytest.mark.parametrize(
    ("work", "where"),
    [
        ("", "first among all kernels,"),
        ("own", "first among all kernels, or among own kernels alone,"),
        ("library", "first among all kernels, or among library calls alone,"),
    ],
)
def test_an_entry_that_is_audited_says_on_which_board_it_would_be_first(
    submit: Submit, finish: Finish, owner: User, client: Client, work: str, where: str
) -> None:
    client.force_login(owner)
    entry = finish(submit(owner), work=work, audit=False)
    for address in (f"/submissions/{entry.pk}/live/", "/tasks/double/board/?device=cpu-test"):
        page = client.get(address, headers={"HX-Request": "true"}).content.decode()
        assert f"it would be {where} " in page, address


@pytest.mark.parametrize("verdict", [Verdict.WRONG, Verdict.TIMEOUT, Verdict.RUNTIME_ERROR, Verdict.REFUSED])
def test_a_failed_audit_withdraws_the_score_and_the_leader_leads_on(
    submit: Submit,
    finish: Finish,
    owner: User,
    outsider: User,
    rows: Any,
    end_audit: Any,
    verdict: Verdict,
) -> None:
    finish(submit(outsider), 2e-3)
    cheat = finish(submit(owner), 1e-3, audit=False)
    score = end_audit(cheat, verdict=verdict, reason="Case n=5: y differs.", score=None)
    assert score.standing == Standing.WITHDRAWN
    assert score.standing_reason.endswith("Case n=5: y differs.")
    assert rows() == [(1, "outsider", "ranked")]
    assert Audit.objects.get(submission=cheat).outcome == "failed"


def test_reasons_are_for_the_owner_and_staff(
    submit: Submit,
    finish: Finish,
    owner: User,
    outsider: User,
    staff: User,
    end_audit: Any,
) -> None:
    cheat = finish(submit(owner, is_public=True), 1e-3, audit=False)
    end_audit(cheat, verdict=Verdict.WRONG, reason="Case n=5: y differs.", score=None)
    for viewer, shown in ((owner, True), (staff, True), (outsider, False), (None, False)):
        client = Client()
        if viewer is not None:
            client.force_login(viewer)
        page = client.get(f"/submissions/{cheat.pk}/").content.decode()
        assert "Withdrawn from the board" in page
        assert ("Case n=5: y differs." in page) is shown
        answer = client.get(f"/api/v1/submissions/{cheat.pk}/").json()
        assert answer["score"]["standing"] == "withdrawn"
        assert ("Case n=5: y differs." in answer["standing_reason"]) is shown


def test_when_the_leader_goes_the_next_is_audited_before_it_leads(
    submit: Submit,
    finish: Finish,
    owner: User,
    outsider: User,
    rows: Any,
    end_audit: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    leader = finish(submit(owner), 1e-3)
    second = finish(submit(outsider), 2e-3)
    assert not Audit.objects.filter(submission=second).exists()
    with django_capture_on_commit_callbacks(execute=True):
        leader.score.delete()
    assert rows() == [(None, "outsider", "auditing")]
    end_audit(second, 2e-3)
    assert rows() == [(1, "outsider", "ranked")]


def test_an_own_better_entry_under_audit_takes_nothing_from_its_owner(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any
) -> None:
    finish(submit(owner), 2e-3)
    better = finish(submit(owner), 1e-3, audit=False)
    assert rows() == [(None, "owner", "auditing"), (1, "owner", "ranked")]
    end_audit(better, verdict=Verdict.WRONG, score=None)
    assert rows() == [(1, "owner", "ranked")]


def test_concluding_twice_changes_nothing(
    submit: Submit, finish: Finish, owner: User, end_audit: Any, version: TaskVersion, device: Device
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    end_audit(new)
    before = boards.board_seq(version, device)
    evaluation = Audit.objects.get(submission=new).evaluation
    evaluation.refresh_from_db()
    evaluation.verdict = Verdict.WRONG
    with transaction.atomic():
        audits.conclude(evaluation=evaluation)
    assert Score.objects.get().standing == Standing.RANKED
    assert boards.board_seq(version, device) == before


@pytest.mark.django_db(transaction=True)
def test_entries_that_reach_the_top_at_once_are_each_audited_once(
    submit: Submit, owner: User, outsider: User, staff: User, device: Device, rows: Any
) -> None:
    held = []
    for user in (owner, outsider, staff):
        submission = submit(user)
        runner = Runner.objects.create(
            device=device, host="here", pid=1, tier="T2", heartbeat_at=timezone.now()
        )
        claimed = evaluations.claim_next(queue=device.slug, runner=runner)
        assert claimed is not None
        assert claimed.pk == submission.evaluation_id
        held.append((runner, claimed))
    times = (1e-3, 2e-3, 1.5e-3)
    raised = together(
        *(
            lambda claimed=claimed, seconds=seconds: evaluations.finish(
                evaluation=claimed, result=result_document(seconds)
            )
            for (_, claimed), seconds in zip(held, times, strict=True)
        )
    )
    assert raised == []
    assert {standing for _, _, standing in rows()} == {"auditing"}
    assert all(rank is None for rank, _, _ in rows())
    assert Audit.objects.count() == 3
    # Their audits end at the same moment as well, and the ranks come out in the order of the times.
    again = []
    for runner, _ in held:
        claimed = evaluations.claim_next(queue=device.slug, runner=runner)
        assert claimed is not None
        seconds = Score.objects.get(submission__audit__evaluation=claimed).seconds
        again.append((claimed, seconds))
    raised = together(
        *(
            lambda claimed=claimed, seconds=seconds: evaluations.finish(
                evaluation=claimed, result=result_document(seconds)
            )
            for claimed, seconds in again
        )
    )
    assert raised == []
    assert rows() == [(1, "owner", "ranked"), (2, "staff", "ranked"), (3, "outsider", "ranked")]


@pytest.mark.django_db(transaction=True)
def test_a_crash_between_score_and_audit_leaves_neither(
    submit: Submit, owner: User, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = submit(owner)

    def crash(**_: object) -> None:
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as patched:
        patched.setattr(audits.evaluations, "enqueue", crash)
        with pytest.raises(RuntimeError, match="dies here"):
            finish_evaluation(runner, submission.evaluation, result_document(1e-3))
    assert not Score.objects.exists()
    evaluation = Evaluation.objects.get(pk=submission.evaluation_id)
    assert evaluation.status == "running"  # the sweeper takes it up
    finish_evaluation(runner, evaluation, result_document(1e-3))
    assert Audit.objects.count() == 1
