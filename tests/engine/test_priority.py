"""Where the kernel shares cores out among sessions, a nice value counts only within one."""

import os
import subprocess
import sys
from collections.abc import Sequence

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
def test_a_supervisor_goes_back_to_where_it_was() -> None:
    code = (
        "from runners.sandbox import privileges as p; from runners.supervisor.cores import Cores\n"
        "cores = Cores([]); told = [p.session_priority()]\n"
        "cores.leave(); told.append(p.session_priority())\n"
        "cores.take_all(); told.append(p.session_priority()); print(told)"
    )
    assert _said([sys.executable, "-c", code], leads=True) == "[0, -15, 0]"
    assert _said([sys.executable, "-c", code], leads=False) == str([privileges.session_priority()] * 3), (
        "others are in it, too"
    )


def _said(command: Sequence[str], *, leads: bool) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, start_new_session=leads)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
