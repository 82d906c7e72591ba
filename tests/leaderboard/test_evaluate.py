"""``manage.py evaluate``: a real run of the engine, without database, broker or web."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from leaderboard import local_runs
from leaderboard.catalog.loader import CATALOG
from leaderboard.local_runs import UsageError
from runners.contract.vocabulary import DeviceKind
from runners.devices import DetectedDevice
from runners.instance_lock import lock_device, lock_instance
from runners.sandbox import nvidia

ROOT = Path(__file__).resolve().parents[2]
TASK = """
title = "Double"
summary = "Twice the input."
position = 1
sizes = ["n"]
inputs = [{name = "x", dtype = "float32", shape = ["n"]}]
outputs = [{name = "y", dtype = "float32", shape = ["n"]}]
tolerance = {float32 = {atol = 0.0, rtol = 1e-6}}
languages = ["cpp"]
cost = {bytes = "8 * n", flops = "n", dtype = "float32"}

[cases.cpu]
test = [{n = 5}, {n = 1000}]
benchmark = [{n = 100000, fits_in_cache = "a test"}]
"""
KERNEL = """// %s
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n - %d; ++i) y[i] = 2 * x[i];
}
"""
GOOD = KERNEL % ("does what is asked", 0)
WRONG = KERNEL % ("leaves out the last element", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task folder with one good and one wrong fixture."""
    folder = tmp_path / "double"
    for name, text in {
        "task.toml": TASK,
        "reference.py": "def reference(x):\n    return x * 2\n",
        "statement.md": "# Double\n",
        "starter/kernel.cpp": GOOD,
        "good/plain.cpp": GOOD,
        "wrong/tail.cpp": WRONG,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def evaluate(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """In an environment in which neither database nor Redis can be reached."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", "evaluate", *map(str, arguments)],
        cwd=ROOT,
        env={**kept, "KERNELHUB_DATA": str(folder.parent / "data")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.sandbox
def test_a_good_kernel_passes_and_its_result_is_json(folder: Path) -> None:
    done = evaluate(folder, folder, folder / "good/plain.cpp", "--mode", "test", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verdict"] == "passed"
    assert [case["status"] for case in document["tests"]] == ["passed", "passed"]
    assert "compile: passed" in done.stderr


@pytest.mark.sandbox
def test_a_wrong_kernel_fails_and_says_where(folder: Path) -> None:
    done = evaluate(folder, folder, folder / "wrong/tail.cpp", "--mode", "test")
    assert done.returncode == 1, done.stderr
    assert "verdict: wrong" in done.stdout
    assert "[999]" in done.stdout
    for told in (done.stdout, done.stderr):
        assert "n=1000" in told
        assert "cpu-test-1000" not in told, "cases are named by their sizes"


@pytest.mark.sandbox
def test_every_fixture_of_the_catalog_is_held_to_its_promise(folder: Path) -> None:
    (folder / "wrong/harmless.cpp").write_text(GOOD)
    crash = "// Wrong: stops itself.\n%s#include <cstdlib>\n" + WRONG.replace("y[i] = 2 * x[i]", "abort()")
    (folder / "wrong/crashes.cpp").write_text(crash % "// Verdict: runtime_error\n")
    (folder / "wrong/crashes_unexpectedly.cpp").write_text(crash % "")
    done = evaluate(folder, "--catalog", folder, "--json")
    assert done.returncode == 1, done.stderr
    assert {item["fixture"]: item["as_expected"] for item in json.loads(done.stdout)} == {
        "good/plain.cpp": True,
        "wrong/tail.cpp": True,
        "wrong/harmless.cpp": False,
        "wrong/crashes.cpp": True,
        "wrong/crashes_unexpectedly.cpp": False,
    }
    assert "5 fixtures, 2 not as expected" in done.stderr


@pytest.mark.sandbox
def test_of_a_catalog_only_what_went_wrong_is_told_twice(folder: Path) -> None:
    done = evaluate(folder, "--catalog", folder)
    assert (done.returncode, done.stdout) == (0, "2 fixtures, 0 not as expected\n")
    assert [line.split()[:3] for line in done.stderr.splitlines()] == [
        ["ok", "double", "good/plain.cpp"],
        ["ok", "double", "wrong/tail.cpp"],
    ]
    (folder / "good/tail.cpp").write_text(WRONG)
    done = evaluate(folder, "--catalog", folder)
    head, row, summary = done.stdout.splitlines()
    assert (done.returncode, summary) == (1, "3 fixtures, 1 not as expected")
    assert head.split() == ["task", "fixture", "expected", "verdict", "reason"]
    assert row.split()[:4] == ["double", "good/tail.cpp", "passed", "wrong"]
    assert "n=5" in row
    assert "cpu-test-5" not in row
    assert "BROKEN  double  good/tail.cpp" in done.stderr


def test_no_runner_starts_on_a_device_that_an_evaluation_measures_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.DATA_DIR = folder.parent / "data"

    def start_a_runner(*arguments: object, **options: object) -> None:
        with pytest.raises(CommandError, match="cpu is in use by another runner or evaluation"):
            call_command("runner", "--device", "cpu")
        raise UsageError("tried")

    monkeypatch.setattr(local_runs, "run_file", start_a_runner)
    with pytest.raises(CommandError, match="tried"):
        call_command("evaluate", str(folder), str(folder / "good/plain.cpp"))


def test_an_evaluation_beside_a_runner_says_that_they_disturb_each_other(folder: Path) -> None:
    with lock_instance(folder.parent / "data" / "engine", "cpu"):
        done = evaluate(folder, folder, folder / "task.toml")
    assert done.stderr.startswith("cpu is in use by another runner or evaluation on this host: times")


@pytest.fixture
def taken_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[None]:
    """A GPU that a runner of another data folder serves."""
    gpu = DetectedDevice("cuda-test", DeviceKind.CUDA, "Test", 0, (), {"compute_capability": "9.0"})
    place = str(uuid.uuid4())
    monkeypatch.setattr(nvidia, "pci_address", lambda index: place)
    monkeypatch.setattr(local_runs, "find_device", lambda name: gpu)
    settings.DATA_DIR = tmp_path / "ours"
    with lock_device(tmp_path / "theirs", gpu):
        yield


COMMANDS = [
    ("evaluate", "leaderboard.local_runs.run_file", ["scan", str(CATALOG / "scan/good/chunks.cu")]),
    ("cheat_suite", "leaderboard.management.commands.cheat_suite.run_suite", ["C01"]),
    ("search", "leaderboard.search.local.LocalSearch.run", ["softmax"]),
]


@pytest.mark.usefixtures("taken_gpu")
@pytest.mark.parametrize(("command", "works", "arguments"), COMMANDS, ids=[item[0] for item in COMMANDS])
def test_a_gpu_that_is_in_use_is_left_alone_unless_one_insists(
    command: str, works: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reached(*_: object, **__: object) -> None:
        raise UsageError("tried")

    monkeypatch.setattr(works, reached)
    with pytest.raises(
        CommandError, match=r"cuda:0 is in use .* on this host; stop that first, or"
    ) as caught:
        call_command(command, *arguments)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    with pytest.raises(CommandError, match="tried"):
        call_command(command, *arguments, "--anyway")


@pytest.mark.usefixtures("taken_gpu")
def test_compiling_for_a_gpu_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(*_: object, **__: object) -> None:
        raise UsageError("tried")

    monkeypatch.setattr(local_runs, "run_file", reached)
    with pytest.raises(CommandError, match="tried"):
        call_command("evaluate", *COMMANDS[0][2], "--mode", "check")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a task and a file"),
        (["no-such", "kernel.cpp"], "there is no task 'no-such' (known: "),
        (["FOLDER", "no-such.cpp"], "no-such.cpp: No such file or directory"),
        (["FOLDER", "FOLDER"], "Is a directory"),
        (["FOLDER", "kernel.cpp", "--device", "tpu"], "this machine has no device 'tpu' (found: cpu ("),
        (["FOLDER", "FOLDER/task.toml"], "task.toml tells no language by its name"),
        (["FOLDER", "FOLDER/reference.py"], "does not take Python"),
        (["FOLDER", "FOLDER/good/plain.cpp", "--mode", "fast"], "invalid choice: 'fast'"),
        (["--catalog", "FOLDER", "kernel.cpp"], "--catalog takes no file"),
    ],
)
def test_usage_errors_are_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("evaluate", *(text.replace("FOLDER", str(folder)) for text in arguments))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_usage_errors_have_a_status_of_their_own(folder: Path) -> None:
    done = evaluate(folder, "no-such", "kernel.cpp")
    assert done.returncode == 2
    assert done.stderr.startswith("CommandError: there is no task 'no-such'")
    assert not done.stdout
