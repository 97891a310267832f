"""Expressions over whole columns: the values that the stack machine finds row by row, or none."""

from __future__ import annotations

import random

import numpy as np

from lftj.join.access.column_expressions import by_columns, column_values
from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels import operation_kernels as code
from lftj.join.kernels.lookup_kernels import compute_rows
from lftj.scantree.jit import address
from lftj.types import floats_to_codes

ROWS = 7
INTS = (0, 1, -1, 5, 2**31, -(2**40), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.0, -1.5, 0.1, 1e300, -1e300, 5e-324, np.inf)
OF_INTS = (code.ADD, code.SUBTRACT, code.MULTIPLY, code.LEAST, code.GREATEST)
OF_FLOATS = (code.FLOAT_ADD, code.FLOAT_SUBTRACT, code.FLOAT_MULTIPLY, code.FLOAT_DIVIDE)
STACK = 64


def whole(by: random.Random, depth: int) -> list[int]:
    """Code of an int: columns 0 and 1 are ints."""
    if not depth or by.random() < 0.3:
        constant = [code.PUSH_CONSTANT, by.choice(INTS[:5])]
        return by.choice(([code.PUSH_BINDING, by.randrange(2)], constant))
    value = [*whole(by, depth - 1), *whole(by, depth - 1), by.choice(OF_INTS)]
    if by.random() < 0.2:
        value += [code.PUSH_CONSTANT, -(2**50), code.AT_LEAST]
        value += [code.PUSH_CONSTANT, 2**50, code.AT_MOST]
    return value


def floating(by: random.Random, depth: int) -> list[int]:
    """Code of a float: columns 2 and 3 are floats."""
    if not depth or by.random() < 0.2:
        return [code.PUSH_BINDING, 2 + by.randrange(2)]
    kind = by.random()
    if kind < 0.1:
        return [*floating(by, depth - 1), code.FLOAT_NEGATE]
    if kind < 0.2:
        return [*whole(by, depth - 1), code.INT_TO_FLOAT]
    operation = by.choice((*OF_FLOATS, code.LEAST, code.GREATEST))
    return [*floating(by, depth - 1), *floating(by, depth - 1), operation]


def row_by_row(words: list[int], columns: np.ndarray) -> tuple[bool, np.ndarray]:
    """Success of the stack machine, and its values."""
    state = np.zeros(at.STATE_HEADER + 4 + STACK, np.int64)
    state[at.BINDINGS], state[at.STACK] = at.STATE_HEADER, at.STATE_HEADER + 4
    values, text = np.empty(columns.shape[1], np.int64), np.zeros(1, np.int64)
    program, none = np.array(words, np.int64), np.zeros(1, np.uint8)
    machine, texts = (address(program), address(state)), (address(text), address(none))
    found = compute_rows(*machine, np.arange(4), columns, *texts, values)
    return bool(found), values


def test_values_of_columns_are_those_of_rows() -> None:
    found = 0
    for seed in range(2000):
        by = random.Random(seed)
        few = by.random() < 0.5
        ints = [[by.choice(INTS[:4] if few else INTS) for _ in range(ROWS)] for _ in range(2)]
        floats = [[by.choice(FLOATS[:4] if few else FLOATS) for _ in range(ROWS)] for _ in "ab"]
        columns = np.array([*ints, *(floats_to_codes(np.array(each)) for each in floats)])
        words = by.choice((whole, floating))(by, 3)
        if by.random() < 0.3:
            words += [*words, by.choice((code.EQUAL, code.LESS, code.GREATER_EQUAL))]
        words.append(code.END_CODE)
        assert by_columns(words)
        values = column_values(words, dict(enumerate(columns)), ROWS)
        succeeded, expected = row_by_row(words, columns)
        if values is None:
            assert not succeeded or not few or code.MULTIPLY in words
            continue
        found += 1
        assert succeeded
        assert values.astype(np.int64).tolist() == expected.tolist(), words
    assert found > 1000


def test_other_operations_are_left_to_the_kernel() -> None:
    words = [code.PUSH_BINDING, 0, code.PUSH_CONSTANT, 2, code.REMAINDER, code.END_CODE]
    assert not by_columns(words)
