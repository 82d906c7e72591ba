"""Entering a kernel: what is stored, and everything that is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from leaderboard.models import Reservation, Submission, Task, TaskVersion
from leaderboard.selectors.options import submit_options
from leaderboard.services import submissions
from leaderboard.services.errors import FIELD_OF, Refusal
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Kernel, Lane
from runners.services.kernels import kernel_digest

from .conftest import CPP, PYTHON

Submit = Callable[..., Submission]


def refusal(submit: Submit, user: User, **changes: Any) -> Refusal:
    before = Submission.objects.count(), Evaluation.objects.count(), Kernel.objects.count()
    with pytest.raises(Refusal) as caught:
        submit(user, **changes)
    assert before == (Submission.objects.count(), Evaluation.objects.count(), Kernel.objects.count())
    return caught.value


def test_a_submission_stores_kernel_evaluation_and_reservation(submit: Submit, owner: User) -> None:
    submission = submit(owner)
    assert submission.kernel_id == kernel_digest("python", PYTHON)
    assert submission.kernel.source == PYTHON
    evaluation = submission.evaluation
    assert (evaluation.status, evaluation.queue, evaluation.lane) == (
        EvaluationStatus.QUEUED,
        "cpu-test",
        Lane.PERSON,
    )
    assert evaluation.reservation.seconds == 360
    assert not submission.is_public


def test_equal_sources_share_a_kernel_and_are_measured_apart(submit: Submit, owner: User) -> None:
    first, second = submit(owner), submit(owner, source=PYTHON.replace("\n", "\r\n"))
    assert first.kernel_id == second.kernel_id
    assert first.evaluation_id != second.evaluation_id


def test_check_mode_costs_nothing(submit: Submit, owner: User) -> None:
    submission = submit(owner, mode="check")
    assert submission.evaluation.queue == "check"
    assert not Reservation.objects.exists()


def test_a_file_name_tells_the_language(submit: Submit, owner: User) -> None:
    assert submit(owner, language="", filename="mine.cpp", source=CPP).kernel.language == "cpp"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"source": ""}, "empty"),
        ({"source": b"#" * 1_000_001}, "too_large"),
        ({"source": b"\xff"}, "not_utf8"),
        ({"source": "a\0b"}, "nul_byte"),
        ({"source": "def kernel("}, "syntax_error"),
        ({"source": "x = 1"}, "entry_point_missing"),
        ({"source": "int x;", "language": "cpp"}, "entry_point_missing"),
        ({"language": "rust"}, "language_unknown"),
        ({"language": "cpp", "filename": "a.py"}, "language_mismatch"),
        ({"language": "cuda"}, "language_not_in_task"),
        ({"mode": "fast"}, "mode_unknown"),
        ({"mode": ""}, "mode_unknown"),
        ({"task_slug": "no-such"}, "task_unknown"),
        ({"task_slug": "a\0b"}, "task_unknown"),
        ({"task_slug": "\ud800"}, "task_unknown"),
        ({"device_slug": "no-such"}, "device_unknown"),
        ({"device_slug": "a\0b"}, "device_unknown"),
        ({"device_slug": "\udfff"}, "device_unknown"),
        ({"device_slug": "gpu-test"}, "device_unknown"),  # the task has no CUDA cases
    ],
)
def test_what_is_refused(submit: Submit, owner: User, gpu: Device, changes: Any, rule: str) -> None:
    refused = refusal(submit, owner, **changes)
    assert refused.rule == rule
    assert refused.field == FIELD_OF[rule]
    assert refused.message


def test_a_language_that_the_device_does_not_run(
    submit: Submit, owner: User, device: Device, gpu: Device
) -> None:
    from leaderboard.services import tasks

    from .conftest import catalog_task, task_document

    cases = task_document()["cases"]
    both = {"cpu": cases["cpu"], "cuda": cases["cpu"]}
    tasks.load_task(source=catalog_task("both", languages=["python", "cpp", "cuda"], cases=both))
    for place, language, sentence in (
        (device, "cuda", "a test CPU runs Python, C++, not CUDA C++."),
        (gpu, "cpp", f"{gpu.name} runs Python, CUDA C++, not C++."),
    ):
        found = refusal(
            submit, owner, task_slug="both", device_slug=place.slug, language=language, source=CPP
        )
        assert (found.rule, found.message) == ("language_not_on_device", sentence)
    found = refusal(submit, owner, language="cuda", source=CPP)
    assert found.message == "The task double takes Python, C++, not CUDA C++."


def test_closed_tasks_refuse(submit: Submit, owner: User, task: Task) -> None:
    Task.objects.update(is_open=False)
    assert refusal(submit, owner).rule == "task_closed"


def test_closed_and_quarantined_devices_refuse_with_the_reason(
    submit: Submit, owner: User, device: Device
) -> None:
    Device.objects.update(is_open=False)
    assert refusal(submit, owner).rule == "device_closed"
    Device.objects.update(is_open=True, quarantine_reason="its clock drifts")
    refused = refusal(submit, owner)
    assert refused.rule == "device_closed"
    assert "its clock drifts" in refused.message


def test_too_many_waiting(submit: Submit, owner: User, outsider: User, settings: Any) -> None:
    settings.MAX_QUEUED_PER_USER = 2
    first = submit(owner, mode="check")
    submit(owner, mode="check")
    assert refusal(submit, owner, mode="check").rule == "too_many_queued"
    submit(outsider, mode="check")
    submissions.cancel(user=owner, submission=first)
    submit(owner, mode="check")


def test_over_budget_names_what_is_left_and_when_it_refills(
    submit: Submit, owner: User, settings: Any
) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 400
    submit(owner)
    refused = refusal(submit, owner)
    assert refused.rule == "over_budget"
    assert "40 are left of your 400" in refused.message
    assert "00:00 UTC" in refused.message
    submit(owner, mode="check")


def test_a_language_without_its_compiler_is_greyed_and_refused(
    submit: Submit, owner: User, device: Device, version: TaskVersion
) -> None:
    Device.objects.update(facts={"compiler": "none"})
    refused = refusal(submit, owner, language="cpp", source=CPP)
    assert (refused.rule, refused.message) == (
        "language_not_on_device",
        "a test CPU has no g++ at present.",
    )
    choices = {choice.value: choice for choice in submit_options(owner, version).languages}
    assert (choices["cpp"].enabled, choices["cpp"].reason) == (False, "a test CPU has no g++ at present.")
    assert choices["python"].enabled
    Device.objects.update(facts={"compiler": "g++"})
    assert submit(owner, language="cpp", source=CPP)


def test_owner_and_staff_cancel_and_outsiders_do_not(
    submit: Submit, owner: User, outsider: User, staff: User
) -> None:
    submission = submit(owner)
    with pytest.raises(PermissionDenied):
        submissions.cancel(user=outsider, submission=submission)
    assert submissions.cancel(user=owner, submission=submission)
    submission.evaluation.refresh_from_db()
    assert submission.evaluation.verdict == Verdict.CANCELLED
    assert not submissions.cancel(user=staff, submission=submission)


def test_visibility_is_for_owner_and_staff(submit: Submit, owner: User, outsider: User, staff: User) -> None:
    submission = submit(owner)
    locked = User.objects.create_user("locked-staff", is_staff=True, is_active=False)
    for user in (outsider, locked):
        with pytest.raises(PermissionDenied, match=r"^Only its owner and staff may change a submission\."):
            submissions.set_visibility(user=user, submission=submission, is_public=True)
    for user, is_public in ((owner, True), (staff, False)):
        submissions.set_visibility(user=user, submission=submission, is_public=is_public)
        submission.refresh_from_db()
        assert submission.is_public == is_public
