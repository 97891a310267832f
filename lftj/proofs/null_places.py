# SPDX-License-Identifier: Apache-2.0
"""Places of a body in which a variable is equal to something: one that is NULL stands in one of
these at most, since NULL is equal to nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce

from lftj.proofs.kinds import Value
from lftj.proofs.nested_loops import Names, carries
from lftj.proofs.terms import Env
from lftj.proofs.world import Wrong
from lftj.syntax import tree


def check_nulls(literals: Sequence[tree.Literal], env: Env, around: Names) -> None:
    """Check that what is NULL meets nothing in a body. `around`: the variables that the bodies
    around it bind. Raises Wrong.
    """
    missing = {name for name, value in env.items() if value is None}
    if not missing:
        return
    times = places_in(literals) + Counter(missing & around)
    for name in sorted(missing):
        if times[name] > 1:
            raise Wrong(f"{name} is NULL, which is equal to nothing")


def places_of(literal: tree.Literal) -> Counter[str]:
    """The variables of a literal, as often as it says that they are equal to something."""
    match literal:
        case tree.Atom():
            return _among(literal.terms)
        case tree.Comparison("=", left, right):
            return _among([left] if carries(left) else [left, right])
        case tree.Disjunction(branches) if branches:
            each = (frozenset(places_in(branch.literals)) for branch in branches)
            return Counter(reduce(frozenset.__and__, each))
    return Counter()


def places_in(literals: Iterable[tree.Literal]) -> Counter[str]:
    """The variables of some literals, as often as these say that they are equal to something."""
    times = Counter[str]()
    for literal in literals:
        times.update(places_of(literal))
    return times


def gives_null(literal: tree.Literal, values: Sequence[Value], env: Env) -> bool:
    """Recognise `x = sum y : { … }` where both are NULL. `values`: those of its aggregates."""
    match literal:
        case tree.Comparison("=", tree.Variable(name), tree.Aggregate()) | tree.Comparison(
            "=", tree.Aggregate(), tree.Variable(name)
        ):
            return values[0] is None and name in env and env[name] is None
        case tree.Comparison("=", tree.Wildcard(), tree.Aggregate()) | tree.Comparison(
            "=", tree.Aggregate(), tree.Wildcard()
        ):
            return values[0] is None
    return False


def _among(terms: Iterable[tree.Term]) -> Counter[str]:
    return Counter(term.name for term in terms if isinstance(term, tree.Variable))
