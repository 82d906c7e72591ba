"""Whose work a compiled source does, by what the real nvcc lists of it."""

from pathlib import Path
from typing import Any

import pytest

from leaderboard.corpus.cases import Attempt, Corpus, read_corpus
from leaderboard.corpus.judging import Outcome, run_attempt
from leaderboard.corpus.suite import controls_of
from runners.backends.cuda.backend import CudaBackend
from runners.contract.launches import compiled_launches, work_of
from runners.contract.vocabulary import DeviceKind, Mode, Work
from runners.devices import DetectedDevice
from runners.supervisor.workshop import SandboxedWorkshop
from tests.engine_cuda.conftest import HOPPER

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("tools")]
CORPUS: Corpus = read_corpus(Path(__file__).parents[1] / "cheats")
#: Those that need no GPU, as they are compiled and no more.
COMPILED = [item for item in CORPUS.attempts_on(DeviceKind.CUDA) if item.expectation.mode == Mode.CHECK]
#: The name never stands before a colon, in no text of the source's own.
_BY_ANOTHER_NAME = """
#include <cub/device/device_scan.cuh>
namespace fast = cub;
using fast::DeviceScan;
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    static void* room = nullptr;
    static size_t bytes = 0;
    DeviceScan::InclusiveSum(room, bytes, x, y, (int)count, stream);
}
"""
_OWN_BY_BLOCKS_OF_A_LIBRARY = """
#include <cub/cub.cuh>
__global__ void mine(const float* x, float* y) {
    using Sum = cub::BlockReduce<float, 128>;
    __shared__ typename Sum::TempStorage room;
    const float sum = Sum(room).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) *y = sum;
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    mine<<<1, 128, 0, stream>>>(x, y);
}
"""


def _work(report: Any, findings: Any) -> str:
    return work_of(DeviceKind.CUDA, compiled_launches(report), findings, seen=True)


def _outcome(attempt: Attempt, folder: Path) -> Outcome:
    device = DetectedDevice("hopper", DeviceKind.CUDA, "Hopper", 0, (), HOPPER.facts)
    return run_attempt(CORPUS, attempt, device, folder)


@pytest.mark.corpus
@pytest.mark.parametrize("attempt", COMPILED, ids=lambda item: item.name)
def test_a_library_compiled_with_the_source_is_a_librarys_work(attempt: Attempt, tmp_path: Path) -> None:
    outcome = _outcome(attempt, tmp_path)
    assert outcome.faults == ()
    (document,) = outcome.documents
    assert _work(document.get("compile"), document["findings"]) == Work.LIBRARY
    assert _work(document.get("compile"), []) == Work.LIBRARY, "the compiler's list alone says so"


@pytest.mark.parametrize("control", controls_of(CORPUS, COMPILED), ids=lambda item: item.path.name)
def test_its_honest_neighbours_work_is_its_own(control: Attempt, tmp_path: Path) -> None:
    outcome = _outcome(control, tmp_path)
    assert outcome.faults == ()
    (document,) = outcome.documents
    assert _work(document.get("compile"), document["findings"]) == Work.OWN


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("source", "work"), [(_BY_ANOTHER_NAME, Work.LIBRARY), (_OWN_BY_BLOCKS_OF_A_LIBRARY, Work.OWN)]
)
def test_the_compilers_list_decides_where_no_rule_finds_a_thing(
    source: str, work: str, spec: Any, workshop: SandboxedWorkshop
) -> None:
    backend = CudaBackend()
    built = backend.build(source, spec, HOPPER, Mode.TEST, workshop)
    findings = [*backend.screen(source, spec), *built.findings]
    assert "library_call" not in {finding["rule"] for finding in findings}
    assert _work(built.report, findings) == work


def test_the_corpus_has_cases_that_are_compiled() -> None:
    assert {item.name for item in COMPILED} >= {"C41/library.cu", "C44/for_show.cu"}
