"""Comparison, inputs, statistics and hidden cases: pure functions, worked by hand."""

import math

import numpy as np
import pytest
import torch

from runners.backends.cpp.listing import listing
from runners.backends.cpp.tokens import mentions_function
from runners.backends.registry import BACKENDS
from runners.contract.limits import MAX_SOURCE_BYTES
from runners.contract.spec import FILLS, TensorSpec, Tolerance
from runners.contract.vocabulary import STAGES_OF, CaseRole, DeviceKind, Language, Stage
from runners.supervisor import inputs
from runners.supervisor.compare import compare, roughly_equal, sentence
from runners.supervisor.hidden import hidden_cases
from runners.supervisor.statistics import estimate, geometric_mean
from tests.engine.conftest import make_spec

TOLERANCE = Tolerance(0.1, 0.01)


def _compare(got: list[float], want: list[float]) -> tuple[int, list[int]]:
    error = compare(
        "y", torch.tensor(got, dtype=torch.float32), torch.tensor(want, dtype=torch.float64), TOLERANCE
    )
    return error["mismatches"], error["worst_index"]


@pytest.mark.parametrize(
    ("got", "want", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0),
        ([1.05, 101.0], [1.0, 100.0], 0),
        ([1.2, 2.0], [1.0, 2.0], 1),
        ([math.nan], [math.nan], 0),
        ([math.nan], [1.0], 1),
        ([1.0], [math.nan], 1),
        ([math.inf], [math.inf], 0),
        ([math.inf], [-math.inf], 1),
        ([1.0], [math.inf], 1),
        ([math.inf], [1.0], 1),
        ([-0.0], [0.0], 0),
    ],
)
def test_elements_within_tolerance_pass(got: list[float], want: list[float], expected: int) -> None:
    assert _compare(got, want)[0] == expected


def test_worst_element_is_one_that_fails() -> None:
    """100 is off by more, but within its relative tolerance."""
    assert _compare([1.2, 100.9], [1.0, 100.0]) == (1, [0])


def test_worst_element_is_found_across_chunks_and_axes() -> None:
    got = torch.zeros(3, 70_000)
    got[2, 69_999] = 5
    got[1, 3] = 7
    error = compare("y", got, torch.zeros(3, 70_000, dtype=torch.float64), TOLERANCE)
    assert (error["mismatches"], error["worst_index"], error["max_abs_error"]) == (2, [1, 3], 7.0)
    assert sentence(error) == "output y: 2 of 210000 elements differ; worst at [1, 3]: got 7.0, want 0.0"


def test_every_stage_belongs_to_a_mode() -> None:
    assert set(Stage) == {stage for stages in STAGES_OF.values() for stage in stages}


def test_whole_numbers_must_be_equal() -> None:
    error = compare("y", torch.tensor([1, 2], dtype=torch.int32), torch.tensor([1, 4]), TOLERANCE)
    assert (error["mismatches"], error["got"], error["want"]) == (1, "2", "4")


@pytest.mark.parametrize("kind", [kind for kind in FILLS if kind != "integers"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_every_fill_is_finite_and_repeats_for_the_same_seed(kind: str, dtype: str) -> None:
    tensor = TensorSpec("x", dtype, ("n",), kind)
    places = [np.zeros(tensor.nbytes({"n": 1000}), dtype=np.uint8) for _ in range(3)]
    for place, seed in zip(places, ("a", "a", "b"), strict=True):
        inputs.fill(place, tensor, {"n": 1000}, kind, inputs.generator(seed))
    values = torch.from_numpy(places[0]).view(getattr(torch, dtype))
    assert bool(values.isfinite().all())
    assert (places[0] == places[1]).all()
    assert kind == "denormal" or not (places[0] == places[2]).all()
    if kind == "constant":
        assert len(values.unique()) == 1
    if kind == "zeros":
        assert not values.any()
        assert 0 < int(values.signbit().sum()) < 1000


def test_scale_and_large_multiply() -> None:
    tensor = TensorSpec("x", "float64", ("n",), scale=3.0)
    place = np.zeros(80_000, dtype=np.uint8)
    inputs.fill(place, tensor, {"n": 10_000}, "large", inputs.generator("seed"))
    assert place.view(np.float64).std() == pytest.approx(3000, rel=0.05)


def test_integers_stay_in_their_range() -> None:
    tensor = TensorSpec("x", "int32", ("n",), "integers", "3", "n")
    place = np.zeros(4000, dtype=np.uint8)
    for kind, smallest, largest in (("integers", 3, 999), ("zeros", 3, 3)):
        inputs.fill(place, tensor, {"n": 1000}, kind, inputs.generator("seed"))
        values = place.view(np.int32)
        assert smallest <= values.min()
        assert values.max() <= largest


def test_slope_cancels_what_a_batch_costs() -> None:
    found = estimate({1: [11.0, 11.2, 10.8], 5: [15.0, 15.1, 14.9]}, null=10.0, seed=1)
    assert found.seconds == pytest.approx(1.0)
    assert found.intercept == pytest.approx(10.0)
    assert found.ci_low <= found.seconds <= found.ci_high


def test_dawdling_in_short_batches_does_not_flatten_the_slope() -> None:
    honest = estimate({1: [1.1] * 5, 4: [4.1] * 5}, null=0.1, seed=1)
    dawdling = estimate({1: [4.0] * 5, 4: [4.1] * 5}, null=0.1, seed=1)
    assert honest.seconds == pytest.approx(1.0)
    assert dawdling.seconds > 0.9


def test_an_intercept_made_of_noise_reaches_down_to_nothing() -> None:
    noisy = estimate({1: [5.0, 1.0, 4.8, 1.1, 5.1], 4: [8.0, 4.0, 8.3, 4.1, 4.2]}, null=0.1, seed=1)
    done_at_once = estimate({1: [9.0, 9.1, 9.2, 8.9, 9.0], 4: [9.1, 9.2, 9.0, 9.3, 9.1]}, null=0.1, seed=1)
    assert noisy.intercept > 2
    assert noisy.intercept_low < 1
    assert done_at_once.intercept_low > 5


def test_work_of_all_calls_in_the_first_is_charged_to_the_calls() -> None:
    honest = estimate({1: [1.2] * 5, 4: [4.2] * 5}, null=0.1, seed=1)
    assert honest.charged(0.3, 1) == honest
    first_does_all = estimate({1: [4.1] * 5, 4: [4.1] * 5}, null=0.1, seed=1)
    charged = first_does_all.charged(0.3, 1)
    assert first_does_all.seconds < 1.1
    assert 3.5 < charged.seconds < 4.1
    assert charged.ci_low <= charged.seconds <= charged.ci_high


def test_geometric_mean() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_hidden_cases_vary_only_what_the_task_varies() -> None:
    rows = [
        {"rows": n, "cols": 64, "fills": {"x": fill}}
        for n, fill in ((1, "large"), (33, "zeros"), (500, "heavy"))
    ]
    spec = make_spec(cases={"cpu": {"test": rows, "benchmark": [{"rows": 9, "cols": 64}]}})
    drawn = [case for _ in range(20) for case in hidden_cases(spec, DeviceKind.CPU)]
    assert {case.sizes["cols"] for case in drawn} == {64}, "one value only: it may be a precondition"
    assert len({case.sizes["rows"] for case in drawn}) > 3
    assert all(1 <= case.sizes["rows"] <= 500 for case in drawn)
    assert {case.fills.get("x") for case in drawn} <= {None, "large", "zeros", "heavy"}
    assert all(case.role == CaseRole.TEST for case in drawn)
    assert len({case.name for case in drawn}) == 3


def test_comments_and_literals_do_not_hide_or_feign_an_entry_point() -> None:
    hidden = 'a /* kernel(\n */ "kernel(" // kernel(\n\'"\' '
    assert not mentions_function(hidden, "kernel")
    assert mentions_function(hidden + "kernel (", "kernel")


@pytest.mark.parametrize("piece", ["/* ", "/*/ ", '"', "'", 'R"(', "// ", "kernel "])
def test_hostile_c_is_screened_in_linear_time(piece: str) -> None:
    """A megabyte of it: with a quadratic scan the suite would stand still for minutes."""
    source = piece * (MAX_SOURCE_BYTES // len(piece))
    (finding,) = BACKENDS[Language.CPP].screen(source, make_spec())
    assert finding["rule"] == "entry_point_missing"


def test_listing_links_instructions_to_the_submissions_lines() -> None:
    assembly = (
        '\t.file 1 "kernel.cpp"\n\t.file 2 "/usr/include/x.h"\nkernel:\n\t.loc 1 4 2\n\tmovl\t%eax, %ebx\n'
        "\t.loc 2 9 1\n\tnop\n\tret\n\t.section\t.debug_info\n\t.long 1\n"
    )
    assert listing(assembly, "kernel.cpp")["lines"] == [
        [None, "kernel:"],
        [4, "        movl    %eax, %ebx"],
        [None, "        nop"],
        [None, "        ret"],
    ]


def test_roughly_equal_believes_what_is_near_and_doubts_the_rest() -> None:
    tolerance, want = Tolerance(1e-6, 1e-5), torch.linspace(1.0, 2.0, 200_000)
    assert roughly_equal(want * (1 + 1.5e-5), want, tolerance)
    for bad in (3e-5, math.nan, math.inf):
        got = want.clone()
        got[-1] *= 1 + bad
        assert not roughly_equal(got, want, tolerance)
    whole = torch.arange(10, dtype=torch.int32)
    assert roughly_equal(whole, whole.to(torch.int64), tolerance)
    assert not roughly_equal(whole, whole + 1, tolerance)
