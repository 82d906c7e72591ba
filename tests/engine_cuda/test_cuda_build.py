"""Building .cu submissions with the real nvcc in the real sandbox."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.backends.base import CompileFailed, ToolRun
from runners.backends.cuda import toolchain
from runners.backends.cuda.backend import CudaBackend
from runners.contract.job import DeviceTarget
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Mode, Verdict
from runners.sandbox.spawn import Layers
from runners.supervisor.outcome import Ended
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import SandboxedWorkshop
from tests.engine_cuda.conftest import HOPPER

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("tools")]
_KERNELS = Path(__file__).with_name("three_kernels.cu").read_text()
_SMALL = """\
#include <cstdint>
__global__ void twice(const float* x, float* y, int64_t count) {
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) y[i] = 2 * x[i];
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    twice<<<1, 256, 0, stream>>>(x, y, count);
}
"""


@pytest.fixture
def build(spec: TaskSpec, workshop: SandboxedWorkshop) -> Any:
    def call(
        source: str, mode: Mode = Mode.TEST, target: DeviceTarget = HOPPER, spec: TaskSpec = spec
    ) -> Any:
        return CudaBackend().build(source, spec, target, mode, workshop)

    return call


def _failure(build: Any, source: str) -> CompileFailed:
    with pytest.raises(CompileFailed) as caught:
        build(source)
    assert caught.value.report is not None
    return caught.value


def test_a_library_comes_back_with_the_resources_of_each_kernel(build: Any) -> None:
    built = build(_KERNELS)

    assert built.kind == "library"
    assert built.payload.startswith(b"\x7fELF")
    assert "listing" not in built.report
    functions = {item["name"]: item for item in built.report["functions"]}
    assert set(functions) == {
        "plain(float const*, float*, long)",
        "spilling(float const*, float*)",
        "void shifted<double>(double*)",
    }
    spilling = functions["spilling(float const*, float*)"]
    assert spilling["registers"] <= 32, "eight blocks of 256 threads share 65536 registers"
    assert spilling["spill_stores_bytes"] > 0
    assert spilling["spill_loads_bytes"] > 0
    assert spilling["shared_bytes"] == 1024
    assert spilling["launch_bounds"] == 256
    assert spilling["occupancy_256"] == 1.0
    plain = functions["plain(float const*, float*, long)"]
    assert plain["spill_stores_bytes"] == plain["shared_bytes"] == 0


def test_check_mode_shows_both_listings_linked_to_the_source(build: Any) -> None:
    listings = {item["kind"]: item["lines"] for item in build(_KERNELS, Mode.CHECK).report["listing"]}

    (number,) = (at for at, line in enumerate(_KERNELS.splitlines(), 1) if "__shfl_xor_sync" in line)
    assert any(line == number and "shfl" in text for line, text in listings["ptx"])
    assert any(line == number and "SHFL" in text for line, text in listings["sass"])
    last = len(_KERNELS.splitlines())
    for lines in listings.values():
        assert all(line is None or 1 <= line <= last for line, _ in lines)
        linked = sum(line is not None for line, text in lines if text.startswith("  "))
        assert linked > len(lines) / 2


def test_without_a_disassembler_the_listing_says_so(
    build: Any, tools: toolchain.Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "find", lambda: replace(tools, nvdisasm=None))

    listings = {item["kind"]: item["lines"] for item in build(_SMALL, Mode.CHECK).report["listing"]}

    assert len(listings["ptx"]) > 10
    assert "no nvdisasm" in listings["sass"][0][1]


def test_the_same_source_is_compiled_once(build: Any) -> None:
    first = build(_SMALL)
    again = build(_SMALL)
    other = build(_SMALL, target=DeviceTarget(DeviceKind.CUDA, facts={"compute_capability": "8.0"}))

    assert not first.report["cached"]
    assert again.report["cached"]
    assert again.payload == first.payload
    assert again.report["functions"] == first.report["functions"]
    assert not other.report["cached"], "another architecture needs code of its own"


def test_an_error_carries_the_line_of_the_submission(build: Any) -> None:
    failure = _failure(build, _SMALL.replace("2 * x[i]", "2 * xx[i]"))

    assert failure.reason.startswith("kernel.cu(3): error:")
    assert '"xx"' in failure.reason
    assert "kernel.cu(3): error:" in failure.report["log"]
    assert "ptxas info" not in failure.report["log"]


def test_warnings_are_shown(build: Any) -> None:
    log = build(_SMALL.replace("twice<<<", "int unused;\n    twice<<<")).report["log"]

    assert 'kernel.cu(6): warning #177-D: variable "unused"' in log


def test_a_missing_extern_c_is_made_good(build: Any) -> None:
    assert build(_SMALL.replace('extern "C" ', "")).payload.startswith(b"\x7fELF")


def test_a_wrong_signature_is_a_compile_error(build: Any) -> None:
    failure = _failure(build, _SMALL.replace("int64_t count, cudaStream_t", "int count, cudaStream_t"))

    assert "kernel.cu(5): error:" in failure.reason
    assert "the task asks for: extern" in failure.reason
    assert "int64_t count, cudaStream_t stream" in failure.reason


def test_a_kernel_that_is_only_declared_is_refused(build: Any) -> None:
    failure = _failure(build, "// nothing but what the task's header declares\n")

    assert 'exports no symbol "kernel"' in failure.reason


def test_sixteen_bit_types_are_known_where_the_task_uses_them(build: Any, spec: TaskSpec) -> None:
    tensor = replace(spec.inputs[0], dtype="bfloat16")
    source = _SMALL.replace("const float*", "const __nv_bfloat16*").replace("2 * x[i]", "2 * float(x[i])")

    assert build(source, spec=replace(spec, inputs=(tensor,))).payload


def test_many_warnings_do_not_hide_the_entry_point(build: Any) -> None:
    lines = [f"    int unused_with_a_rather_long_name_{index};" for index in range(400)]
    source = _SMALL.replace("    twice<<<", "\n".join(lines) + "\n    twice<<<")

    built = build(source)

    assert built.payload
    assert len(built.report["functions"]) == 1
    assert len(built.report["log"]) <= 24_000


def test_an_endless_include_ends(spec: TaskSpec, tmp_path: Path) -> None:
    workshop = SandboxedWorkshop(str(tmp_path), 8, Layers(), Stop(time.monotonic() + 60, 60))

    with pytest.raises((Ended, CompileFailed)) as caught:
        CudaBackend().build('#include "/dev/zero"\n' + _SMALL, spec, HOPPER, Mode.TEST, workshop)

    if isinstance(caught.value, Ended):
        assert caught.value.verdict in (Verdict.TIMEOUT, Verdict.RESOURCE_LIMIT, Verdict.COMPILE_ERROR)


def test_the_compiler_sees_nothing_of_the_host(build: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text('#error "the secret"\n')

    failure = _failure(build, f'#include "{secret}"\n' + _SMALL)

    assert "No such file" in failure.report["log"]
    assert "the secret" not in failure.report["log"]


def test_an_unknown_device_is_not_the_submissions_fault(build: Any) -> None:
    with pytest.raises(Ended) as caught:
        build(_SMALL, target=DeviceTarget(DeviceKind.CUDA, facts={}))

    assert caught.value.verdict == Verdict.INTERNAL_ERROR
    assert "compute capability" in caught.value.reason


def test_a_workshop_that_hands_back_nothing_is_no_library(
    spec: TaskSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Empty:
        def run(self, *_: object, **__: object) -> ToolRun:
            return ToolRun(0, "kernel.so:0000000000001780 T kernel\n", {}, 0.0)

        def cached(self, key: str) -> None:
            return None

        def store(self, key: str, content: bytes) -> None:
            pytest.fail("nothing is worth keeping")

    with pytest.raises(CompileFailed, match="no shared library"):
        CudaBackend().build(_SMALL, spec, HOPPER, Mode.TEST, Empty())


class TestScreening:
    def test_the_entry_point_must_be_there(self, spec: TaskSpec) -> None:
        (finding,) = CudaBackend().screen("// kernel\n__global__ void f() {}", spec)

        assert finding["rule"] == "entry_point_missing"
        assert finding["refuses"]
        assert "cudaStream_t stream" in finding["message"]

    def test_an_honest_source_passes(self, spec: TaskSpec) -> None:
        assert CudaBackend().screen(_SMALL, spec) == []


def test_no_compiler_is_one_clear_sentence(
    build: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(toolchain, "_FOLDERS", (str(tmp_path),))
    monkeypatch.setenv("PATH", str(tmp_path))
    toolchain.find.cache_clear()
    try:
        with pytest.raises(Ended) as caught:
            build(_SMALL)
    finally:
        toolchain.find.cache_clear()

    assert caught.value.verdict == Verdict.INTERNAL_ERROR
    assert "no CUDA compiler" in caught.value.reason
