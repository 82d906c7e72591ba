"""Batches of a ranked run whose inputs depart from what a case is timed with."""

import random
from collections import Counter
from typing import Any

import pytest
import torch

from runners.contract.parse import parse_task
from runners.contract.spec import Case, TaskSpec, Tolerance
from runners.contract.vocabulary import CaseRole, DeviceKind, Mode, Verdict
from runners.supervisor.checking import check_outputs
from runners.supervisor.departures import Departure, Departures, candidates, departures, put, room_for
from runners.supervisor.oracle import Oracle
from tests.engine.conftest import DOCUMENT, REFERENCE, Evaluate

COUNTS: dict[str, Any] = {
    "sizes": ["count"],
    "languages": ["python", "cpp"],
    "inputs": [{"name": "x", "dtype": "int32", "shape": ["count"], "low": 0, "high": 1024}],
    "outputs": [{"name": "y", "dtype": "int32", "shape": ["1024"]}],
    "tolerance": {},
    "cost": {"bytes": "4 * count", "flops": "count", "dtype": "int32"},
    "hidden": {"fills": {"x": ["integers", "constant", "zeros"]}},
    "cases": {
        "cpu": {
            "test": [{"count": 100}, {"count": 7, "fills": {"x": "constant"}}],
            "benchmark": [{"count": 400000}, {"count": 400000, "fills": {"x": "constant"}}],
        }
    },
}
COUNTING = "import torch\n\ndef reference(x):\n    return torch.bincount(x, minlength=1024).to(torch.int32)\n"
GLANCES = """
#include <cstdint>
#include <cstring>
extern "C" void kernel(const int32_t* x, int32_t* y, int64_t count) {
    std::memset(y, 0, 4096);
    int32_t other = count < 300000;
    for (int64_t i = 0; i < count / 8; i += 16) other |= x[i] ^ x[0];
    if (other) for (int64_t i = 0; i < count; i++) ++y[x[i]];
    else y[x[0]] = count;
}
"""
LENGTHS = [2, 8]


@pytest.fixture(scope="module")
def counts() -> TaskSpec:
    return parse_task("counts", COUNTS, COUNTING)


def floats(*fills: str) -> TaskSpec:
    return parse_task("double", {**DOCUMENT, "hidden": {"fills": {"x": list(fills)}}}, REFERENCE)


def benchmark(spec: TaskSpec, index: int = 0) -> Case:
    return spec.cases_for(DeviceKind.CPU, CaseRole.BENCHMARK)[index]


def ways(spec: TaskSpec, index: int = 0) -> set[tuple[str, bool]]:
    return {(item.fill, item.few) for item in departures(spec, benchmark(spec, index))}


def test_a_few_values_are_changed_where_they_stand_out(counts: TaskSpec) -> None:
    assert ways(floats("normal", "uniform", "large", "heavy")) == {
        ("uniform", False),
        ("large", False),
        ("heavy", False),
        ("large", True),
        ("heavy", True),
    }
    assert ways(floats("normal", "constant")) == {("constant", False)}
    assert ways(counts) == {("constant", False), ("zeros", False)}
    assert ways(counts, 1) == {("integers", False), ("zeros", False), ("integers", True)}


def test_a_task_that_allows_nothing_else_has_none(spec: TaskSpec) -> None:
    assert departures(spec, benchmark(spec)) == []
    assert Departures(spec, benchmark(spec), asked=True).owed(LENGTHS) == []


def test_both_lengths_depart_in_every_way_and_only_when_asked(counts: TaskSpec) -> None:
    case = benchmark(counts, 1)
    assert Departures(counts, case, asked=False).owed(LENGTHS) == []
    plan = Departures(counts, case, asked=True)
    owed = plan.owed(LENGTHS)
    assert sorted(owed) == sorted(2 * LENGTHS)
    assert Counter(plan.draw(length).few for length in owed) == {True: 2, False: 2}
    assert plan.owed(LENGTHS) == []


def test_when_one_departs_is_drawn(counts: TaskSpec) -> None:
    """A submission that counts batches learns nothing: the first comes anywhere, and it is not the last."""
    firsts: Counter[int] = Counter()
    for seed in range(200):
        plan = Departures(counts, benchmark(counts, 1), asked=True, chance=random.Random(seed))
        pairs = next((pair for pair in range(40) if plan.after_a_pair(LENGTHS)), 40)
        firsts[pairs // 10] += 1
    assert min(firsts[part] for part in range(3)) > 5
    for length in 2 * LENGTHS:
        plan.draw(length)
    assert any(plan.after_a_pair(LENGTHS) for _ in range(500))
    plan.took(1e9)
    assert not any(plan.after_a_pair(LENGTHS) for _ in range(500)), "what they may cost is bounded"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_few_values_are_scattered_and_the_extremes_are_among_them(dtype: torch.dtype) -> None:
    departure = Departure(floats("normal").inputs[0], "heavy", few=True)
    place = torch.zeros(1200, dtype=dtype)
    values = room_for(departure, place)
    values.copy_(torch.arange(len(values)) % 256 + 1)
    values[len(values) // 2] = 300
    kept = candidates(departure, values)
    assert len(kept) == 64
    put(departure, place, kept, random.Random(3))
    changed = place[place != 0]
    assert 2 <= len(changed) <= 16
    assert {1, 300} <= set(changed.tolist())


def test_a_departure_that_the_reference_itself_fails_says_nothing() -> None:
    document = {**DOCUMENT, "tolerance": {"float32": {"atol": 0.0, "rtol": 1e-9}}}
    spec = parse_task("double", document, "def reference(x):\n    return x / 3\n")
    departure = Departure(spec.inputs[0], "large", few=False)
    given = [torch.full((3, 5), 1000.7)]
    case = spec.cases[0]
    assert spec.tolerances["float32"] == Tolerance(0.0, 1e-9)
    assert check_outputs(Oracle(spec), spec, case, given, [torch.zeros(3, 5)])[0]["mismatches"] == 15
    assert check_outputs(Oracle(spec), spec, case, given, [torch.zeros(3, 5)], departure) == []


def test_a_glance_on_the_shape_that_is_timed_is_found_in_a_ranked_run(
    evaluate: Evaluate, counts: TaskSpec
) -> None:
    # It notices one of fourteen such changes, of which each run holds two at least.
    runs = (evaluate(GLANCES, Mode.RANKED, spec=counts) for _ in range(3))
    document = next(run for run in runs if run["verdict"] != Verdict.PASSED)
    assert document["verdict"] == Verdict.WRONG
    assert "with a few values of input x drawn from 'integers'" in document["reason"]
