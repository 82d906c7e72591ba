"""Ceilings and noise of a device, and what they are worth once the environment changed."""

import io
import json
import os
from functools import partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from leaderboard.catalog.loader import CATALOG, load
from runners import calibrate, calibrate_cpu, fma_rate
from runners.calibrate import calibration_environment, environment_digest, remembered_ceilings
from runners.contract.job import DeviceTarget
from runners.devices import detect, find
from runners.instance_lock import lock_instance
from runners.management.commands import calibrate_device
from runners.models import Device
from runners.noise import ASSUMED, Noise, NoiseError, measure_noise, spread
from runners.quiet import Quiet, wait_for_quiet
from runners.services import devices, repeats
from runners.supervisor import environment
from runners.supervisor.floors import floor_seconds


def cpu_target() -> DeviceTarget:
    cpu = detect()[0]
    return DeviceTarget(cpu.kind, cpu.index, cpu.cores, cpu.facts)


@pytest.mark.django_db
def test_the_command_stores_ceilings_with_their_environment(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(calibrate_device, "wait_for_quiet", partial(wait_for_quiet, load=lambda: 0.0))
    out, complaints = io.StringIO(), io.StringIO()
    call_command("calibrate_device", find("cpu").slug, "--runs", "0", stdout=out, stderr=complaints)
    device = Device.objects.get(slug=find("cpu").slug)
    assert device.ceilings["copy_bytes_per_s"] > 1e8
    assert set(device.ceilings["flops_per_s"]) == {"float32", "float64", "bfloat16"}
    assert device.calibrated_at is not None
    assert len(device.calibration["environment_digest"]) == 64
    assert device.noise == ASSUMED["cpu"]
    assert device.noise_measured_at is None
    assert device.calibration["machine"]["was_quiet"]
    assert complaints.getvalue() == ""
    assert "copy: " in out.getvalue()
    assert "read: " in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tpu"], "this machine has no device 'tpu' \\(found: cpu \\("),
        (["cpu", "--runs", "2"], "--runs 2: 3 at least"),
    ],
)
def test_usage_errors_are_one_clear_line(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("calibrate_device", *arguments)


def test_a_device_in_use_is_not_measured(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    with (
        lock_instance(tmp_path / "engine", "cpu"),
        pytest.raises(CommandError, match=r"cpu is in use .*: stop that first"),
    ):
        call_command("calibrate_device", "cpu")


def test_ceilings_count_as_outdated_when_the_environment_changed(device: Device) -> None:
    then, now = {"driver": "1", "torch": "2"}, {"driver": "2", "torch": "2"}
    assert devices.is_outdated(device=device, environment=then)
    devices.store_ceilings(device=device, ceilings={"copy_bytes_per_s": 1.0}, environment=then)
    device.refresh_from_db()
    assert not devices.is_outdated(device=device, environment=then)
    assert devices.is_outdated(device=device, environment=now)


def test_the_digest_leaves_out_what_tells_cards_of_one_kind_apart() -> None:
    facts = {"model": "H100", "uuid": "GPU-1"}
    described = calibration_environment(facts)
    assert "torch" in described
    assert environment_digest(described) == environment_digest(
        calibration_environment({**facts, "uuid": "GPU-2"})
    )
    assert environment_digest(described) != environment_digest(
        calibration_environment({**facts, "model": "H200"})
    )


@pytest.mark.parametrize(
    ("facts", "versions"),
    [
        ({"compiler": "nvcc", "compiler_version": "13.1.80"}, {"compiler": "g++ 13.3.0", "triton": "3.6.0"}),
        ({"compiler": "nvcc", "compiler_version": "13.0.88"}, {"compiler": "g++ 14.2.0", "triton": "3.6.0"}),
        ({"compiler": "nvcc", "compiler_version": "13.0.88"}, {"compiler": "g++ 13.3.0", "triton": "3.7.0"}),
        ({"compiler": "nvcc", "compiler_version": "13.0.88"}, {"compiler": "g++ 13.3.0"}),
        ({"compiler": "none"}, {"compiler": "g++ 13.3.0", "triton": "3.6.0"}),
    ],
)
def test_the_digest_changes_with_every_compiler(
    facts: dict[str, str], versions: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest(facts: dict[str, str], versions: dict[str, str]) -> str:
        monkeypatch.setattr(calibrate, "environment", lambda: versions)
        return environment_digest(calibration_environment(facts))

    before = digest(
        {"compiler": "nvcc", "compiler_version": "13.0.88"}, {"compiler": "g++ 13.3.0", "triton": "3.6.0"}
    )
    assert digest(facts, versions) != before


def test_an_environment_names_triton_only_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(environment, "version", lambda name: f"the version of {name}")
    assert environment._versions.__wrapped__()["triton"] == "the version of triton"
    monkeypatch.setattr(environment, "version", missing)
    assert environment._triton() == {}


def test_remembered_ceilings_are_read_back_while_the_environment_is_the_same(tmp_path: Path) -> None:
    target = cpu_target()
    digest = environment_digest(calibration_environment(target.facts))
    kept = {"environment_digest": digest, "ceilings": {"copy_bytes_per_s": 5.0}}
    (tmp_path / "cpu.ceilings.json").write_text(json.dumps(kept))
    assert remembered_ceilings(target, tmp_path) == {"copy_bytes_per_s": 5.0}


def test_noise_is_stored_beside_the_ceilings(device: Device) -> None:
    devices.store_ceilings(device=device, ceilings={}, environment={"torch": "2"})
    repeats.store_noise(device=device, noise=Noise(0.01, (1.0, 1.01, 0.99)))
    device.refresh_from_db()
    assert device.noise is not None
    assert 0.02 < device.noise < 0.06, "three runs leave it open how much more it is"
    assert device.calibration["noise_seconds"] == [1.0, 1.01, 0.99]
    assert device.calibration["environment"] == {"torch": "2"}


def test_spread_is_the_standard_deviation_over_the_mean() -> None:
    assert spread([1.0, 1.0]) == 0
    assert spread([9.0, 10.0, 11.0]) == pytest.approx(0.1)


def test_two_runs_say_nothing_of_a_spread(tmp_path: Path) -> None:
    with pytest.raises(NoiseError, match="2 runs say nothing of a spread: 3 at least"):
        measure_noise(cpu_target(), runs=2, data_dir=tmp_path, required_tier="T2")


@pytest.mark.corpus
@pytest.mark.sandbox
def test_equal_runs_are_compared(tmp_path: Path) -> None:
    seen: list[int] = []
    noise = measure_noise(
        cpu_target(),
        runs=3,
        data_dir=tmp_path,
        required_tier="T2",
        on_run=lambda number, seconds: seen.append(number),
    )
    assert seen == [1, 2, 3]
    assert len(set(noise.seconds)) == 3
    assert 0 < noise.coefficient_of_variation < 0.5


@pytest.mark.parametrize(
    ("loads", "patience", "result"),
    [
        ([0.1, 0.1, 0.1], 60, Quiet(0.1, 3, was_quiet=True)),
        # What starts up pauses at times: only looks in a row count.
        ([0.9, 0.1, 0.1, 0.8, 0.1, 0.1, 0.05], 60, Quiet(0.05, 7, was_quiet=True)),
        ([0.9] * 60, 60, Quiet(0.9, 60, was_quiet=False)),
        ([0.7], 0, Quiet(0.7, 1, was_quiet=False)),
    ],
)
def test_calibration_waits_for_a_quiet_machine_and_not_for_ever(
    loads: list[float], patience: float, result: Quiet
) -> None:
    seen: list[float] = []

    def look() -> float:
        seen.append(loads[len(seen)])
        return seen[-1]

    assert wait_for_quiet(patience, load=look, clock=lambda: float(len(seen))) == result
    assert seen == loads


def test_what_disturbs_one_trial_does_not_become_the_ceiling() -> None:
    times = iter([2.0, 9.0, 1.0, 9.0, 9.0, 3.0, 2.0, 4.0])
    pauses: list[float] = []
    best = calibrate_cpu.best_of_trials(
        {"copy": int, "launch": int}, lambda action: next(times), pause=pauses.append
    )
    assert best == {"copy": 1.0, "launch": 3.0}
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("wall", "ran", "waited", "cores", "seconds"),
    [
        (3.0, 3.0, 0.0, 1, 3.0),  # in peace
        (3.0, 2.0, 1.0, 1, 2.0),  # one other on its core
        (3.0, 4.0, 1.0, 2, 2.0),
        (3.0, 2.9, 2.5, 1, 2.9),  # what it did takes that long in any case
    ],
)
def test_waiting_for_a_core_is_no_part_of_a_ceiling(
    wall: float, ran: float, waited: float, cores: int, seconds: float
) -> None:
    assert calibrate_cpu.undisturbed(wall, ran, waited, cores) == seconds


def test_a_core_multiplies_and_adds_in_either_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = fma_rate.fma_rates()
    assert rates.keys() == {"float32", "float64"}
    assert all(1e8 < rate / len(os.sched_getaffinity(0)) < 1e12 for rate in rates.values())

    monkeypatch.setattr(fma_rate.toolchain, "find", lambda: None)
    assert fma_rate.fma_rates() == {}


def test_reading_alone_may_be_faster_than_copying() -> None:
    spec = load(CATALOG / "softmax").spec
    case = next(case for case in spec.cases if not case.fits_in_cache)
    copying = floor_seconds(spec, case, {"copy_bytes_per_s": 1e9})
    assert copying == spec.case_bytes(case) / 1e9
    assert floor_seconds(spec, case, {"copy_bytes_per_s": 1e9, "read_bytes_per_s": 2e9}) == copying / 2


def test_what_the_machine_did_meanwhile_is_kept_beside_the_ceilings(device: Device) -> None:
    devices.store_ceilings(device=device, ceilings={}, quiet=Quiet(0.25, 60.0, was_quiet=False))
    device.refresh_from_db()
    assert device.calibration["machine"] == {"load": 0.25, "waited_seconds": 60.0, "was_quiet": False}
