"""Arithmetic over a case's sizes: ``"2 * rows * cols * 4"``. Parsed, never evaluated as Python."""

import ast
import operator
from collections.abc import Callable, Mapping

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_LONGEST = 200  # characters; also bounds the recursion below
_LARGEST = 2**62


class ExpressionError(ValueError):
    """The text is no arithmetic expression over the given sizes."""


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """The value of ``text`` with ``sizes`` put in for its names.

    Integers, names, ``+ - * // %`` and parentheses are allowed. Raises ExpressionError on anything else,
    on a name that is not in ``sizes``, and on a value outside [0, 2⁶²].
    """
    if len(text) > _LONGEST:
        raise ExpressionError(f"expression is longer than {_LONGEST} characters")
    try:
        value = _value(ast.parse(text, mode="eval").body, sizes)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ExpressionError(f"{text!r}: {error}") from error
    if not 0 <= value <= _LARGEST:
        raise ExpressionError(f"{text!r} is {value}, outside [0, 2**62]")
    return value


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)) if abs(value) <= _LARGEST:
            return value
        case ast.Name(id=name):
            if name not in sizes:
                known = ", ".join(sorted(sizes)) or "none"
                raise ExpressionError(f"unknown size {name!r} (known: {known})")
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            value = _BINARY[type(op)](_value(left, sizes), _value(right, sizes))
            if abs(value) > _LARGEST:
                raise ExpressionError("a value goes past 2**62")
            return value
        case _:
            pass
    raise ExpressionError(f"only integers, sizes and + - * // % are allowed, not {ast.unparse(node)!r}")
