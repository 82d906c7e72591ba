"""What hidden cases may be drawn from, as a task file says it in ``[hidden]``.

``fills``: input → fills that its values may have. ``strided``: inputs that Python kernels may be given in any
layout of layout.py; C entry points always get dense memory. ``sizes``: per kind of device a range ``{ from =
1, to = 300 }`` or a list of choices for each size; a size that is not named keeps that of a test case.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from runners.contract.reading import SpecError, entries, known_keys, member, optional_section
from runners.contract.vocabulary import DeviceKind

_LARGEST_SIZE = 2**40


@dataclass(frozen=True)
class SizeDraw:
    """One of ``choices``, or a number from ``least`` to ``most`` where there are none."""

    least: int = 1
    most: int = 1
    choices: tuple[int, ...] = ()


@dataclass(frozen=True)
class Draws:
    """Empty where a task leaves it to what its test cases show."""

    sizes: Mapping[str, Mapping[str, SizeDraw]] = field(default_factory=dict)  # kind of device → size → draw
    fills: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # input → fills
    strided: tuple[str, ...] = ()  # inputs

    def __bool__(self) -> bool:
        return bool(self.sizes or self.fills or self.strided)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Draws":
        """Inverse of ``dataclasses.asdict`` on plain JSON types."""
        return cls(
            sizes={
                kind: {
                    name: SizeDraw(draw["least"], draw["most"], tuple(draw["choices"]))
                    for name, draw in names.items()
                }
                for kind, names in document["sizes"].items()
            },
            fills={name: tuple(fills) for name, fills in document["fills"].items()},
            strided=tuple(document["strided"]),
        )


def parse_draws(
    document: Mapping[str, Any], sizes: Collection[str], fills_of: Mapping[str, Collection[str]]
) -> Draws:
    """``[hidden]`` of a task with these ``sizes``; ``fills_of`` maps each input to the fills that fit its
    dtype.

    Raises SpecError naming the key at fault.
    """
    table = optional_section(document, "hidden")
    known_keys(table, {"sizes", "fills", "strided"}, "hidden")
    fills: dict[str, tuple[str, ...]] = {}
    given = optional_section(table, "fills", "hidden")
    for name in given:
        where = f"hidden.fills.{name}"
        if name not in fills_of:
            raise SpecError(f"{where}: there is no such input")
        fills[name] = tuple(entries(given, name, "hidden.fills"))
        for fill in fills[name]:
            if fill not in fills_of[name]:
                raise SpecError(f"{where}: {fill!r} is not one of {', '.join(fills_of[name])}")
        if not fills[name]:
            raise SpecError(f"{where}: names no fill")
    strided = tuple(entries(table, "strided", "hidden")) if "strided" in table else ()
    for name in strided:
        if name not in fills_of:
            raise SpecError(f"hidden.strided: there is no input {name!r}")
    drawn = {
        str(member(DeviceKind, kind, "hidden.sizes")): {
            name: _size(value, f"hidden.sizes.{kind}.{name}", name, sizes) for name, value in names.items()
        }
        for kind, names in _kinds(table)
    }
    return Draws(drawn, fills, strided)


def _kinds(table: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = optional_section(table, "sizes", "hidden")
    return [(kind, optional_section(found, kind, "hidden.sizes")) for kind in found]


def _size(value: Any, where: str, name: str, sizes: Collection[str]) -> SizeDraw:
    if name not in sizes:
        raise SpecError(f"{where}: there is no size {name!r}")
    if isinstance(value, list) and value:
        return SizeDraw(choices=tuple(_whole(item, where) for item in value))
    if isinstance(value, Mapping) and set(value) == {"from", "to"}:
        least, most = _whole(value["from"], where), _whole(value["to"], where)
        if least <= most:
            return SizeDraw(least, most)
    raise SpecError(f"{where}: must be {{ from = 1, to = 9 }} or a list of whole numbers")


def _whole(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _LARGEST_SIZE:
        raise SpecError(f"{where}: {value!r} is no whole number from 1 to 2**40")
    return value
