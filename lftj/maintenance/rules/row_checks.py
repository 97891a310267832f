# SPDX-License-Identifier: Apache-2.0
"""Checks of the rows that a view wins, made at the change, where the rows are only the new ones."""

from __future__ import annotations

from lftj.errors import ValueRangeError
from lftj.heads.function import check_function_delta
from lftj.join.context import Context
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion, key_and_rest
from lftj.types import MAX_DECIMAL_PRECISION, NULL_CODE, code_range, decode_scalar


def check_rows(
    schema: RelationSchema, version: RelationVersion, delta: Delta, context: Context
) -> None:
    """Raise KeyViolationError when rows of a view share a key that did not before `delta`,
    ValueRangeError for decimals too long for their column. O(δ log n).
    """
    if not schema.hidden:
        _check_decimals(schema, delta, context)
    if schema.key is None:
        return
    key, rest = key_and_rest(schema)
    order = (*key, *rest)
    types = [schema.columns[i][1] for i in order]

    def decode(row: tuple[int, ...]) -> tuple[object, ...]:
        values = dict(
            zip(
                order,
                (
                    decode_scalar(t, c, context.resources.dictionary)
                    for t, c in zip(types, row, strict=True)
                ),
                strict=True,
            )
        )
        return tuple(values[i] for i in range(schema.arity))

    check_function_delta(schema, version, delta, decode=decode)


def _check_decimals(schema: RelationSchema, delta: Delta, context: Context) -> None:
    """Rules take decimals of one scale for one another, and sums of them: one may have more digits
    than its column.
    """
    for (column, type), codes in zip(
        schema.columns, delta.inserts, strict=False
    ):  # one without columns keeps one
        if type.precision is None:
            continue
        codes = codes[codes != NULL_CODE] if type.optional else codes
        if not codes.size:
            continue
        bounds = code_range(type)
        assert bounds is not None
        for code in (int(codes.min()), int(codes.max())):
            if not bounds[0] <= code <= bounds[1]:
                found = decode_scalar(type, code, context.resources.dictionary)
                hint = (
                    f"declare the column with more digits than {type}, up to "
                    f"{MAX_DECIMAL_PRECISION}"
                )
                raise ValueRangeError(
                    f"{schema.name}.{column} is {type}, and a rule derives {found}", hint=hint
                )
