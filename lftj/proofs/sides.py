# SPDX-License-Identifier: Apache-2.0
"""The values of both sides of a comparison."""

from __future__ import annotations

from lftj.proofs.functors import FUNCTORS
from lftj.proofs.kinds import UserCall, Value
from lftj.proofs.terms import Env, value_of
from lftj.syntax import tree


def sides(literal: tree.Literal, env: Env) -> tuple[Value, ...]:
    """The values of both sides under these bindings; of `x = range(…)` that of x alone, and none of
    `_` or `true`.
    """
    if not isinstance(literal, tree.Comparison):
        return ()
    return tuple(value_of(term, env) for term in (literal.left, literal.right) if _single(term))


def _single(term: tree.Term) -> bool:
    if isinstance(term, UserCall):
        return True
    if isinstance(term, tree.Wildcard):
        return False
    return not isinstance(term, tree.Call) or term.functor in FUNCTORS
