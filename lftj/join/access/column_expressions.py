# SPDX-License-Identifier: Apache-2.0
"""Expressions over whole columns: what the kernel's stack machine computes row by row, where no row
fails.

The everyday operations are known, each a few passes of NumPy. Where one of the others occurs, or
some row may leave the range of its type, the answer is None: the kernel finds the rows that fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lftj.join.kernels import operation_kernels as code
from lftj.join.plan.expression_code import COMPARISONS
from lftj.types import codes_to_floats, floats_to_codes

Operand = np.ndarray
"""Codes (int64), or floats (float64) that have not been made codes again; of one row or of all."""

_INT64_MAX = 2**63 - 1
_FLOAT: Mapping[int, Callable[[Operand, Operand], Operand]] = {
    code.FLOAT_ADD: np.add,
    code.FLOAT_SUBTRACT: np.subtract,
    code.FLOAT_MULTIPLY: np.multiply,
    code.FLOAT_DIVIDE: np.divide,
}
COMPARE: Mapping[str, Callable[..., np.ndarray]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
"""Comparisons of columns of codes whose order is that of values, by their operators."""

_COMPARE = {COMPARISONS[operator]: compare for operator, compare in COMPARE.items()}
_CHOICE = {code.LEAST: np.minimum, code.GREATEST: np.maximum}
_WHOLE = frozenset((code.ADD, code.SUBTRACT, code.MULTIPLY))
_LIMITS = frozenset((code.AT_LEAST, code.AT_MOST))
_UNARY: Mapping[int, Callable[[Operand], Operand | None]] = {
    code.ABSOLUTE: lambda value: _absolute(_codes(value)),
    code.FLOAT_NEGATE: lambda value: 0.0 - _floats(value),
    code.FLOAT_ABSOLUTE: lambda value: np.abs(_floats(value)),
    code.INT_TO_FLOAT: lambda value: _codes(value).astype(np.float64),
}
_KNOWN = frozenset((*_FLOAT, *_COMPARE, *_CHOICE, *_WHOLE, *_LIMITS, *_UNARY))


def by_columns(words: Sequence[int]) -> bool:
    """Test for code, one expression's, that `column_values` may find values for."""
    at = 0
    while (word := words[at]) != code.END_CODE:
        pushes = word in (code.PUSH_CONSTANT, code.PUSH_BINDING)
        if not pushes and word not in _KNOWN:
            return False
        at += 2 if pushes else 1
    return True


def column_values(
    words: Sequence[int], bindings: Mapping[int, np.ndarray], rows: int
) -> np.ndarray | None:
    """The value of code that goes `by_columns` in each of so many rows, as codes; comparisons give
    truth values. None where a row may fail. `bindings`: columns of codes by level.
    """
    stack: list[Operand] = []
    at = 0
    while (word := words[at]) != code.END_CODE:
        if word == code.PUSH_CONSTANT:
            stack.append(np.array([words[at + 1]], np.int64))
        elif word == code.PUSH_BINDING:
            stack.append(bindings[words[at + 1]])
        else:
            right = stack.pop()
            operands = (right,) if word in _UNARY else (stack.pop(), right)
            value = _applied(word, *operands)
            if value is None:
                return None
            stack.append(value)
            at -= 1
        at += 2
    (value,) = stack
    value = value if value.dtype == np.bool_ else _codes(value)
    return np.full(rows, value[0], value.dtype) if len(value) != rows else value


def _applied(operation: int, left: Operand, right: Operand | None = None) -> Operand | None:
    if right is None:
        return _UNARY[operation](left)
    if operation in _FLOAT:
        with np.errstate(all="ignore"):
            found = _FLOAT[operation](_floats(left), _floats(right))
            found += 0.0  # −0.0 is no value
        return found if np.isfinite(found).all() else None
    left, right = _codes(left), _codes(right)
    if operation in _COMPARE:
        return _COMPARE[operation](left, right)
    if operation in _CHOICE:
        return _CHOICE[operation](left, right)
    if operation in _LIMITS:
        beyond = left < right if operation == code.AT_LEAST else left > right
        return None if beyond.any() else left
    return _whole(operation, left, right)


def _whole(operation: int, left: Operand, right: Operand) -> Operand | None:
    """Integer arithmetic that stays in int64 for certain, by the extremes of both sides."""
    if not len(left) or not len(right):
        return None
    most, other = _magnitude(left), _magnitude(right)
    if operation == code.MULTIPLY:
        return left * right if most * other <= _INT64_MAX else None
    if most + other > _INT64_MAX:
        return None
    return left + right if operation == code.ADD else left - right


def _absolute(values: Operand) -> Operand | None:
    return np.abs(values) if len(values) and values.min() >= -_INT64_MAX else None


def _magnitude(values: Operand) -> int:
    return max(abs(int(values.min())), abs(int(values.max())))


def _floats(values: Operand) -> Operand:
    return values if values.dtype == np.float64 else codes_to_floats(values)


def _codes(values: Operand) -> Operand:
    return floats_to_codes(values) if values.dtype == np.float64 else values
