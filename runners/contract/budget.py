"""The error that an operator's own arithmetic explains, which a tolerance cannot say.

A sum of large numbers is wrong by more than one of small numbers, however well it is written. So a task may
declare, per output, a budget in roundings of its condition: ``condition(*inputs)`` in its ``condition.py``
returns, for each output, what the operator added up without signs, for example ``|a| @ |b|`` of a matrix
product. An element is within the budget when

    |got - want| <= units * 2^-24 * condition + one rounding of ``want`` to the output's dtype

with 2^-24, the rounding of float32, in which sums are expected to be kept.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runners.contract.expressions import ExpressionError, evaluate
from runners.contract.reading import SpecError, entries, known_keys, optional_section, section

#: Rounding of the arithmetic that sums are kept in.
FLOAT32_ROUNDING = 2.0**-24
#: Largest relative error of rounding a number to each dtype, doubled: whatever computed it may be tipped to
#: the other neighbour.
ROUNDING = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
#: Results below the smallest normal numbers may be flushed to zero: thousands of them added up.
UNDERFLOW = {"float64": 2.0**-1010, "float32": 2.0**-114, "float16": 2.0**-12, "bfloat16": 2.0**-114}


@dataclass(frozen=True)
class Budget:
    """``units`` is an expression over the sizes. In cases where an input has one of the fills ``alone`` the
    tolerance is not asked: its absolute part says nothing of numbers of that size.
    """

    units: str
    alone: tuple[str, ...] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Budget":
        return cls(document["units"], tuple(document["alone"]))


def parse_budgets(
    document: Mapping[str, Any], floating: Sequence[str], fills: Collection[str], condition: str
) -> dict[str, Budget]:
    """``[budget.<output>]`` of the ``floating`` outputs. Raises SpecError naming the key at fault."""
    table = optional_section(document, "budget")
    if table and "def condition(" not in condition:
        raise SpecError("budget: condition.py defines no function condition(...)")
    budgets: dict[str, Budget] = {}
    for name in table:
        where = f"budget.{name}"
        if name not in floating:
            raise SpecError(f"{where}: there is no floating output {name!r}")
        item = section(table, name, "budget")
        known_keys(item, {"units", "alone"}, where)
        units = item.get("units")
        if isinstance(units, bool) or not isinstance(units, (int, str)):
            raise SpecError(f"{where}.units: must be a whole number or an expression over the sizes")
        alone = tuple(entries(item, "alone", where)) if "alone" in item else ()
        for fill in alone:
            if fill not in fills:
                raise SpecError(f"{where}.alone: {fill!r} is not one of {', '.join(fills)}")
        budgets[name] = Budget(str(units), alone)
    return budgets


def units_of(budget: Budget, sizes: Mapping[str, int], where: str) -> int:
    """The roundings that a case of these ``sizes`` is granted. Raises SpecError."""
    try:
        return evaluate(budget.units, sizes)
    except ExpressionError as error:
        raise SpecError(f"{where}: budget.units: {error}") from error
