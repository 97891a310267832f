# SPDX-License-Identifier: Apache-2.0
"""Questions of rules about NULL: whether a value is missing, and the value in its place."""

from __future__ import annotations

from typing import Any

from lftj.functions.record import Function, Operator


def _first_there(value: Any, default: Any) -> Any:
    return default if value is None else value


NO_NULL = "no_null"
"""Operator that refuses the integer that has the code of NULL, where it would go into an optional
column.
"""
KEEP_NULL = frozenset({"coalesce", "mirror"})
"""Operators of the normal form that take NULL as a value; of all others it makes NULL."""

IS_NULL = Function(
    name="is_null",
    arguments=("x",),
    line="The condition that `x` is NULL; `!is_null(x)` that it has a value.",
    usage="write is_null(x)",
    condition=True,
)
COALESCE = Function(
    name="coalesce",
    arguments=("x", "default", "…"),
    line="The first of its arguments that is not NULL.",
    usage="write coalesce(x, 0)",
    operators=(
        Operator(
            name="coalesce",
            evaluate=_first_there,
            kernel="COALESCE",
            float_kernel="COALESCE",
            sql="coalesce({0}, {1})",
        ),
        Operator(name=NO_NULL, evaluate=lambda value: value, fails=True, slopes=(1,), sql="{0}"),
    ),
    alike=lambda type: True,
    of_sql=("ifnull", "nvl", "isnull"),
)
