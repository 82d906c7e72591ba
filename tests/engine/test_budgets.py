"""Error budgets: what an operator's own arithmetic explains, beside the tolerance or in its place."""

import math
from typing import Any

import pytest
import torch

from runners.contract.reading import SpecError
from runners.contract.spec import TaskSpec, Tolerance
from runners.contract.vocabulary import Verdict
from runners.supervisor.checking import allowance_used
from runners.supervisor.compare import Bound, compare, sentence
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended
from tests.engine.conftest import Evaluate, make_spec

LOOSE, TIGHT = Tolerance(1.0, 0.0), Tolerance(1e-9, 0.0)
ROUNDING = 2.0**-24


def _compare(error: float, tolerance: Tolerance, condition: float, *, alone: bool = False) -> Any:
    got = torch.tensor([0.0, error], dtype=torch.float32)
    bound = Bound(torch.full((2,), condition), 4, alone)
    return compare("y", got, torch.zeros(2, dtype=torch.float64), tolerance, bound)


def test_within_tolerance_and_budget() -> None:
    found = _compare(2 * ROUNDING, LOOSE, 1.0)
    assert found["mismatches"] == 0
    assert found["budget_used"] == pytest.approx(0.5)
    assert found["tolerance_used"] == pytest.approx(2 * ROUNDING)
    assert allowance_used([found]) == pytest.approx(0.5)


def test_beyond_the_budget_only() -> None:
    found = _compare(40 * ROUNDING, LOOSE, 1.0)
    assert (found["mismatches"], found["beyond"], found["worst_index"]) == (1, "budget", [1])
    assert "within the tolerance, but 10 times the error budget" in sentence(found)


def test_beyond_the_tolerance_only() -> None:
    found = _compare(2 * ROUNDING, TIGHT, 1.0)
    assert (found["mismatches"], found["beyond"]) == (1, "tolerance")
    assert sentence(found).endswith("want 0.0")


def test_beyond_both() -> None:
    found = _compare(40 * ROUNDING, TIGHT, 1.0)
    assert found["beyond"] == "both"
    assert "beyond the tolerance, and 10 times the error budget" in sentence(found)


def test_alone_the_budget_decides_and_the_tolerance_is_not_asked() -> None:
    """A sum of a thousand million numbers of size 1: no absolute tolerance fits it and ordinary ones."""
    found = _compare(100.0, TIGHT, 1e9, alone=True)
    assert found["mismatches"] == 0
    assert "tolerance_used" not in found
    assert found["budget_used"] == pytest.approx(100 / (4e9 * ROUNDING))
    assert allowance_used([found]) == found["budget_used"]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_beyond_both(bad: float) -> None:
    found = _compare(bad, LOOSE, 1e9)
    assert (found["mismatches"], found["beyond"], found["budget_used"]) == (1, "both", None)
    assert allowance_used([found]) is None


def test_infinities_that_meet_use_nothing() -> None:
    same = torch.tensor([math.inf, 1.0])
    found = compare("y", same, same.to(torch.float64), TIGHT, Bound(torch.ones(2), 4, False))
    assert (found["mismatches"], found["tolerance_used"], found["budget_used"]) == (0, 0.0, 0.0)


def test_results_too_small_to_be_normal_may_be_flushed() -> None:
    tiny = torch.tensor([1e-39, 0.0], dtype=torch.float64)
    found = compare("y", torch.zeros(2), tiny, LOOSE, Bound(tiny.float(), 4, False))
    assert found["mismatches"] == 0


SUM = "def reference(x):\n    return x.sum(1)\n"
CONDITION = "def condition(x):\n    return x.abs().sum(1)\n"


def _sum_spec(budget: Any, condition: str = CONDITION) -> TaskSpec:
    return make_spec(
        SUM,
        condition,
        outputs=[{"name": "y", "dtype": "float32", "shape": ["rows"]}],
        tolerance={"float32": {"atol": 0.5, "rtol": 0.0}},
        budget=budget,
    )


def test_a_budget_survives_its_document() -> None:
    spec = _sum_spec({"y": {"units": "8 + cols // 2", "alone": ["heavy"]}})
    assert TaskSpec.from_document(spec.to_document()) == spec


@pytest.mark.parametrize(
    ("budget", "condition", "words"),
    [
        ({"z": {"units": 1}}, CONDITION, "budget.z: there is no floating output 'z'"),
        ({"y": {"units": True}}, CONDITION, "budget.y.units: must be a whole number"),
        ({"y": {"units": "8 + depth"}}, CONDITION, "unknown size 'depth'"),
        ({"y": {"units": 8, "alone": ["odd"]}}, CONDITION, "budget.y.alone: 'odd' is not one of"),
        ({"y": {"units": 8, "more": 1}}, CONDITION, "budget.y: unknown key 'more'"),
        ({"y": {"units": 8}}, "", "defines no function condition"),
    ],
)
def test_a_budget_that_says_nothing_is_refused(budget: Any, condition: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        _sum_spec(budget, condition)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ({"fills": {"z": ["normal"]}}, "hidden.fills.z: there is no such input"),
        ({"fills": {"x": ["integers"]}}, "hidden.fills.x: 'integers' is not one of"),
        ({"fills": {"x": []}}, "hidden.fills.x: names no fill"),
        ({"strided": ["y"]}, "hidden.strided: there is no input 'y'"),
        ({"sizes": {"tpu": {}}}, "hidden.sizes: 'tpu' is not one of"),
        ({"sizes": {"cpu": {"depth": [1]}}}, "hidden.sizes.cpu.depth: there is no size"),
        ({"sizes": {"cpu": {"rows": {"from": 9, "to": 2}}}}, "hidden.sizes.cpu.rows: must be"),
        ({"sizes": {"cpu": {"rows": [0]}}}, "hidden.sizes.cpu.rows: 0 is no whole number"),
        ({"shapes": {}}, "hidden: unknown key 'shapes'"),
    ],
)
def test_draws_that_say_nothing_are_refused(hidden: Any, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        make_spec(hidden=hidden)
    assert words in str(caught.value)


@pytest.mark.sandbox
def test_reduced_precision_that_the_tolerance_forgives_is_told_by_the_budget(evaluate: Evaluate) -> None:
    spec = _sum_spec({"y": {"units": 16}})
    honest = evaluate("def kernel(x):\n    return x.sum(1)\n", spec=spec)
    assert honest["verdict"] == "passed", honest["reason"]
    assert all(0 <= case["allowance_used"] < 1 for case in honest["tests"])
    coarse = evaluate("def kernel(x):\n    return x.bfloat16().float().sum(1)\n", spec=spec)
    assert coarse["verdict"] == "wrong"
    assert "within the tolerance, but" in coarse["reason"]


@pytest.mark.parametrize("condition", [math.inf, math.nan])
def test_a_condition_that_bounds_nothing_is_our_own_fault(condition: float) -> None:
    bound = Bound(torch.tensor([condition, condition]), 128, True)
    with pytest.raises(Ended, match="condition of output y is not finite") as raised:
        compare("y", torch.tensor([1.0, 2.0]), torch.tensor([5.0, 7.0]).double(), LOOSE, bound)
    assert raised.value.verdict == Verdict.INTERNAL_ERROR


def test_a_condition_may_be_as_infinite_as_the_value() -> None:
    bound = Bound(torch.tensor([math.inf]), 128, True)
    want = torch.tensor([math.inf]).double()
    assert compare("y", torch.tensor([math.inf]), want, LOOSE, bound)["mismatches"] == 0
    assert compare("y", torch.tensor([1.0]), want, LOOSE, bound)["mismatches"] == 1


def test_what_overflows_float32_still_bounds() -> None:
    spec = make_spec(condition="def condition(x):\n    return x.square()\n", budget={"y": {"units": 4}})
    (condition,) = Oracle(spec).condition([torch.full((3, 5), 1e30)], {"rows": 3, "cols": 5})
    assert condition is not None
    assert condition.dtype == torch.float64
    assert bool(condition.isfinite().all())
