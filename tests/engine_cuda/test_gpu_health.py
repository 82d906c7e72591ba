"""What the check of a GPU says, on a stand-in for NVIDIA's driver that fails as it is told to.

The kernel is written out in C there: that the real one assembles is tested here, what it does on tests/gpu.
"""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runners import gpu_health
from runners.backends.cuda.toolchain import Toolchain
from runners.sandbox import nvidia

_DRIVER = """\
#include "{host_driver}"
#include <string.h>
#include <unistd.h>

Result cuMemsetD32_v2(Address address, unsigned value, size_t count) {{
    for (size_t i = 0; i < count; ++i) ((unsigned*)address)[i] = value;
    return 0;
}}
Result cuMemcpyDtoH_v2(void* host, Address address, size_t size) {{
    memcpy(host, (void*)address, size);
    return 0;
}}
Result cuModuleLoadData(void** module, const char* code) {{
    return LOADS ? LOADS : strstr(code, "add_index") == NULL;
}}
Result cuModuleGetFunction(void** function, void* module, const char* name) {{
    return strcmp(name, "add_index") != 0;
}}
Result cuLaunchKernel(void* function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty,
                      unsigned tz, unsigned shared, void* stream, void** parameters, void** extra) {{
    unsigned* words = (unsigned*)*(Address*)parameters[0];
    while (HANGS) pause();
    for (unsigned i = 0; i < blocks * threads; ++i)
        if (i != WRONG) words[i] += i * {factor}u;
    return y * z * ty * tz != 1 || shared || stream || extra ? 1 : LAUNCHES;
}}
"""
_SOUND = {"LOADS": 0, "LAUNCHES": 0, "WRONG": -1, "HANGS": 0}


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, **faults: int) -> None:
    """Compiles the driver with its ``faults`` and puts it in the place of the machine's."""
    host_driver = Path(__file__).with_name("host_driver.c")
    source = _DRIVER.format(host_driver=host_driver, factor=gpu_health._FACTOR)
    defined = [f"-D{name}={value}" for name, value in {**_SOUND, **faults}.items()]
    options = ["-shared", "-fPIC", "-O2", "-Wl,-soname,libcuda.so.1", *defined]
    command = ["gcc", *options, "-x", "c", "-", "-o", folder / "libcuda.so.1"]
    subprocess.run(command, input=source, text=True, check=True)
    monkeypatch.setattr(nvidia, "driver_folder", lambda: str(folder))


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({}, ""),
        ({"LAUNCHES": 719}, "it runs no kernel: cuLaunchKernel: an error of the stand-in (CUDA error 719)"),
        ({"WRONG": 2**20 - 1}, "a kernel run on memory that holds 0xa5a5a5a5 leaves something else than it"),
        ({"LOADS": 209}, "GPU 0 fails its health check: cuModuleLoadData: an error of the stand-in"),
        ({"LOADS": 221, "LAUNCHES": 719}, ""),  # the driver cannot translate: no fault of the GPU
    ],
)
def test_a_gpu_must_run_a_kernel(
    faults: dict[str, int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, **faults)

    found = gpu_health.check_gpu(0)

    assert words in found
    assert bool(found) == bool(words)


def test_a_gpu_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, HANGS=1)
    monkeypatch.setattr(gpu_health, "_SECONDS", 1)
    assert gpu_health.check_gpu(0) == "GPU 0 did not answer within 1 s."


def test_a_process_that_the_driver_holds_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Held(subprocess.Popen[str]):
        """No signal reaches it, as in the driver's depths."""

        def kill(self) -> None:
            pass

    def start(_: object, **options: Any) -> Held:
        held.append(Held([sys.executable, "-c", "import time; time.sleep(60)"], **options))
        return held[-1]

    monkeypatch.setattr(nvidia, "environment", lambda index: {})
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(gpu_health, "_SECONDS", 0.1)
    monkeypatch.setattr(gpu_health, "_END_SECONDS", 0.1)
    held: list[Held] = []
    try:
        assert gpu_health.check_gpu(0) == "GPU 0 did not answer within 0.1 s."
        assert f"does not let process {held[0].pid} go" in caplog.text
        assert held[0].poll() is None
    finally:
        held[0].send_signal(signal.SIGKILL)
        held[0].wait()


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_the_kernel_assembles(target: str, tools: Toolchain, tmp_path: Path) -> None:
    assembler = Path(tools.root) / "bin" / "ptxas"
    if not assembler.exists():
        pytest.skip("no ptxas")
    source = tmp_path / "kernel.ptx"
    source.write_text(gpu_health._KERNEL)
    command = [assembler, "--gpu-name", target, source, "-o", tmp_path / "kernel.cubin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
