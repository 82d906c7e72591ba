"""What the phases for a GPU machine conclude and write, on the results that are committed."""

from typing import Any

import pytest

from runners.contract.job import Job
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.devices import DetectedDevice
from tests.gpu import jobs
from tests.gpu.provenance import provenance
from tests.gpu.repeats import halves
from tests.gpu.tasks import steps, steps_source

#: µs, and their intervals, of one kernel entered twenty times on an H100; the halves vary unequally.
_ENTRIES = (
    (230.072, 228.691, 230.831),
    (230.052, 228.871, 231.07),
    (228.793, 227.559, 230.029),
    (227.649, 226.689, 228.82),
    (227.98, 226.942, 229.135),
    (227.576, 226.528, 228.664),
    (229.141, 227.93, 230.265),
    (229.459, 228.447, 230.813),
    (229.811, 228.627, 230.919),
    (228.663, 227.79, 230.437),
    (228.774, 227.836, 230.14),
    (229.439, 228.318, 230.455),
    (229.465, 228.211, 230.473),
    (228.921, 227.567, 229.89),
    (229.028, 227.908, 230.048),
    (230.314, 229.11, 231.46),
    (228.497, 227.564, 229.762),
    (229.145, 227.706, 230.062),
    (228.997, 227.698, 230.377),
    (228.729, 227.555, 229.746),
)


def test_either_half_of_equal_runs_is_ranked_by_the_noise_of_the_other() -> None:
    scores = [dict(zip(("seconds", "ci_low", "ci_high"), entry, strict=True)) for entry in _ENTRIES]

    first, second = halves(scores)

    assert (first["pairs"], first["apart"], first["ranked_apart"]) == (45, 0, 0)
    assert (second["pairs"], second["apart"], second["ranked_apart"]) == (45, 3, 0), "few runs: wider ties"
    assert first["noise"] == pytest.approx(0.0042, abs=5e-5)
    assert second["noise"] == pytest.approx(0.0022, abs=5e-5)


def test_a_result_names_its_command_and_the_commit_if_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMIT", "abc123")

    assert provenance("faults") == {"command": "bash tests/gpu/run_all.sh faults", "commit": "abc123"}


def test_no_history_means_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMIT", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")

    assert provenance("faults")["commit"] is None


def test_phases_are_judged_by_the_rates_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs_seen: list[Job] = []
    found = DetectedDevice("cuda-x", DeviceKind.CUDA, "X", 0, (0,), {})
    rates = {"copy_bytes_per_s": 3e12}

    def run_job(job: Job, **_: Any) -> dict[str, Any]:
        jobs_seen.append(job)
        return {"environment": {}}

    monkeypatch.setattr(jobs, "device", lambda: found)
    monkeypatch.setattr(jobs, "measure_ceilings", lambda target: rates)
    monkeypatch.setattr(jobs, "run_job", run_job)
    jobs.ceilings.cache_clear()

    jobs.evaluate(steps(1, 1 << 20), Language.CUDA, steps_source(1), Mode.RANKED)

    (job,) = jobs_seen
    assert job.target.ceilings == rates
    jobs.ceilings.cache_clear()
