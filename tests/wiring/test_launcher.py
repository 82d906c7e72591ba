"""``manage.py up``: one clear line for what keeps it from starting, and nothing left when it stops."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from tests.ports import free_port
from tests.processes import command_line
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]


def environment(folder: Path, port: int) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    return {
        **inherited,
        "KERNELHUB_DATA": str(folder),
        "KERNELHUB_TASKS": "softmax",
        "KERNELHUB_BASELINES": "no",
        "KERNELHUB_CALIBRATE": "no",
        "KERNELHUB_SURROGATE": "no",
        "PORT": str(port),
    }


def run_up(folder: Path, port: int, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "up"]
    env = {**environment(folder, port), **changes}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)


def assert_one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert words in line, line


def test_a_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_one_line(run_up(tmp_path / "data", port), f"cannot listen on 127.0.0.1:{port}")
    assert not (tmp_path / "data").exists(), "a site that did not start leaves no folder"


def test_an_unwritable_folder_is_one_clear_line(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert_one_line(run_up(in_the_way / "data", free_port()), "set KERNELHUB_DATA")
    assert_one_line(run_up(in_the_way, free_port()), "set KERNELHUB_DATA")


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "eighty"), ("PORT", "70000"), ("HOST", "no.such.host.invalid")]
)
def test_a_wrong_address_is_one_clear_line(tmp_path: Path, name: str, value: str) -> None:
    assert_one_line(run_up(tmp_path, free_port(), **{name: value}), value)


def test_addresses_may_come_from_files(tmp_path: Path) -> None:
    """As container secrets do: the launcher must neither start its own servers nor confuse its children."""
    (tmp_path / "database").write_text("postgresql://nobody@127.0.0.1:1/none")
    (tmp_path / "redis").write_text("redis://127.0.0.1:1/0")
    files = {"DATABASE_URL_FILE": str(tmp_path / "database"), "REDIS_URL_FILE": str(tmp_path / "redis")}
    done = run_up(tmp_path / "data", free_port(), **files)
    assert done.returncode == 1
    assert "manage.py migrate failed" in done.stderr
    assert "both" not in done.stderr
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.whole_site
def test_it_starts_refuses_a_second_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """With the signal of a terminal that is closed; sites of other tests are stopped with SIGTERM."""
    port = free_port()
    output = tmp_path / "output"
    with output.open("wb") as file:
        up = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environment(tmp_path / "data", port),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}/"

        def said(words: str) -> bool:
            """Whether the launcher said ``words``. AssertionError with all it said where it has ended."""
            assert up.poll() is None, output.read_text()
            return words in output.read_text()

        wait_for("the address", lambda: said(address), seconds=180)
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert b"Row softmax" in answer.read()
        wait_for("the runner", lambda: said("serving cpu"), seconds=180)

        second = run_up(tmp_path / "data", free_port())
        assert_one_line(second, "already runs")

        # PostgreSQL runs apart from the launcher, so its processes are found by the folder that they serve.
        started = psutil.Process(up.pid).children(recursive=True)
        started += [
            p for p in psutil.process_iter() if str(tmp_path / "data" / "postgres") in command_line(p)
        ]
        assert len(started) >= 4
        up.send_signal(signal.SIGHUP)
        assert up.wait(timeout=60) == 0, output.read_text()
        _, alive = psutil.wait_procs(started, timeout=60)
        assert not alive
        assert "Traceback" not in output.read_text()
    finally:
        if up.poll() is None:
            up.send_signal(signal.SIGTERM)
            up.wait(timeout=60)
