# SPDX-License-Identifier: Apache-2.0
"""Operations of an expression's code, over codes of values.

Integers, booleans, dates, timestamps and decimals of one scale are their own codes, so they share
the integer operations; floats are decoded, computed and coded again; strings compare by their UTF-8
bytes, which is code point order. Overflow, division by zero and NaN are failures, never values; so
are results beyond the bounds of a type that is narrower than its codes.
"""

from __future__ import annotations

import math

import numpy as np

from lftj.join.kernels.layout_kernels import (
    DIVISION_BY_ZERO,
    FAILURE,
    NOT_A_NUMBER,
    OVERFLOW,
)
from lftj.join.kernels.number_kernels import (
    add,
    code_float,
    divide,
    exact_float,
    float_code,
    integer_power,
    multiply,
    rounded,
    subtract,
)
from lftj.scantree.jit import (
    compiled,
    inlined,
    load,
    load_byte,
    store,
)

# The calendar: which year, month and day of the month a day is, by its number since 1970-01-01.
#
# Years are counted from March on, so that the day that some have more is their last one, and in
# rounds of 400 years, which all have the same number of days. Nothing before the year 1 occurs.

_SINCE_MARCH_0 = 719468  # days from the first of March of the year 0 to 1970-01-01
_CYCLE = 146097  # days of 400 years
_MICROSECONDS = 86_400_000_000


@inlined
def day_of_time(microseconds):
    """The day in which a time lies."""
    return microseconds // _MICROSECONDS


@compiled
def calendar_part(days, part):
    """The year (part 0), the month (1) or the day of the month (2)."""
    cycles = (days + _SINCE_MARCH_0) // _CYCLE
    day = days + _SINCE_MARCH_0 - cycles * _CYCLE
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153  # 0 is March
    if part == 2:
        return day - (153 * month + 2) // 5 + 1
    if part == 1:
        return month + 3 if month < 10 else month - 9
    return 400 * cycles + year + (1 if month >= 10 else 0)


END_CODE = 0
PUSH_CONSTANT = 1
PUSH_BINDING = 2
SKIP, SKIP_UNLESS = 3, 4  # code, by a number of words; where the value on top is 0, which goes

ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, POWER = 10, 11, 12, 13, 14, 15
LEAST, GREATEST = 17, 18
COALESCE = 19  # the left operand, the right one where that is NULL
BIT_AND, BIT_OR, BIT_XOR, SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_UNSIGNED = 20, 21, 22, 23, 24, 25
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = 27, 28, 29
AT_LEAST, AT_MOST = 30, 31  # the left operand, which fails beyond the right one
ROUNDING, SCALED_TO_FLOAT, FLOOR, CEILING = 32, 33, 34, 35  # of a decimal, with a power of ten
FLOAT_ADD, FLOAT_SUBTRACT, FLOAT_MULTIPLY, FLOAT_DIVIDE, FLOAT_REMAINDER, FLOAT_POWER = (
    40,
    41,
    42,
    43,
    44,
    45,
)
EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = 60, 61, 62, 63, 64, 65
TEXT_LESS, TEXT_LESS_EQUAL, TEXT_GREATER, TEXT_GREATER_EQUAL = 72, 73, 74, 75
# with one operand
NEGATE, BIT_NOT, LOGICAL_NOT, FLOAT_NEGATE, INT_TO_FLOAT, FLOAT_TO_INT = 80, 81, 82, 83, 84, 85
ABSOLUTE, FLOAT_ABSOLUTE = 86, 87
DAY_OF_TIME, YEAR, MONTH, DAY = 90, 91, 92, 93
LIFTED = 128  # added to an operation that is NULL where an operand is
NULL = -(2**63)


@compiled
def integer_operation(state, operation, left, right):
    """Binary operations on integer codes."""
    result = 0
    if operation == ADD:
        result = add(state, left, right)
    elif operation == SUBTRACT:
        result = subtract(state, left, right)
    elif operation == MULTIPLY:
        result = multiply(state, left, right)
    elif operation == DIVIDE:
        result = divide(state, left, right, False)
    elif operation == REMAINDER:
        result = divide(state, left, right, True)
    elif operation == POWER:
        if right < 0:
            store(state, FAILURE, NOT_A_NUMBER)
        else:
            result = integer_power(state, left, right)
    elif operation == LEAST:
        result = min(left, right)
    elif operation == GREATEST:
        result = max(left, right)
    elif operation == COALESCE:
        result = right if left == NULL else left
    elif operation == AT_LEAST or operation == AT_MOST:
        result = left
        if (left < right) if operation == AT_LEAST else (left > right):
            store(state, FAILURE, OVERFLOW)
    elif operation == ROUNDING:
        result = rounded(left, right)
    elif operation == SCALED_TO_FLOAT:
        result = float_code(exact_float(left, right))
    elif operation == FLOOR:
        result = left // right
    elif operation == CEILING:
        result = -(-left // right)
    else:
        result = bit_operation(operation, left, right)
    return result


@compiled
def bit_operation(operation, left, right):
    """Bitwise and logical operations; shifts take the amount modulo 64, as Soufflé does with its
    word size.
    """
    if operation == BIT_AND:
        return left & right
    if operation == BIT_OR:
        return left | right
    if operation == BIT_XOR:
        return left ^ right
    if operation == SHIFT_LEFT:
        return left << (right & 63)
    if operation == SHIFT_RIGHT:
        return left >> (right & 63)
    if operation == SHIFT_RIGHT_UNSIGNED:
        amount = right & 63
        return left if amount == 0 else (left >> amount) & ((1 << (64 - amount)) - 1)
    if operation == LOGICAL_AND:
        return 1 if left != 0 and right != 0 else 0
    if operation == LOGICAL_OR:
        return 1 if left != 0 or right != 0 else 0
    return 1 if (left != 0) != (right != 0) else 0


@compiled
def float_operation(state, operation, left_code, right_code):
    """Binary operations on float codes."""
    left = code_float(left_code)
    right = code_float(right_code)
    result = 0.0
    if operation == FLOAT_ADD:
        result = left + right
    elif operation == FLOAT_SUBTRACT:
        result = left - right
    elif operation == FLOAT_MULTIPLY:
        result = left * right
    elif right == 0.0 and FLOAT_DIVIDE <= operation <= FLOAT_REMAINDER:
        store(state, FAILURE, DIVISION_BY_ZERO)
    elif operation == FLOAT_DIVIDE:
        result = left / right
    elif operation == FLOAT_REMAINDER:
        result = np.fmod(left, right)
    else:
        result = np.power(left, right)
    if math.isnan(result):
        store(state, FAILURE, NOT_A_NUMBER)
        return 0
    if math.isinf(result) and not (math.isinf(left) or math.isinf(right)):
        store(state, FAILURE, OVERFLOW)
    return float_code(result)


@compiled
def unary_operation(state, operation, value):
    """Operations with one operand."""
    if operation == NEGATE:
        return subtract(state, 0, value)
    if operation == ABSOLUTE:
        return value if value >= 0 else subtract(state, 0, value)
    if operation == FLOAT_ABSOLUTE:
        return float_code(abs(code_float(value)))
    if operation == BIT_NOT:
        return ~value
    if operation == LOGICAL_NOT:
        return 1 if value == 0 else 0
    if operation == FLOAT_NEGATE:
        return float_code(-code_float(value))
    if operation == INT_TO_FLOAT:
        return float_code(float(value))
    if operation == DAY_OF_TIME:
        return day_of_time(value)
    if operation >= YEAR:
        return calendar_part(value, operation - YEAR)
    number = code_float(value)
    if not -(2.0**63) <= number < 2.0**63:
        store(state, FAILURE, OVERFLOW)
        return 0
    return int(number)


@compiled
def compare_text(offsets, text, left, right):
    """Negative, zero or positive as string `left` is before, equal to or after `right`, byte by
    byte.
    """
    if left == right:
        return 0
    left_at, left_end = load(offsets, left), load(offsets, left + 1)
    right_at, right_end = load(offsets, right), load(offsets, right + 1)
    while left_at < left_end and right_at < right_end:
        left_byte, right_byte = load_byte(text, left_at), load_byte(text, right_at)
        if left_byte != right_byte:
            return -1 if left_byte < right_byte else 1
        left_at += 1
        right_at += 1
    return (left_end - left_at) - (right_end - right_at)


@inlined
def compare(operation, order):
    """Test an order (negative, zero, positive) against a comparison, given as EQUAL …
    GREATER_EQUAL.
    """
    if operation == EQUAL:
        return order == 0
    if operation == NOT_EQUAL:
        return order != 0
    if operation == LESS:
        return order < 0
    if operation == LESS_EQUAL:
        return order <= 0
    if operation == GREATER:
        return order > 0
    return order >= 0
