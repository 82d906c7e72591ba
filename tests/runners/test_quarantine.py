"""A device that fails its check gets no more work, keeps its queue, and says why."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from runners import health
from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind, Mode, Verdict
from runners.models import Device, Evaluation, Runner
from runners.services import devices, evaluations, sweeping

Enqueue = Callable[..., Evaluation]
GPU = DeviceTarget(DeviceKind.CUDA, index=3)


def test_a_quarantined_device_is_given_nothing_until_it_is_released(
    device: Device, enqueue: Enqueue, make_runner: Callable[[], Runner]
) -> None:
    waiting, runner = enqueue(), make_runner()
    assert devices.quarantine(device=device, reason="GPU 3 fails its health check: no answer.")
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    waiting.refresh_from_db()
    assert waiting.status == "queued"
    assert devices.release(device=device)
    assert not devices.release(device=device)
    claimed = evaluations.claim_next(queue=device.slug, runner=runner)
    assert claimed is not None
    assert claimed.pk == waiting.pk


def test_compile_only_work_does_not_mind(
    device: Device, enqueue: Enqueue, make_runner: Callable[[], Runner]
) -> None:
    check = enqueue(Mode.CHECK)
    devices.quarantine(device=device, reason="Broken.")
    claimed = evaluations.claim_next(queue=check.queue, runner=make_runner())
    assert claimed is not None
    assert claimed.pk == check.pk


def test_the_first_reason_stays_and_there_must_be_one(device: Device) -> None:
    assert devices.quarantine(device=device, reason="First.\n" + "x" * 400)
    assert not devices.quarantine(device=device, reason="Second.")
    device.refresh_from_db()
    assert device.quarantine_reason.startswith("First. xxx")
    assert len(device.quarantine_reason) == 300
    with pytest.raises(ValueError, match="needs a reason"):
        devices.quarantine(device=device, reason=" ")


def test_nobody_rings_for_a_quarantined_device(
    device: Device,
    enqueue: Enqueue,
    make_runner: Callable[[], Runner],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enqueue()
    Evaluation.objects.update(queued_at=timezone.now() - timedelta(minutes=5))
    make_runner()
    rung: list[str] = []
    monkeypatch.setattr(sweeping, "ring", rung.append)
    sweeping.sweep()
    assert rung == [device.slug]
    devices.quarantine(device=device, reason="Broken.")
    sweeping.sweep()
    assert rung == [device.slug]


@pytest.mark.parametrize("verdict", sorted(health.DOUBTFUL))
def test_a_gpu_is_checked_after_a_run_that_was_killed_or_crashed(device: Device, verdict: Verdict) -> None:
    asked: list[int] = []

    def fails(index: int) -> str:
        asked.append(index)
        return "GPU 3 did not answer within 60 s."

    assert not health.look_after(device=device, target=GPU, verdict=verdict, check=fails)
    device.refresh_from_db()
    assert asked == [3]
    assert device.quarantine_reason == "GPU 3 did not answer within 60 s."


def test_the_reason_names_the_runner_whose_card_it_is(
    device: Device, make_runner: Callable[[], Runner]
) -> None:
    make_runner()
    runner = make_runner()
    fault = f"GPU 3 fails its health check: {'x' * 400}."
    health.look_after(
        device=device, target=GPU, verdict=Verdict.TIMEOUT, runner=runner, check=lambda _: fault
    )
    device.refresh_from_db()
    assert device.quarantine_reason.startswith("GPU 3 fails its health check: xxx")
    assert device.quarantine_reason.endswith(f"x (runner {str(runner.pk)[:8]}).")


def test_a_gpu_that_passes_its_check_goes_on(device: Device) -> None:
    assert health.look_after(device=device, target=GPU, verdict=Verdict.TIMEOUT, check=lambda _: "")
    device.refresh_from_db()
    assert device.quarantine_reason == ""


@pytest.mark.parametrize(("verdict", "stage"), [(Verdict.WRONG, "verify"), (Verdict.REFUSED, "time")])
def test_a_gpu_is_checked_after_a_run_that_may_have_left_work_behind(
    device: Device, verdict: Verdict, stage: str
) -> None:
    assert not health.look_after(
        device=device, target=GPU, verdict=verdict, failed_stage=stage, check=lambda _: "It hangs."
    )


def test_nothing_is_checked_without_need(device: Device) -> None:
    def never(_: int) -> str:
        pytest.fail("this run gives no reason for a check")

    for verdict, stage in (
        (Verdict.PASSED, ""),
        (Verdict.COMPILE_ERROR, "compile"),
        (Verdict.REFUSED, "screen"),
    ):
        assert health.look_after(device=device, target=GPU, verdict=verdict, failed_stage=stage, check=never)
    cpu = DeviceTarget(DeviceKind.CPU)
    assert health.look_after(device=device, target=cpu, verdict=Verdict.TIMEOUT, check=never)


def test_a_check_that_cannot_be_started_says_nothing_about_the_gpu(device: Device) -> None:
    def fails(_: int) -> str:
        raise OSError("too many open files")

    assert health.look_after(device=device, target=GPU, verdict=Verdict.TIMEOUT, check=fails)


def test_a_machine_without_the_gpu_fails_the_real_check(device: Device) -> None:
    """No double here: the check runs in its own process, and there is no driver to answer it."""
    if health.check_gpu(GPU.index) == "":
        pytest.skip("this machine has four GPUs")
    assert not health.look_after(device=device, target=GPU, verdict=Verdict.TIMEOUT)
    device.refresh_from_db()
    assert "fails its health check" in device.quarantine_reason
