"""Keys and values of prompt prefixes that were computed before, the most recently used ones."""

from collections import OrderedDict
from typing import Any

from transformers import DynamicCache


class PrefixCache:
    """Maps token sequences to their key-value caches. Not thread-safe; the forecaster holds a lock."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._kept: OrderedDict[tuple[int, ...], Any] = OrderedDict()

    def get(self, tokens: tuple[int, ...]) -> Any | None:
        found = self._kept.get(tokens)
        if found is not None:
            self._kept.move_to_end(tokens)
        return found

    def put(self, tokens: tuple[int, ...], cache: Any) -> None:
        self._kept[tokens] = cache
        self._kept.move_to_end(tokens)
        while len(self._kept) > self._places:
            self._kept.popitem(last=False)

    def __contains__(self, tokens: tuple[int, ...]) -> bool:
        return tokens in self._kept

    def __len__(self) -> int:
        return len(self._kept)


def beginning(cache: Any, length: int) -> Any:
    """A cache of its own with the first ``length`` tokens of ``cache``."""
    found = DynamicCache()
    for index, layer in enumerate(cache.layers):
        found.update(layer.keys[..., :length, :].clone(), layer.values[..., :length, :].clone(), index)
    return found


def common_length(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many tokens two sequences share from the start."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))
