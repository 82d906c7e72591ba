"""Every attack through the real engine: its verdict, the host unchanged, and the next honest run passes."""

import gc
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard.corpus.cases import Attempt, Expectation, read_corpus
from leaderboard.corpus.judging import run_attempt
from runners.contract.vocabulary import DeviceKind, Verdict
from tests.devices import own_cpu
from runners.sandbox import process_tree
from runners.sandbox.privileges import NOBODY
from runners.supervisor.pool import WarmPool

ROOT = Path(__file__).parent
CORPUS = read_corpus(ROOT, tasks=ROOT.parent / "cheats")
CASES: dict[str, list[Attempt]] = {}
for _attempt in CORPUS.attempts_on(DeviceKind.CPU):
    CASES.setdefault(_attempt.case, []).append(_attempt)
#: Left to `make corpus`: those that must wait for a limit of time or memory.
SLOW = {"A01", "A03", "A04", "A05", "A06", "A07", "A13", "A15", "A22", "A24", "A26", "A30"}
SHARED_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp")


@pytest.fixture
def token() -> str:
    """A name that nothing else on the host bears; short enough for a process."""
    return f"kh{secrets.token_hex(5)}"


@pytest.fixture
def surroundings(token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What an attack would like to reach: a listening port, an abstract socket, a file, a variable."""
    canary = f"canary-{secrets.token_hex(8)}"
    secret = tmp_path / "secret"
    secret.write_text(canary)
    monkeypatch.setenv("KERNELHUB_CANARY", canary)
    monkeypatch.setenv("DATABASE_URL", os.environ.get("DATABASE_URL", "postgres://of-the-host/"))
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{token}")
        abstract.listen()
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(server.getsockname())
        datagrams.setblocking(False)
        yield {
            "PORT": str(server.getsockname()[1]),
            "ABSTRACT": token,
            "SECRET": str(secret),
            "CANARY": canary,
            "TOKEN": token,
        }
        for listening in (server, abstract):
            listening.setblocking(False)
            with pytest.raises(BlockingIOError):
                listening.accept()
        with pytest.raises(BlockingIOError):
            datagrams.recv(1)
        datagrams.close()
    assert secret.read_text() == canary


@pytest.fixture
def unchanged_host(supervisors: WarmPool, token: str) -> Iterator[None]:
    """Processes, shared folders and our own descriptors are after the attack as they were before."""
    processes = set(process_tree.descendants(os.getpid()))
    files = strangers(token)
    descriptors = open_descriptors()
    yield
    assert set(process_tree.descendants(os.getpid())) <= processes
    assert not processes_named(token), "a process of the attack is alive on the host"
    assert strangers(token) <= files
    assert open_descriptors() <= descriptors


def strangers(token: str) -> set[str]:
    """Entries of shared folders that a submission may have made: by its uid, a run's name or the token."""
    found = set()
    for place in SHARED_FOLDERS:
        for entry in os.scandir(place):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if token in entry.name or (status.st_uid == NOBODY and not stat.S_ISDIR(status.st_mode)):
                found.add(entry.path)
    return found


def open_descriptors() -> int:
    gc.collect()  # what tests before left to be closed some time must not count for one side only
    return len(os.listdir("/proc/self/fd"))


def processes_named(token: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += [pid] if token in Path(f"/proc/{pid}/comm").read_text() else []
        except OSError:
            continue
    return found


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.corpus if case in SLOW else ()) for case in CASES]
)
def test_attack_gets_its_verdict_and_leaves_nothing(
    case: str,
    engine_data: Path,
    supervisors: WarmPool,
    surroundings: dict[str, str],
    unchanged_host: None,
) -> None:
    device = own_cpu()
    for attempt in CASES[case]:
        wanted = replace(
            attempt.expectation,
            never_printed=tuple(
                text.replace("@CANARY@", surroundings["CANARY"]) for text in attempt.expectation.never_printed
            ),
        )
        outcome = run_attempt(
            CORPUS, replace(attempt, expectation=wanted), device, engine_data, surroundings, supervisors
        )
        assert outcome.faults == (), attempt.name
    honest = Expectation("honest", "works", task="affine", expected=(Verdict.PASSED,), control="affine.cpp")
    after = run_attempt(CORPUS, CORPUS.control(honest), device, engine_data, pool=supervisors)
    assert after.faults == (), "the next honest run"


def test_every_attack_has_a_case() -> None:
    """Those from A37 on need a GPU: tests/gpu runs them, and the machine's nvcc compiles them here."""
    assert list(CORPUS.expectations) == [f"A{number:02}" for number in range(1, 44)]
    assert {attempt.case for attempt in CORPUS.attempts_on(DeviceKind.CUDA)} >= {
        f"A{number}" for number in (37, 38, 39, 41, 42, 43)
    }
