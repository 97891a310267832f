# SPDX-License-Identifier: Apache-2.0
"""Values of expressions and aggregates under bindings of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lftj.explain.derivations.version import Version
from lftj.functions import AGGREGATES, EXTREMES, GREATEST, TOTALS
from lftj.program import Apply, Expression, Ref, RuleVariable, Value, evaluate
from lftj.proofs import fold
from lftj.types import Type


def expression_value(
    expression: Expression,
    type: Type | None,
    env: Mapping[int, int],
    version: Version,
    variables: Sequence[RuleVariable] = (),
) -> Any:
    """The value of an expression. `type`: of it, where it is a variable alone and `variables` are
    not given.
    """
    match expression:
        case Value(value=value):
            return value
        case Ref(variable=variable):
            known = variables[variable].type if variables else type
            assert known is not None
            return version.decode(known, env[variable])
        case Apply(operator=operator, args=args, type=result):
            values = [expression_value(arg, None, env, version, variables) for arg in args]
            return evaluate(operator, tuple(values), result)


def plain_value(value: Any) -> Any:
    """The value as Python has it, where it is one of an array."""
    return value.item() if isinstance(value, np.generic) else value


def folded(function: str, values: Sequence[Any], *more: Sequence[Any]) -> Any:
    """The value of a body aggregate, of what its first argument and the others are; NOTHING where
    an empty group has none.
    """
    if isinstance(values, np.ndarray) and len(values) and function in EXTREMES | TOTALS:
        return _folded_array(function, values)
    rows = zip(values, *more, strict=True)
    return fold(function, [tuple(map(plain_value, row)) for row in rows], {})


def _folded_array(function: str, values: np.ndarray) -> Any:
    """`folded` of whole numbers, of which there are some, exactly."""
    if function in EXTREMES:
        return int(values.max() if function in GREATEST else values.min())
    largest = max(abs(int(values.min())), abs(int(values.max())))
    fits = largest * len(values) < 1 << 63
    total = int(values.sum()) if fits else sum(values.tolist())
    return float(Fraction(total) / len(values)) if AGGREGATES[function].divided else total
