# SPDX-License-Identifier: Apache-2.0
"""Types of operations, remembered: what Numba infers for `+` of two words it infers again for each
of some ten thousand such operations, by trying dozens of rules each time.

For processes that do nothing but compile. Imports Numba.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numba import types
from numba.core.registry import cpu_target

_PLAIN = frozenset((
    types.Array, types.Boolean, types.BooleanLiteral, types.Float, types.Integer,
    types.IntegerLiteral, types.NoneType,
))  # fmt: skip
"""Classes of types that say all about an operand."""


def remember_types() -> None:
    """Have Numba infer the type of an operation on plain operands once in this process."""
    context: Any = cpu_target.typing_context
    infer = context.resolve_function_type
    known: dict[Any, Any] = {}

    def resolve(function: Any, operands: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if named or not _is_operation(function) or not _PLAIN.issuperset(map(type, operands)):
            return infer(function, operands, named)
        key = function, tuple(operands)
        if key not in known:
            found = infer(function, operands, named)
            if found is None:
                return None
            known[key] = found
        return known[key]

    context.resolve_function_type = resolve


def _is_operation(function: Any) -> bool:
    """True for what Numba knows by itself: a kernel is compiled when its type is asked for."""
    return type(function) is types.Function or not isinstance(function, types.Type)
