"""A process ends on a signal, and when whoever started it is gone."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
LIVES = """
from runners.lifetime import Lifetime
lifetime = Lifetime()
print("alive", flush=True)
for _ in lifetime.rounds(0.02):
    pass
assert lifetime.over.is_set()
"""
STARTS_ONE = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {LIVES!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", LIVES], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"alive\n"
        process.send_signal(number)
        assert process.wait(60) == 0


def test_a_signal_is_heard_while_the_lock_of_the_event_is_held() -> None:
    """As it is for a moment whenever a wait begins or ends."""
    code = """
import os, signal, threading
from runners.lifetime import set_on_signals
event = threading.Event()
set_on_signals(event, [signal.SIGTERM])
with event._cond:
    os.kill(os.getpid(), signal.SIGTERM)
    print("held", flush=True)
assert event.wait(60)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"held\n"), done.stderr


def test_it_does_not_outlive_its_launcher() -> None:
    launcher = subprocess.Popen([sys.executable, "-c", STARTS_ONE], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        launcher.kill()
        launcher.wait()
        wait_for("the orphan to end", lambda: not psutil.pid_exists(child) or _is_dead(child), 60)
    finally:
        launcher.kill()
        launcher.wait()
        launcher.stdout.close()  # type: ignore[union-attr]


def _is_dead(pid: int) -> bool:
    """A process whose end nobody has asked for stays in the table."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
