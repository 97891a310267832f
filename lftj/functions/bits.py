# SPDX-License-Identifier: Apache-2.0
"""Operations on the 64 bits of integers, and logical ones, for which 0 is false.

Shifts take the number of bits modulo 64, as Soufflé does with its word size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lftj.functions.record import Function, Operator, Sql
from lftj.types import INT64_MAX

_WORDS = 2**64


def _signed(value: int) -> int:
    """The low 64 bits as a two's complement number."""
    value &= _WORDS - 1
    return value - _WORDS if value > INT64_MAX else value


# ── SQL ───────────────────────────────────────────────────────────────────────────────────────────
_WIDE = "CAST({0} AS HUGEINT)"
_POWER = "(CAST(1 AS HUGEINT) << ({1} & 63))"


def _low(wide: str) -> str:
    return f"((({wide} % {_WORDS}) + {_WORDS}) % {_WORDS})"


def _wrapped(wide: str) -> str:
    """The low 64 bits as a two's complement number, in DuckDB."""
    low = _low(wide)
    above = f"CAST({low} - {_WORDS} AS BIGINT)"
    return f"CASE WHEN {low} >= {_WORDS // 2} THEN {above} ELSE CAST({low} AS BIGINT) END"


def _spark_shift(name: str) -> str:
    return f"{name}({{0}}, CAST({{1}} & 63 AS INT))"


_ARITHMETIC_SHIFT = "CASE WHEN {0} < 0 THEN ~((~{0}) >> ({1} & 63)) ELSE {0} >> ({1} & 63) END"
"""Shift towards less: what is below zero is shifted as its complement."""


def _logical(operator: str) -> str:
    return f"CAST((({{0}} <> 0) {operator} ({{1}} <> 0)) AS BIGINT)"


# ── records ───────────────────────────────────────────────────────────────────────────────────────
def _word(
    name: str,
    precedence: int,
    evaluate: Callable[..., Any],
    kernel: str,
    line: str,
    sql: Sql,
    *,
    below: bool = False,
    prefix: bool = False,
) -> Function:
    operator = Operator(name=name, evaluate=evaluate, kernel=kernel, below=below, sql=sql)
    return Function(
        name=name,
        arguments=("x",) if prefix else ("x", "y"),
        line=line,
        usage=f"write {name} x" if prefix else f"write x {name} y",
        operators=(operator,),
        precedence=precedence,
        prefix=prefix,
    )


BITS = (
    _word("lor", 1, lambda left, right: int(bool(left or right)), "LOGICAL_OR",
        "1 when one of two ints differs from 0, else 0.", _logical("OR")),
    _word("lxor", 2, lambda left, right: int(bool(left) != bool(right)), "LOGICAL_XOR",
        "1 when one of two ints differs from 0 and the other does not, else 0.", _logical("<>")),
    _word("land", 3, lambda left, right: int(bool(left and right)), "LOGICAL_AND",
        "1 when both ints differ from 0, else 0.", _logical("AND")),
    _word("bor", 4, lambda left, right: left | right, "BIT_OR", "Bitwise or.", "({0} | {1})"),
    _word("bxor", 5, lambda left, right: left ^ right, "BIT_XOR", "Bitwise exclusive or.",
        {"duckdb": "xor({0}, {1})", "spark": "({0} ^ {1})"}),
    _word("band", 6, lambda left, right: left & right, "BIT_AND", "Bitwise and.", "({0} & {1})"),
    _word("bshl", 7, lambda value, count: _signed(value << (count & 63)), "SHIFT_LEFT",
        "An int shifted left by so many bits, modulo 64; what leaves the 64 bits is lost.",
        {"duckdb": _wrapped(f"({_WIDE} * {_POWER})"), "spark": _spark_shift("shiftleft")},
        below=True),
    _word("bshr", 7, lambda value, count: value >> (count & 63), "SHIFT_RIGHT",
        "An int shifted right by so many bits, modulo 64, keeping its sign.",
        {"duckdb": _ARITHMETIC_SHIFT, "spark": _spark_shift("shiftright")}),
    _word("bshru", 7, lambda value, count: _signed((value & (_WORDS - 1)) >> (count & 63)),
        "SHIFT_RIGHT_UNSIGNED",
        "An int shifted right by so many bits, modulo 64, zeros coming in.",
        {"duckdb": _wrapped(f"({_low(_WIDE)} // {_POWER})"),
         "spark": _spark_shift("shiftrightunsigned")}),
    _word("bnot", 10, lambda value: ~value, "BIT_NOT", "All bits of an int inverted.", "(~({0}))",
        below=True, prefix=True),
    _word("lnot", 10, lambda value: int(not value), "LOGICAL_NOT", "1 for 0, else 0.",
        "CAST(({0} = 0) AS BIGINT)", prefix=True),
)  # fmt: skip
