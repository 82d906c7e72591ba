"""Secret inputs by windows of a pool: as fresh as drawn ones to whoever looks at them."""

import pytest
import torch

from runners.contract.spec import Case, TensorSpec
from runners.contract.vocabulary import CaseRole, DeviceKind
from runners.supervisor.input_pool import InputPool

LENGTH = 1 << 19


def pool(dtype: str = "float32", fill: str = "normal", length: int = LENGTH, high: str = "1000") -> InputPool:
    tensor = TensorSpec("x", dtype, ("n",), fill=fill, low="0", high=high)
    return InputPool(tensor, Case("c", CaseRole.BENCHMARK, DeviceKind.CPU, {"n": length}, {}))


def draw(source: InputPool, dtype: torch.dtype = torch.float32, length: int = LENGTH) -> torch.Tensor:
    place = torch.full((length,), -7, dtype=dtype)
    source.fill(place)
    return place


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_windows_are_whole_finite_and_different(dtype: str) -> None:
    source, kind = pool(dtype), getattr(torch, dtype)
    drawn = [draw(source, kind).double() for _ in range(4)]
    for values in drawn:
        assert values.isfinite().all()
        assert (values == -7).sum() < 10  # nothing was left out
        assert abs(values.mean()) < 0.02
        assert 0.45 < values.std() < 1.05  # N(0,1) times a factor between a half and one
    for index, values in enumerate(drawn):
        for other in drawn[:index]:
            assert (values == other).float().mean() < 0.02


def test_whole_numbers_keep_their_range() -> None:
    for high in (1000, 1024):
        values = draw(pool("int32", "uniform", high=str(high)), torch.int32)
        assert values.min() >= 0
        assert values.max() < high
        assert len(values.unique()) == high


def test_the_pool_is_drawn_anew_bit_by_bit() -> None:
    source = pool("int32", "uniform", high="1073741824")
    first = set(draw(source, torch.int32).tolist())
    for _ in range(40):
        last = draw(source, torch.int32)
    assert sum(value in first for value in last.tolist()) < LENGTH / 4


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_what_is_known_of_one_window_says_nothing_of_sums_of_another(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the numbers lie may be found out; how they were mixed is new for every element."""
    source, kind = (
        pool(dtype, "normal" if dtype == "float32" else "uniform", high="1024"),
        getattr(torch, dtype),
    )
    part = source._part
    fixed = source._pools[0]
    monkeypatch.setattr(
        source, "_part", lambda pool, length: pool[:length] if pool is fixed else part(pool, length)
    )
    one, two = (draw(source, kind).double().view(-1, 64) for _ in range(2))
    ratio = one / two.clamp(min=1e-9) if dtype == "int32" else one / two
    # Where the fixed pool happens to hold a zero, both are zero.
    assert float(ratio.nan_to_num(1.0, 1.0, 1.0).std(dim=1).min()) > 0.05
    assert not bool((one == two).all(dim=1).any())


@pytest.mark.parametrize("fill", ["constant", "zeros", "denormal"])
def test_fills_that_are_about_single_values_are_drawn_anew(fill: str) -> None:
    source = pool(fill=fill)
    first, second = draw(source), draw(source)
    if fill == "constant":
        assert len(first.unique()) == len(second.unique()) == 1
        assert first[0] != second[0]
    else:
        assert not torch.equal(first.view(torch.int32), second.view(torch.int32))


def test_small_inputs_are_drawn_anew() -> None:
    source = pool(length=64)
    assert not set(draw(source, length=64).tolist()) & set(draw(source, length=64).tolist())
