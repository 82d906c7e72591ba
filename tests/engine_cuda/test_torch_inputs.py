"""Inputs filled by torch on the device, tried here on the CPU: the code is the same."""

import math

import pytest
import torch

from runners.contract.spec import FILLS, TensorSpec
from runners.supervisor.torch_inputs import fill, generator

_COUNT = 20_000


def _filled(dtype: str, kind: str, *seed: str, scale: float = 1.0) -> torch.Tensor:
    tensor = TensorSpec("x", dtype, ("count",), low="3", high="count", scale=scale)
    place = torch.empty(_COUNT, dtype=getattr(torch, dtype))
    fill(place, tensor, {"count": 50}, kind, generator("cpu", *(seed or ("seed",))))
    return place


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", [kind for kind in FILLS if kind != "integers"])
def test_floating_fills_are_finite_and_repeat(dtype: str, kind: str) -> None:
    first = _filled(dtype, kind)

    assert bool(first.isfinite().all())
    assert torch.equal(first, _filled(dtype, kind))
    if kind not in ("constant", "zeros", "denormal"):
        assert not torch.equal(first, _filled(dtype, kind, "another seed"))


def test_normal_values_have_the_scale_asked_for() -> None:
    values = _filled("float32", "normal", scale=0.25)

    assert float(values.mean()) == pytest.approx(0, abs=0.02)
    assert float(values.std()) == pytest.approx(0.25, rel=0.05)
    assert float(_filled("float32", "large", scale=0.25).std()) == pytest.approx(250, rel=0.05)


def test_uniform_values_stay_below_one() -> None:
    values = _filled("float32", "uniform")

    assert 0 <= float(values.min()) < 0.01
    assert 0.99 < float(values.max()) <= 1


def test_heavy_values_are_clipped() -> None:
    values = _filled("float32", "heavy")

    assert 100 < float(values.abs().max()) <= 1e4
    assert float(values.abs().median()) == pytest.approx(1, rel=0.1)


def test_zeros_have_both_signs() -> None:
    values = _filled("float32", "zeros")

    assert bool((values == 0).all())
    negative = int(torch.signbit(values).sum())
    assert 0.4 < negative / _COUNT < 0.6


def test_denormal_values_are_denormal() -> None:
    values = _filled("float32", "denormal")

    assert 0 < float(values.abs().max()) < torch.finfo(torch.float32).tiny
    assert int((values != 0).sum()) > 0.9 * _COUNT


def test_a_constant_is_one_drawn_value() -> None:
    assert len(_filled("float32", "constant").unique()) == 1
    assert not math.isclose(
        float(_filled("float32", "constant")[0]), float(_filled("float32", "constant", "other")[0])
    )


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_integers_stay_in_their_range(dtype: str) -> None:
    values = _filled(dtype, "integers")

    assert (int(values.min()), int(values.max())) == (3, 49)
    assert len(_filled(dtype, "constant").unique()) == 1
    assert bool((_filled(dtype, "zeros") == 3).all())


def test_other_words_make_other_values() -> None:
    one, two = generator("cpu", b"secret", "x"), generator("cpu", b"secret", "y")

    assert one.initial_seed() != two.initial_seed()
