"""Occupancy against NVIDIA's own calculator, which comes with the toolkit as a C++ header."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from runners.backends.cuda.architecture import (
    ARCHITECTURES,
    MOST_THREADS,
    REGISTERS,
    WARP,
    UnknownArchitectureError,
    architecture,
)
from runners.backends.cuda.occupancy import occupancy
from runners.backends.cuda.toolchain import Toolchain

_PROGRAM = r"""
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
    int major, minor, warps, shared, reserved, threads, registers, used;
    while (scanf("%d %d %d %d %d %d %d %d", &major, &minor, &warps, &shared, &reserved,
                 &threads, &registers, &used) == 8) {
        cudaOccDeviceProp device;
        device.computeMajor = major; device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = warps * 32;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32; device.numSms = 1;
        device.sharedMemPerBlock = 48 * 1024; device.sharedMemPerMultiprocessor = shared;
        device.sharedMemPerBlockOptin = shared - reserved; device.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes function;
        function.maxThreadsPerBlock = 1024; function.numRegs = registers; function.sharedSizeBytes = used;
        function.partitionedGCConfig = PARTITIONED_GC_OFF;
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
        function.maxDynamicSharedSizeBytes = 0; function.numBlockBarriers = 1;
        cudaOccDeviceState state;
        state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        cudaOccResult result;
        int failed = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads, 0);
        printf("%d\n", failed ? -failed : result.activeBlocksPerMultiprocessor);
    }
}
"""


def test_agrees_with_nvidias_calculator(tools: Toolchain, tmp_path: Path) -> None:
    if shutil.which("g++") is None or not Path(tools.root, "include", "cuda_occupancy.h").exists():
        pytest.skip("needs g++ and the toolkit's cuda_occupancy.h")
    source, program = tmp_path / "occupancy.cpp", tmp_path / "occupancy"
    source.write_text(_PROGRAM)
    subprocess.run(["g++", f"-I{tools.root}/include", "-o", program, source], check=True)
    draw = random.Random(20)
    questions = []
    for place in ARCHITECTURES.values():
        for _ in range(300):
            threads = draw.choice((32, 96, 128, 160, 256, 384, 512, 768, 1000, 1024))
            registers = draw.randint(16, 255)
            shared = draw.choice((0, 0, draw.randint(1, 48 * 1024)))
            questions.append((place, threads, registers, shared))
    lines = []
    for place, threads, registers, shared in questions:
        major, minor = place.capability.split(".")
        numbers = (major, minor, place.warps, place.shared_bytes, place.shared_reserved)
        lines.append(" ".join(map(str, (*numbers, threads, registers, shared))))
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    theirs = list(map(int, done.stdout.split()))

    ours = [occupancy(*question).blocks for question in questions]

    assert len(theirs) == len(ours)
    different = [
        (place.capability, threads, registers, shared, mine, right)
        for (place, threads, registers, shared), mine, right in zip(questions, ours, theirs, strict=True)
        if mine != right
    ]
    assert different == []


def test_names_what_keeps_more_blocks_out() -> None:
    hopper = architecture("9.0")
    assert occupancy(hopper, 1024, 32, 0).limited_by == "warps"
    assert occupancy(hopper, 32, 16, 0).limited_by == "blocks"
    assert occupancy(hopper, 256, 128, 0).limited_by == "registers"
    assert occupancy(hopper, 128, 32, 40_000).limited_by == "shared memory"


def test_a_block_that_needs_too_many_registers_does_not_fit() -> None:
    assert MOST_THREADS * 255 > REGISTERS

    found = occupancy(architecture("9.0"), MOST_THREADS, 255, 0)

    assert (found.blocks, found.fraction, found.limited_by) == (0, 0.0, "does not fit")


def test_the_fraction_counts_warps() -> None:
    found = occupancy(architecture("9.0"), 33, 32, 0)

    assert found.blocks == 32
    assert found.warps == 64, "33 threads take two warps"
    assert found.fraction == found.warps / (2048 / WARP)


@pytest.mark.parametrize("text", ["", "9", "9.9", "ninety"])
def test_an_unknown_capability_is_named(text: str) -> None:
    with pytest.raises(UnknownArchitectureError, match=repr(text)):
        architecture(text)


def test_only_recent_architectures_have_a_target_of_their_own() -> None:
    assert [architecture(item).target for item in ("8.0", "8.9", "9.0", "10.0", "12.1")] == [
        "80",
        "89",
        "90a",
        "100a",
        "121a",
    ]
