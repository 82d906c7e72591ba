"""What a submission can see and reach from inside: next to nothing."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.backends.base import Built, CompileFailed
from runners.backends.cpp.backend import CppBackend
from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import Mode
from runners.sandbox import bubblewrap
from runners.sandbox.probe import PROVED, Probe, tier_number
from runners.supervisor.evaluation import Evaluation
from runners.supervisor.stop import Stop
from tests.engine.conftest import GOOD_CPP, Evaluate

pytestmark = pytest.mark.sandbox

#: Runs at load time, prints what it found, and leaves a kernel that is judged as usual.
_SPY = """
import ctypes, fcntl, json, os, socket

def tried(action):
    try:
        action()
        return "open"
    except OSError as error:
        return type(error).__name__

libc = ctypes.CDLL(None, use_errno=True)

def called(number, *arguments):
    return "open" if libc.syscall(number, *arguments) >= 0 else "refused"

def read(path):
    with open(path) as stream:
        return stream.read()

found = {
    "uid": os.getuid(),
    "environment": sorted(os.environ),
    "environment of 1": tried(lambda: print(read("/proc/1/environ"))),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "descriptors": len(os.listdir("/proc/self/fd")) - 1,
    "secret": tried(lambda: read(SECRET)),
    "shadow": tried(lambda: read("/etc/shadow")),
    "write root": tried(lambda: open("/file", "w")),
    "write usr": tried(lambda: open("/usr/file", "w")),
    "write dev": tried(lambda: open("/dev/file", "w")),
    "write code": tried(lambda: open("/kernelhub/runners/harness/child.py", "w")),
    "write tmp": tried(lambda: open("/tmp/file", "w")),
    "tcp": tried(lambda: socket.create_connection(("127.0.0.1", PORT), 1)),
    "vsock": tried(lambda: socket.socket(40, socket.SOCK_STREAM)),
    "packet": tried(lambda: socket.socket(17, socket.SOCK_RAW)),
    "terminal": tried(lambda: os.open("/dev/ptmx", os.O_RDWR)),
    "own terminal": tried(lambda: fcntl.ioctl(0, 0x540E, 0)),
    "socket filter": tried(lambda: socket.socket(socket.AF_UNIX).setsockopt(1, 26, bytes(16))),
    "ptrace": called(101, 0, 0, 0, 0),
    "unshare user": called(272, 0x10000000),
    "clone user": called(56, 0x10000000 | 17, 0, 0, 0, 0),
    "mount": called(165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "io_uring": called(425, 1, 0),
    "keyctl": called(250, 0, 0, 0, 0, 0),
    "affinity": called(203, 0, 8, (ctypes.c_uint64 * 1)(1)),
    "timer": called(222, 1, 0, 0),
    "setuid root": tried(lambda: os.setuid(0)),
    "hosts": tried(lambda: socket.getaddrinfo("example.org", 80)),
    "priority": tried(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
}
print(json.dumps(found))

def kernel(x):
    return 2 * x + 1
"""


def test_a_submission_finds_nothing_and_reaches_nobody(
    evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden seeds")
    secret.chmod(0o644)
    monkeypatch.setenv("SECRET_KEY", "the runner's own")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        header = f"SECRET, PORT = {str(secret)!r}, {listener.getsockname()[1]}\n"
        document = evaluate(header + _SPY)
    assert document["verdict"] == "passed", document["reason"]
    found = json.loads(document["output"]["stdout"].splitlines()[-1])
    assert found["uid"] not in (0, None)
    assert "SECRET_KEY" not in found["environment"]
    assert "SECRET_KEY" not in document["output"]["stdout"]
    assert found["processes"] <= 3
    assert found["descriptors"] <= 5, "0, 1, 2, the control socket and the source's own"
    for name in ("secret", "shadow", "write root", "write usr", "write dev", "write code", "tcp", "vsock"):
        assert found[name] != "open", name
    for name in ("own terminal", "socket filter"):
        assert found[name] == "PermissionError", name
    for name in ("packet", "hosts", "setuid root", "priority", "terminal"):
        assert found[name] != "open", name
    for name in ("ptrace", "unshare user", "clone user", "mount", "io_uring", "keyctl", "affinity", "timer"):
        assert found[name] == "refused", name
    assert found["write tmp"] == "open"


def test_nothing_is_left_for_the_next_run(evaluate: Evaluate) -> None:
    source = (
        "import os\n"
        "folders = ('/tmp', '/dev/shm', os.path.expanduser('~'))\n"
        "print([os.path.exists(f'{folder}/left') for folder in folders])\n"
        "for folder in folders:\n"
        "    open(f'{folder}/left', 'w').close()\n\n"
        "def kernel(x):\n"
        "    return 2 * x + 1\n"
    )
    for _ in range(2):
        assert evaluate(source)["output"]["stdout"].strip() == "[False, False, False]"


def test_compiler_sees_no_file_of_the_host(evaluate: Evaluate, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("#error hidden seeds\n")
    secret.chmod(0o644)
    document = evaluate(f'#include "{secret}"\n' + GOOD_CPP)
    assert document["verdict"] == "compile_error"
    assert "hidden seeds" not in json.dumps(document)


@pytest.mark.parametrize("cores", [(), None], ids=["compile-only worker", "device runner"])
def test_compilers_keep_off_the_measured_cores_and_push_nobody_aside(
    evaluate: Evaluate, cores: tuple[int, ...] | None, target: DeviceTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in compiler says where it runs; all else is the real way from job to workshop."""
    words = "import os; print(sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0)); exit(1)"

    def build(self: object, source: str, spec: object, device: object, mode: object, workshop: Any) -> Built:
        done = workshop.run([[os.path.realpath(sys.executable), "-c", words]], {}, [])
        raise CompileFailed(done.log.strip())

    monkeypatch.setattr(CppBackend, "build", build)
    changed = replace(target, cores=target.cores if cores is None else cores)
    usable = sorted(os.sched_getaffinity(0))
    document = evaluate(GOOD_CPP, Mode.CHECK, target=changed)
    beside = [core for core in usable if core not in (changed.cores or usable[1:])]
    assert document["reason"] == f"{beside} {os.getpriority(os.PRIO_PROCESS, 0)}"


def test_run_is_refused_below_its_tier(make_job: object) -> None:
    weak = Probe(
        "T0", {"own uid": PROVED, "landlock": "missing in this kernel", "namespaces": "no bubblewrap"}
    )
    job = make_job(GOOD_CPP, Mode.RANKED, required_tier="T2")  # type: ignore[operator]
    document = Evaluation(job, weak, Stop(float("inf"), 1), lambda event: None).run()
    assert document["verdict"] == "refused"
    assert "reaches tier T0, T2 is required: landlock: missing in this kernel" in document["reason"]
    assert document["engine"]["tier"] == "T0"


def test_tiers_are_ordered() -> None:
    assert [tier_number(tier) for tier in ("none", "T0", "T1", "T2")] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="T9"):
        tier_number("T9")


def test_this_machine_proves_every_layer(proved: Probe) -> None:
    """In CI a layer that is missing here is a failure of the machine, and must not go unseen."""
    if not os.environ.get("CI"):
        pytest.skip("machines outside CI may lack a layer")
    assert proved.tier == proved.tier_on("cpu") == "T2", proved.missing()


@pytest.mark.parametrize(("births", "reached"), [(PROVED, "T2"), ("not stopped: unasked birth", "T0")])
def test_a_cpu_needs_births_by_permission(births: str, reached: str) -> None:
    probe = Probe("T2", {"births": births})
    assert (probe.tier_on("cpu"), probe.tier_on("cuda")) == (reached, "T2")
    assert probe.usable().births == (births == PROVED)


def test_a_machine_without_any_tier_has_none_on_a_cpu_either() -> None:
    assert Probe("none", {}).tier_on("cpu") == "none"


def test_an_installation_under_tmp_is_seen_inside(tmp_path: Path) -> None:
    """The sandbox has a /tmp of its own, which must not hide what is mounted from under the host's."""
    (tmp_path / "module").write_text("seen")
    bwrap = bubblewrap.executable()
    assert bwrap is not None
    command = bubblewrap.command(
        bwrap,
        [("/usr", "/usr"), (str(tmp_path), "/tmp/installation")],
        [],
        {"tmp": 2**20, "shm": 2**20},
        ["/usr/bin/cat", "/tmp/installation/module"],
    )
    done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("seen", "")
