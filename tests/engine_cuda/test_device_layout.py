"""Where tensors lie in shared device memory, tried on the CPU's memory."""

import torch

from runners.contract.spec import TensorSpec
from runners.supervisor.cuda_arena import PAGE, POISON, Layout

_LAYOUT = Layout(
    (
        TensorSpec("a", "float32", ("n", "3")),
        TensorSpec("b", "int64", ("n",)),
        TensorSpec("c", "bfloat16", ("n",)),
    ),
    {"n": 700},
)
_MEMORY = torch.zeros(2 * _LAYOUT.stride, dtype=torch.uint8)


def test_tensors_start_on_pages_and_do_not_overlap() -> None:
    places = [item["offset"] for item in _LAYOUT.describe()]
    ends = [item["offset"] + item["bytes"] for item in _LAYOUT.describe()]

    assert all(place % PAGE == 0 for place in places)
    assert all(end <= place for end, place in zip(ends, places[1:], strict=False))
    assert _LAYOUT.stride % PAGE == 0
    assert _LAYOUT.stride >= ends[-1]


def test_a_tensor_shares_the_memory_of_its_slot() -> None:
    _MEMORY.zero_()

    _LAYOUT.tensor(_MEMORY, 1, 0)[699, 2] = 1.0

    offset = _LAYOUT.describe()[0]["offset"] + _LAYOUT.stride
    assert bool((_MEMORY[: _LAYOUT.stride] == 0).all())
    assert _MEMORY[offset : offset + 8400].view(torch.float32)[-1] == 1.0
    assert [tuple(item.shape) for item in _LAYOUT.slot_tensors(_MEMORY, 0)] == [(700, 3), (700,), (700,)]


def test_padding_is_what_lies_between_the_tensors() -> None:
    _LAYOUT.poison(_MEMORY, 1)
    sizes = [_LAYOUT.padding(_MEMORY, 0, index).numel() for index in range(3)]

    assert sum(sizes) + sum(item["bytes"] for item in _LAYOUT.describe()) == _LAYOUT.stride
    assert all(bool((_LAYOUT.padding(_MEMORY, 0, index) == POISON).all()) for index in range(3))


def test_poison_reaches_every_byte_of_the_slot_alone() -> None:
    _MEMORY.zero_()

    _LAYOUT.poison(_MEMORY, 1)

    numbers = _LAYOUT.slot_tensors(_MEMORY, 0)
    assert bool(numbers[0].isnan().all())
    assert bool(numbers[2].isnan().all())
    assert bool((numbers[1] == -0x5A5A5A5A5A5A5A5B).all())
    assert bool((_MEMORY[: _LAYOUT.stride] != 0).all())
    assert bool((_MEMORY[_LAYOUT.stride :] == 0).all())


def test_a_column_shows_one_tensor_of_every_slot() -> None:
    _MEMORY.zero_()

    _LAYOUT.column(_MEMORY, 2, 2)[1].fill_(2.0)

    assert bool((_LAYOUT.tensor(_MEMORY, 1, 2) == 2).all())
    assert bool((_LAYOUT.tensor(_MEMORY, 0, 2) == 0).all())
    assert bool((_LAYOUT.tensor(_MEMORY, 1, 1) == 0).all())
    assert _LAYOUT.column(_MEMORY, 2, 0).shape == (2, 2100)


def test_poison_for_all_slots_reaches_the_last() -> None:
    _MEMORY.zero_()

    _LAYOUT.poison(_MEMORY, 2)

    assert torch.equal(_MEMORY[: _LAYOUT.stride], _MEMORY[_LAYOUT.stride :])
    assert bool(_LAYOUT.tensor(_MEMORY, 1, 0).isnan().all())
