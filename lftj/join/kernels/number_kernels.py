# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on int64 words and on the codes of floats, where a result that does not fit is a
failure, noted in the state.

The tests come before the arithmetic: signed overflow is undefined to LLVM, which would take a test
of the wrapped result for never true.
"""

from __future__ import annotations

from lftj.join.kernels.layout_kernels import (
    DIVISION_BY_ZERO,
    FAILURE,
    OVERFLOW,
)
from lftj.scantree.jit import (
    bits_to_float,
    compiled,
    float_to_bits,
    inlined,
    store,
)

_SIGN = -(1 << 63)
_REST = (1 << 63) - 1


@inlined
def float_code(value):
    """The order-preserving code of a float; −0.0 has that of 0.0."""
    bits = float_to_bits(value + 0.0)
    return bits if bits >= 0 else bits ^ _REST


@inlined
def code_float(code):
    """The float with this code."""
    return bits_to_float(code if code >= 0 else code ^ _REST)


# The tests come before the arithmetic: signed overflow is undefined to LLVM, which would take a
# test of the wrapped result for never true.


@compiled
def magnitude_bound(other, negative):
    """The largest |x| for which x · other still fits, the product being negative or
    not; other > 0.
    """
    if other == 1:
        return _REST
    bound = _REST // other
    if negative and bound * other == _REST - other + 1:
        bound += 1  # −2⁶³ itself
    return bound


@compiled
def multiply(state, left, right):
    """left · right, with the failure noted when it does not fit."""
    if left == 0 or right == 0:
        return 0
    if left == _SIGN or right == _SIGN:
        if left == 1 or right == 1:
            return _SIGN
        store(state, FAILURE, OVERFLOW)
        return 0
    if abs(left) > magnitude_bound(abs(right), (left < 0) != (right < 0)):
        store(state, FAILURE, OVERFLOW)
        return 0
    return left * right


@inlined
def add(state, left, right):
    """left + right, with the failure noted when it does not fit."""
    if (right > 0 and left > _REST - right) or (right < 0 and left < _SIGN - right):
        store(state, FAILURE, OVERFLOW)
        return 0
    return left + right


@inlined
def subtract(state, left, right):
    """left − right, with the failure noted when it does not fit."""
    if (right > 0 and left < _SIGN + right) or (right < 0 and left > _REST + right):
        store(state, FAILURE, OVERFLOW)
        return 0
    return left - right


@compiled
def integer_power(state, base, exponent):
    """base ** exponent for exponent ≥ 0, by squaring."""
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = multiply(state, result, base)
        exponent >>= 1
        if exponent > 0:
            base = multiply(state, base, base)
    return result


@compiled
def divide(state, left, right, remainder):
    """Quotient rounded towards zero, or the remainder, which has the sign of the dividend (as in
    C).
    """
    if right == 0:
        store(state, FAILURE, DIVISION_BY_ZERO)
        return 0
    if right == -1:
        if remainder:
            return 0
        return subtract(state, 0, left)
    quotient = left // right
    if quotient < 0 and quotient * right != left:
        quotient += 1
    return left - quotient * right if remainder else quotient


@compiled
def rounded(value, unit):
    """value / unit to the nearest integer, halves away from zero, where unit is a power of ten from
    10 on and |value| < 10¹⁸.
    """
    size = abs(value)
    quotient = size // unit
    if 2 * (size - quotient * unit) >= unit:
        quotient += 1
    return -quotient if value < 0 else quotient


@compiled
def exact_float(value, unit):
    """The float nearest to value / unit, where unit is a power of ten up to 10¹⁸ and |value| <
    10¹⁸.
    """
    size = abs(value)
    if size <= 1 << 53:
        return float(value) / float(unit)  # both are exact, so that only the quotient is rounded
    mantissa = size // unit
    rest = size - mantissa * unit
    power = 1.0
    while (
        mantissa < 1 << 54
    ):  # until there are two bits more than a float has, whose rounding the rest then decides
        rest *= 2
        mantissa *= 2
        if rest >= unit:
            rest -= unit
            mantissa += 1
        power *= 0.5
    if rest > 0:
        mantissa |= 1
    return float(mantissa) * power if value > 0 else -float(mantissa) * power
