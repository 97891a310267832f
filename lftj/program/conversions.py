# SPDX-License-Identifier: Apache-2.0
"""Types of a column before and after it is retyped: which share values, what converts these, and
what makes something else of a value.
"""

from __future__ import annotations

from lftj.types import Type

_CONVERSIONS = {
    ("int", "float"): ("to_float({})", "to_number({})"),
    ("float", "int"): ("to_number({})", "to_float({})"),
    ("int", "str"): ("to_string({})", "to_number({})"),
    ("str", "int"): ("to_number({})", "to_string({})"),
    ("float", "str"): ("to_string({})", "to_float({})"),
    ("str", "float"): ("to_float({})", "to_string({})"),
}
"""Expressions that convert a column, and those that convert it back, by the types before and after.
Values that do not come back are refused.
"""
_WITH_LOSS = {"int": "to_number({})", "float": "to_float({})", "str": "to_string({})"}
"""Expressions that make a value of a type of others, and may lose."""
_MAKING = {
    ("bool", "int"): "if({} = true, 1, 0)",
    ("bool", "unsigned"): "to_unsigned(if({} = true, 1, 0))",
    ("bool", "float"): "if({} = true, 1.0, 0.0)",
    ("bool", "decimal"): "if({} = true, 1, 0)",
    ("int", "bool"): "if({} != 0, true, false)",
    ("unsigned", "bool"): "if({} != 0, true, false)",
    ("float", "bool"): "if({} != 0, true, false)",
    ("decimal", "bool"): "if({} != 0, true, false)",
    ("int", "date"): 'date("1970-01-01") + days({})',
    ("date", "int"): "year({})",
    ("timestamp", "int"): "year({})",
}
"""Expressions that make something of values that another type does not have."""


def has_same(before: Type, after: Type) -> bool:
    """Test for types that share values: numbers, days and moments, and all with texts."""
    one, other = before.required, after.required
    kinds = {one.name, other.name}
    return (
        one == other
        or "str" in kinds
        or kinds <= {"int", "decimal", "float"}
        or kinds == {"date", "timestamp"}
    )


def conversion(column: str, before: Type, after: Type) -> tuple[str, str] | None:
    """The expression that converts a column, and the one that converts it back: itself, where the
    values stay the same. None for types that share no values.
    """
    if (found := _CONVERSIONS.get((_kind(before), _kind(after)))) is not None:
        return found[0].format(column), found[1].format(column)
    return (column, "") if has_same(before, after) else None


def with_loss(column: str, before: Type, after: Type) -> str:
    """An expression that converts a column though values are lost; empty where there is none."""
    if after.name == "decimal":
        return f"round({column}, {after.scale})" if before.name in ("int", "decimal") else ""
    if after.unsigned:
        return f"to_unsigned({column})" if before.name in ("str", "decimal", "float") else ""
    if after.name == "date":
        return f"to_date({column})" if before.name == "timestamp" else ""
    return _WITH_LOSS.get(after.name, "").format(column)


def making(column: str, before: Type, after: Type) -> str:
    """An expression that makes something of a column whose values the other type does not have;
    empty where there is none.
    """
    return _MAKING.get((_kind(before), _kind(after)), "").format(column)


def _kind(type: Type) -> str:
    return "unsigned" if type.unsigned else type.name
