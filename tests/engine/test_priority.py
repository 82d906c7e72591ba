"""Where the kernel shares cores out among sessions, a nice value counts only within one."""

import os
import subprocess
import sys

import pytest

from runners.sandbox import privileges
from tests.engine.conftest import Evaluate

_GROUPS = "/proc/sys/kernel/sched_autogroup_enabled"
_SPY = """
import os
with open("/proc/self/autogroup") as group:
    print(group.read().split()[-1], os.getpriority(os.PRIO_PROCESS, 0), os.getpgrp() == os.getpid())

def kernel(x):
    return 2 * x + 1
"""


@pytest.fixture
def grouped() -> None:
    if os.geteuid() != 0 or not os.path.exists(_GROUPS):
        pytest.skip("only root may go before others, and here sessions share no cores out")
    with open(_GROUPS) as enabled:
        if enabled.read().strip() != "1":
            pytest.skip("cores are not shared out among sessions here")


@pytest.mark.sandbox
@pytest.mark.usefixtures("grouped")
def test_a_submission_goes_before_other_sessions(evaluate: Evaluate) -> None:
    document = evaluate(_SPY)
    assert document["verdict"] == "passed", document["reason"]
    own_group = "a signal to it reaches nothing outside"
    assert document["output"]["stdout"].split() == ["-15", "-15", "True"], own_group


@pytest.mark.usefixtures("grouped")
def test_a_supervisor_goes_back_to_where_it_was_and_takes_nobody_along() -> None:
    code = (
        "import os; from runners.sandbox import privileges; from runners.supervisor.cores import Cores\n"
        "def told():\n"
        "    cores, found = Cores([]), [privileges.session_priority()]\n"
        "    for act in (cores.leave, cores.take_all):\n"
        "        act(); found.append(privileges.session_priority())\n"
        "    return found\n"
        "print(told()); os.setsid(); print(told())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    usual = privileges.session_priority()
    assert done.stdout.splitlines() == [str([usual] * 3), "[0, -15, 0]"], (
        "first those who started it are in it"
    )
