"""The CUDA session's whole protocol in the real sandbox, with host memory in place of a device.

host_driver.c stands in for NVIDIA's driver on both sides, and "kernels" are plain C functions that also take
a stream. What only a device can show is tested by tests/gpu.
"""

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.sandbox import nvidia
from runners.sandbox.bounds import Bounds
from runners.sandbox.probe import probe
from runners.supervisor import cuda_arena, cuda_case, cuda_session
from runners.supervisor.bringing import BringSeconds
from runners.supervisor.child import Child
from runners.supervisor.cuda_session import CudaSession
from runners.supervisor.outcome import CaseFailed, Ended
from runners.supervisor.plan import plan_for
from runners.supervisor.stop import Stop
from runners.supervisor.verify import verify

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
    pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have a real driver"),
]
_LIMITS = ModeLimits(deadline=120, compile=60, call=5, case_timing=1, warm_up=0.05)
_SOURCE = """
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
const char* kernelhub_last_error() { return %s; }
static void twice(const float* x, float* y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) y[i] = 2 * x[i];
}
%s
void kernel(const float* x, float* y, int64_t count, void* stream) {
    if (stream != (void*)7) abort();
    %s
}
void kernelhub_calls(void* const* pointers, const int64_t* sizes, int64_t calls, void* stream) {
    for (; calls > 0; --calls, pointers += 2) kernel(pointers[0], pointers[1], sizes[0], stream);
}
"""
_GOOD = "twice(x, y, count);"


@pytest.fixture(scope="module")
def driver() -> Iterator[Path]:
    # Not below /tmp, where the sandbox has its own.
    folder = Path(tempfile.mkdtemp(prefix="kernelhub-driver-", dir="/var/tmp"))
    folder.chmod(0o755)
    library = folder / "libcuda.so.1"
    source = Path(__file__).with_name("host_driver.c")
    command = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, source]
    subprocess.run(command, check=True)
    ctypes.CDLL(str(library))  # later, the name alone finds it
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def on_host(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's side of the stand-in."""
    monkeypatch.setattr(nvidia, "driver_folder", lambda: str(driver))
    monkeypatch.setattr(cuda_session, "_DEVICE", "cpu")
    monkeypatch.setattr(cuda_arena, "as_tensor", _host_bytes)
    for name, value in {
        "is_available": lambda: True,
        "synchronize": lambda: None,
        "empty_cache": lambda: None,
        "mem_get_info": lambda _: (2**27, 2**28),
        "get_device_properties": lambda _: SimpleNamespace(L2_cache_size=2**20),
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)


def _host_bytes(memory: Any) -> torch.Tensor:
    shared = (ctypes.c_char * memory.size).from_address(memory.address)
    return torch.frombuffer(shared, dtype=torch.uint8)


@pytest.fixture
def session(
    on_host: None, spec: TaskSpec, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[..., CudaSession]:
    def start(body: str, error: str = "0", more: str = "", timed: bool = False) -> CudaSession:
        source, library = tmp_path / "kernel.c", tmp_path / "kernel.so"
        source.write_text(_SOURCE % (error, more, body))
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        target = DeviceTarget(DeviceKind.CUDA)
        plan = plan_for(target, "library", Bounds(), probe().usable())
        child = Child(plan, Stop(time.monotonic() + 60, 60))
        request.addfinalizer(child.close)
        made = CudaSession(spec, target, _LIMITS, child=child, kind="library")
        made.start([spec.cases[1]] if timed else [])
        made.load(library.read_bytes())
        return made

    return start


def _verify(session: CudaSession, spec: TaskSpec) -> Ended | None:
    return verify(session, [spec.cases[0]], hidden=False, seed=b"seed", report=lambda _: None)[1]


def _run(session: CudaSession, spec: TaskSpec, order: list[int], slots: int = 6) -> Any:
    opened = session.open(spec.cases[0], slots, timed=True)
    opened.arm(order)
    for slot in order:
        opened.fill(slot, b"seed", str(slot))
    opened.run()
    return opened


def test_an_honest_kernel_passes(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    assert _verify(session(_GOOD), spec) is None


def test_overheads_are_small_once_bringing_the_inputs_is_taken_off(
    session: Callable[..., CudaSession], spec: TaskSpec
) -> None:
    started = session(_GOOD, timed=True)
    opened = started.open(spec.cases[1], started.slots_for(spec.cases[1]), timed=True)
    opened.arm([0])
    opened.fill(0, b"seed")

    assert opened.run() > 0
    assert started.null_overhead(spec.cases[1]) >= 0
    assert opened.event_seconds(1, 2) is None, "one batch length has no slope"
    opened.arm([0, 1])
    opened.run()
    assert opened.event_seconds(1, 2) is not None
    opened.close()


def test_outputs_are_compared_with_inputs_that_the_child_never_held(
    session: Callable[..., CudaSession], spec: TaskSpec
) -> None:
    opened = _run(session(_GOOD + " ((float*)x)[3] = 1;"), spec, [2, 0])

    with pytest.raises(CaseFailed, match="input x was changed"):
        opened.check(2)


def test_every_slot_is_refilled_and_timed_with_inputs_of_its_own(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_arena, "PART_BYTES", 3 * 4096)  # 6 slots do not fit one part
    monkeypatch.setattr(cuda_case, "PART_BYTES", 3 * 4096)
    opened = session(_GOOD).open(spec.cases[0], 6, timed=True)

    for order in ([3, 1], [5, 0, 4, 2, 1, 3]):
        opened.arm(order)
        opened.refill(order)
        opened.run()
        for slot in order:
            assert opened.check(slot)[0]["mismatches"] == 0
    assert len({opened.fingerprint(slot) for slot in range(6)}) == 6
    opened.close()


def test_slots_that_are_out_of_use_cost_nothing_and_the_others_are_watched(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_case, "_CACHES", 0)
    opened = session(_GOOD).open(spec.cases[0], 6, timed=True)
    opened.arm(range(6))
    opened.refill(range(6))
    opened.run()
    before = [opened.fingerprint(slot) for slot in range(6)]

    opened.keep(4)
    opened.arm([3, 0])
    opened.refill([3, 0])
    opened.run()

    assert opened.slots == 4
    assert [opened.check(slot)[0]["mismatches"] for slot in (3, 0)] == [0, 0]
    after = [opened.fingerprint(slot) for slot in range(6)]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False] * 4 + [True] * 2
    opened.keep(6)
    assert opened.slots == 6, "they come into use again"
    opened.close()


def test_no_cache_holds_the_slots_in_use(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    opened = session(_GOOD).open(spec.cases[0], 300, timed=True)

    opened.keep(3)

    assert opened.slots * 2 * 4096 == 2 * 2**20, "twice the cache of this device, inputs and outputs"
    opened.close()


def test_work_done_ahead_is_seen_in_what_is_left_in_use(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_case, "_CACHES", 0)
    opened = session(_GOOD + " y[1024] = 1;").open(spec.cases[0], 6, timed=True)
    opened.keep(3)
    opened.arm([1])
    opened.refill([1])

    with pytest.raises(Ended, match="calls that were not made"):
        opened.run()


def test_what_bringing_takes_is_known_for_any_number_of_slots(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    found = BringSeconds({40: 0.005, 10: 0.002})
    monkeypatch.setattr(cuda_case, "_CACHES", 0)
    monkeypatch.setattr(BringSeconds, "of", lambda _, slots: asked.append(slots) or 0.0)
    started = session(_GOOD, timed=True)
    opened = started.open(spec.cases[1], 8, timed=True)
    for count in (8, 3):
        opened.keep(count)
        opened.arm([0])
        opened.refill([0])
        opened.run()
    opened.close()
    monkeypatch.undo()

    assert asked[-2:] == [8, 3]
    assert [found.of(slots) for slots in (10, 20, 40)] == pytest.approx([0.002, 0.003, 0.005])
    assert BringSeconds({7: 0.001}).of(3) == 0.001
    assert BringSeconds({}).of(3) == 0.0


def test_what_bringing_takes_is_measured_and_taken_off(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = session(_GOOD, timed=True)
    known = started._bring[spec.cases[1].name]
    slots = started.slots_for(spec.cases[1])
    assert 0 < known.of(slots // 8) < known.of(slots), "a copy of more slots takes longer"

    opened = started.open(spec.cases[1], slots, timed=True)
    monkeypatch.setattr(BringSeconds, "of", lambda *_: 5.0)
    opened.arm([0])
    opened.refill([0])
    assert -5 < opened.run() < -4
    opened.close()


def test_work_done_ahead_is_seen_in_slots_of_any_size(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_arena, "PART_BYTES", 1)  # large ones are looked at one by one
    opened = _run(session(_GOOD), spec, [2])
    opened.close()

    with pytest.raises(Ended, match="calls that were not made"):
        _run(session(_GOOD + " y[1024] = 1;"), spec, [0])


def test_small_calls_get_slots_for_a_long_batch_and_large_ones_what_memory_holds(
    session: Callable[..., CudaSession], spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = spec.cases
    assert session(_GOOD).slots_for(large) == int(0.45 * 2**27) // (3 * 802_816)

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (2**30, 2**31))
    started = session(_GOOD)
    slots = started.slots_for(small)
    assert slots == 8000, "20 ms of launches of 2.5 µs"

    opened = started.open(small, slots, timed=True)
    opened.arm(range(slots - 1))
    opened.refill(range(slots - 1))
    opened.run()
    assert opened.check(slots - 2)[0]["mismatches"] == 0
    opened.close()


def test_a_half_written_output_is_seen(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    opened = _run(session("twice(x, y, count - 1);"), spec, [0])

    (error,) = opened.check(0)
    assert (error["mismatches"], error["worst_index"], error["got"]) == (1, [999], "nan")


def test_work_for_calls_that_were_not_made_is_seen(
    session: Callable[..., CudaSession], spec: TaskSpec
) -> None:
    started = session(_GOOD + " y[1024] = 1;")  # the next slot begins a page later

    with pytest.raises(Ended, match="calls that were not made") as caught:
        _run(started, spec, [0])
    assert caught.value.verdict == Verdict.WRONG


def test_memory_behind_the_output_is_watched(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    opened = _run(session(_GOOD + " y[count] = 1;"), spec, [1])

    with pytest.raises(CaseFailed, match="memory behind its end"):
        opened.check(1)


def test_work_after_the_return_is_seen(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    more = """
    static const float* in; static float* out; static int64_t n;
    static void* late(void* unused) { for (int k = 0; k < 400; ++k) { usleep(1000); twice(in, out, n); }
    return 0; }
    """
    body = "in = x; out = y; n = count; pthread_t t; pthread_create(&t, 0, late, 0);"

    ended = _verify(session(body, more=more), spec)

    assert ended is not None
    assert ended.verdict == Verdict.WRONG


def test_a_launch_that_never_started_is_told(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    ended = _verify(session("", error='"invalid configuration argument"'), spec)

    assert ended is not None
    assert ended.verdict == Verdict.RUNTIME_ERROR
    assert "invalid configuration argument" in ended.reason


def test_a_crash_is_told(session: Callable[..., CudaSession], spec: TaskSpec) -> None:
    ended = _verify(session("*(volatile int*)8 = 1;"), spec)

    assert ended is not None
    assert "SIGSEGV" in ended.reason
