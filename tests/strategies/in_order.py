"""Random aggregates of what stands in order: their arguments and the types of their results."""

from __future__ import annotations

from collections.abc import Sequence

from lftj.syntax import tree
from tests.strategies.schemas import COST, NULLED, optional, pick, required
from tests.strategies.terms import Draw, Typed

KEYED = ("arg_min", "arg_max", "first", "last")
IN_ORDER = (*KEYED, "count_distinct", "median", "mode", "quantile", "quantile_disc")
_SHARES = (0.0, 0.1, 0.25, 0.5, 0.95, 1.0)


def result_type(function: str, of: str) -> str | None:
    """The type of an aggregate over values of a type; None where it takes none."""
    if function == "count_distinct":
        return "int"
    if function in ("median", "quantile"):
        found = {"int": "float", "float": "float", COST: COST}.get(required(of))
        return found and (optional(found) if of in NULLED else found)
    return of


def more_arguments(draw: Draw, function: str, bound: Typed) -> tuple[tree.Term, ...]:
    """Arguments behind the value: a key or two of what is bound, or a share."""
    if function in KEYED:
        count = 2 if function in ("first", "last") and pick(draw, (True, False)) else 1
        keys = sorted(bound)
        return tuple(
            tree.Variable(pick(draw, keys)) if keys else tree.Constant(1) for _ in range(count)
        )
    return (tree.Constant(pick(draw, _SHARES)),) if function.startswith("quantile") else ()


def sources(function: str, result: str, bound: Typed) -> Sequence[str]:
    """The types of bound variables over which an aggregate gives this result."""
    types = sorted(set(bound.values()))
    found = [(each, result_type(function, each)) for each in types]
    return [
        each
        for each, given in found
        if given == result or (given and result in NULLED and required(given) == required(result))
    ]
