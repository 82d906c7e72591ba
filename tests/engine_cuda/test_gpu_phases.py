"""What the phases for a GPU machine conclude and write, on the results that are committed."""

import json
from pathlib import Path
from typing import Any

import pytest

from runners.contract.job import Job
from runners.contract.vocabulary import DeviceKind, Language, Mode, Verdict
from runners.devices import DetectedDevice
from runners.supervisor.environment import ENGINE_VERSION
from tests.gpu import agreement, faults, jobs, latency, machine, repeats, run, search, search_pairs
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


def _entered(seconds: list[float], half_width: float) -> dict[str, Any]:
    """What the phase ``repeats`` says of runs of these times."""
    runs = iter(seconds)

    def evaluate(*_: object) -> dict[str, Any]:
        time = next(runs)
        score = {"seconds": time, "ci_low": time * (1 - half_width), "ci_high": time * (1 + half_width)}
        return {"verdict": "passed", "reason": "", "score": score, "stages": []}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "evaluate", evaluate)
        return repeats.run()


def test_equal_kernels_that_are_ranked_apart_fail_though_they_vary_little() -> None:
    even = [1.0, 1.0001] * 5
    uneven = [1.0, 1.006] * 5
    assert _entered([*even, *even], 1e-3)["ok"]
    found = _entered([*even, *uneven], 1e-5)
    assert found["coefficient_of_variation"] <= 0.005
    assert found["halves"][0]["ranked_apart"]
    assert not found["ok"]


@pytest.mark.parametrize(
    ("slope", "events", "half_width", "holds"),
    [
        (1.009, 1.0, 0.001, True),
        (1.011, 1.0, 0.001, False),
        (1.03, 1.0, 0.04, True),
        (7.8e-6, 7.4e-6, 1e-8, False),  # half a microsecond is 6 % of it
    ],
)
def test_slope_and_events_agree_within_one_percent_or_the_interval(
    slope: float, events: float, half_width: float, holds: bool
) -> None:
    interval = {"ci_low": slope - half_width, "ci_high": slope + half_width}
    row = {"seconds": slope, "events": events, "launch_bound": False, **interval}
    assert agreement.agrees(row) is holds


@pytest.mark.parametrize(
    ("slope", "holds"), [(3.4e-6, True), (5.4e-6, True), (3.3e-6, False), (5.6e-6, False)]
)
def test_a_launch_bound_slope_lies_among_the_readings_of_other_processes(slope: float, holds: bool) -> None:
    row = {"seconds": slope, "ci_low": slope, "ci_high": slope, "launch_bound": True}
    row |= {"events": 4.7e-6, "each": [3.7e-6, 5.0e-6, 4.7e-6]}
    assert agreement.agrees(row) is holds
    assert not agreement.agrees({"launch_bound": True, "seconds": slope, "in_process_error": "no"})


def _waited(seconds: float | None, **changes: str) -> dict[str, Any]:
    row: dict[str, Any] = {"submission": "cuda", "start": "warm", "mode": "test", "source": "new"}
    row |= {"verdicts": ["passed"], "reasons": []}
    row |= {"first_test": {"median": seconds}, "verdict": {"median": seconds}}
    return row | changes


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (_waited(1.5), True),
        (_waited(1.51), False),
        (_waited(None), False),
        (_waited(3.0, submission="triton"), True),
        (_waited(3.1, submission="triton"), False),
        (_waited(9.0, start="cold"), True),
        (_waited(9.0, submission="torch"), True),
        (_waited(9.0, submission="cuda, ranked", mode="ranked"), True),
    ],
)
def test_a_warm_submission_that_waits_longer_than_its_goal_fails(row: dict[str, Any], holds: bool) -> None:
    assert latency.outcome([_waited(0.1), row])["ok"] is holds


def test_a_missed_goal_is_told() -> None:
    found = latency.outcome([_waited(1.6)])
    assert found["summary"][-1] == "cuda new: first test 1.6 s, the goal is 1.5 s"
    assert latency.outcome([_waited(0.1, verdicts=["wrong"])])["ok"] is False


def test_results_tell_cards_apart_without_naming_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\nfor last; do :; done\necho "GPU-13fa-$last"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    hashes = []
    for index in (0, 1):
        known = {"model": "X", "compiler": "nvcc", "compiler_version": "13.0.88"}
        found = DetectedDevice("cuda-x", DeviceKind.CUDA, "X", index, (0,), known)
        monkeypatch.setattr(jobs, "device", lambda found=found: found)
        told = machine.facts.__wrapped__()
        assert (told["card"], told["nvcc"], told["engine"]) == ("X", "13.0.88", ENGINE_VERSION)
        assert "13fa" not in json.dumps(told)
        hashes.append(told["card_hash"])
    assert hashes == ["9b003f1a", "beeeca32"]


def test_a_report_of_searches_names_where_they_ran(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    common = {"task": "t", "language": "cuda", "policy": "none", "speed_up": 2.0, "measured": 1}
    common |= {"best_seconds": 1.0, "measurements": [], "machine": {"card": "X"}, "date": "today"}
    common |= {"device_seconds_allowed": 80.0, "stop_reason": "device seconds"}
    lines = [{**common, "seed": 0, "commit": "a"}, {**common, "seed": 1, "commit": "b"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = search.merged([path])
    assert (report["machine"], report["date"], report["commit"]) == ({"card": "X"}, "today", ["a", "b"])
    (line,) = report["summary"]
    assert line.startswith("t cuda 80 s none: × starter by seed 0: 2.00, 1: 2.00; best µs ")
    assert "not all ended" not in line


def _searched(policy: str, allowed: float, times: list[float | None], seed: int = 0) -> dict[str, Any]:
    rows = [{"seconds": seconds, "device_seconds": 10.0} for seconds in times]
    names = {"task": "t", "language": "cuda", "seed": seed, "policy": policy}
    return {**names, "device_seconds_allowed": allowed, "measurements": rows}


def test_searches_are_compared_at_the_device_seconds_that_both_had() -> None:
    longer = _searched("surrogate", 60.0, [9e-6, None, 4e-6, 1e-6, 1e-6, 1e-6])
    shorter = _searched("none", 25.0, [9e-6, 8e-6, 6e-6])
    alone = _searched("none", 25.0, [9e-6], seed=1)
    (pair,) = search_pairs.pairs([shorter, alone, longer])
    assert pair["surrogate"] == {"best_seconds": 4e-6, "measured": 3, "device_seconds": 30.0}
    assert pair["none"] == {"best_seconds": 6e-6, "measured": 3, "device_seconds": 30.0}
    assert (pair["device_seconds_allowed"], pair["times_faster"]) == (25.0, pytest.approx(1.5))
    line, in_all = search_pairs.said([pair])
    assert line == "t cuda 0 in 25 s: 4.0 µs with the surrogate (3 measured), 6.0 without (3): × 1.500"
    assert in_all == "ahead with the surrogate in 1 of 1, geometric mean × 1.500"


def test_a_search_in_which_nothing_passed_is_said_to_be_one() -> None:
    both = [_searched("surrogate", 30.0, [None]), _searched("none", 30.0, [9e-6])]
    assert list(search_pairs.said(search_pairs.pairs(both))) == ["t cuda 0: a search in which nothing passed"]


def test_a_phases_own_words_on_its_machine_leave_out_neither_card_nor_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUT", str(tmp_path))
    monkeypatch.setattr(run.machine, "facts", lambda: {"card": "X", "driver": "1", "torch": "2"})
    phase = {"ok": True, "summary": [], "machine": {"device": "x", "torch": "3"}}
    monkeypatch.setattr(run, "PHASES", {"one": lambda: phase})
    assert run.main(["one"]) == 0
    told = json.loads((tmp_path / "gpu_one.json").read_text())["machine"]
    assert told == {"card": "X", "driver": "1", "device": "x", "torch": "3"}


def test_much_output_is_a_fault_of_a_right_kernel() -> None:
    (language, source), verdicts, _ = faults.FAULTS["2 MB of output"]
    assert (language, verdicts) == (Language.CUDA, (Verdict.PASSED,))
    assert "y[i] = value;" in source
    assert source.index("<<<") < source.index("puts(") < source.rindex("}")
    assert source.count("{") == source.count("}")
