# SPDX-License-Identifier: Apache-2.0
"""Relations that add up what several rules find, in cycles too: for each group one value, which is
the sum of what all assignments of all rules give, or what an aggregate of the user's makes of it.
In a cycle groups are evaluated again and again; a group that depends on itself has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple, Protocol

from lftj.proofs.aggregates import BUILT_IN, UserFold, fold
from lftj.proofs.computed_heads import is_computed
from lftj.proofs.kinds import Value
from lftj.proofs.terms import Env, value_of
from lftj.syntax import tree

Row = tuple[Value, ...]
Group = tuple[str, Row]
_ADDITIVE = ("sum", "count")


class _Plan(Protocol):
    def solve(self, env: Env) -> list[Env]: ...


class HeadRule(Protocol):
    """A head of a rule (`lftj.proofs.program.HeadRule`)."""

    @property
    def head(self) -> tree.Atom: ...
    @property
    def body(self) -> tuple[tree.Literal, ...]: ...
    @property
    def terms(self) -> tuple[tree.Term, ...]: ...
    @property
    def plan(self) -> _Plan: ...


class Sum(NamedTuple):
    """The column of a relation that is added up, and the aggregate: `sum`, for counts too, or one
    of the user's.
    """

    column: int
    function: str


class DependsOnItself(ValueError):
    """Groups of which each is made of the next, and the last of the first."""


def sums_of(rules: Iterable[tree.Rule]) -> dict[str, Sum]:
    """The relations that add up, each with its sum."""
    calls: dict[str, set[tuple[tuple[int, str], ...]]] = {}
    for head in (head for rule in rules for head in rule.heads if not is_computed(head)):
        calls.setdefault(head.relation, set()).add(
            tuple(
                (column, term.function)
                for column, term in enumerate(head.terms)
                if isinstance(term, tree.HeadAggregate)
            )
        )
    found: dict[str, Sum] = {}
    for name, kinds in calls.items():
        some = [each for each in kinds if each]
        if len(some) == 1 and len(some[0]) == 1:
            ((column, function),) = some[0]
            if function in _ADDITIVE or function not in BUILT_IN:
                found[name] = Sum(column, "sum" if function in _ADDITIVE else function)
    return found


def with_names(rule: tree.Rule, relations: Iterable[str]) -> tree.Rule:
    """A rule in which the atoms of these relations have variables in the place of `_`."""
    known, fresh = set(relations), count()

    def named(literal: tree.Literal) -> tree.Literal:
        if not isinstance(literal, tree.Atom) or literal.relation not in known:
            return literal
        terms = [
            tree.Variable(f"#sum{next(fresh)}") if isinstance(term, tree.Wildcard) else term
            for term in literal.terms
        ]
        if literal.value is None:
            return replace(literal, args=tuple(terms))
        return replace(literal, args=tuple(terms[:-1]), value=terms[-1])

    return replace(rule, body=replace(rule.body, literals=tuple(map(named, rule.body.literals))))


def summed(
    heads: Sequence[HeadRule],
    sums: Mapping[str, Sum],
    relations: dict[str, set[Row]],
    users: Mapping[str, UserFold],
    stored: Callable[[str, Row], Row],
) -> None:
    """Fill the relations of one stratum. `stored`: a row as a relation holds it. Raises
    DependsOnItself.
    """
    columns = {name: each.column for name, each in sums.items()}
    for name in {each.head.relation for each in heads}:
        relations[name].clear()
    passed, since = 0, dict[Group, set[Group]]()
    while True:
        values: dict[Group, list[Row]] = {}
        above: dict[Group, set[Group]] = {}
        for each in heads:
            name, column = each.head.relation, columns[each.head.relation]
            for env in each.plan.solve({}):
                key = _key(each, column, env)
                values.setdefault((name, key), []).append(added(each.terms[column], env))
                above.setdefault((name, key), set()).update(_rests_on(each, columns, env))
        made: dict[str, set[Row]] = {each.head.relation: set() for each in heads}
        for (name, key), found in values.items():
            total = fold(sums[name].function, found, users)
            row = (*key[: columns[name]], total, *key[columns[name] :])
            made[name].add(stored(name, row))
        passed += 1
        done = all(relations[name] == rows for name, rows in made.items())
        if done or passed > len(above) + 2:
            _require_order(above)
        if passed > 2 * (len(above) + 64):  # groups that rest on each other in turns
            for group, others in above.items():
                since.setdefault(group, set()).update(others)
            _require_order(since)
        if done:
            return
        for name, rows in made.items():
            relations[name].clear()
            relations[name].update(rows)


def added(term: tree.Term, env: Env) -> Row:
    """Values that an assignment adds by this term of the head: the arguments of the aggregate."""
    if not isinstance(term, tree.HeadAggregate):
        return (value_of(term, env),)
    if term.function == "count" and not term.args:
        return (1,)
    return tuple(value_of(each, env) for each in term.args)


def _key(each: HeadRule, column: int, env: Env) -> Row:
    """The group of an assignment."""
    return tuple(value_of(term, env) for at, term in enumerate(each.terms) if at != column)


def _rests_on(each: HeadRule, columns: Mapping[str, int], env: Env) -> Iterable[Group]:
    """The groups of the stratum that an assignment rests on."""
    for literal in each.body:
        if isinstance(literal, tree.Atom) and literal.relation in columns:
            column = columns[literal.relation]
            yield (
                literal.relation,
                tuple(value_of(term, env) for at, term in enumerate(literal.terms) if at != column),
            )


def _require_order(above: Mapping[Group, set[Group]]) -> None:
    """Raise DependsOnItself for a group that rests on itself."""
    left = {group: set(others) & above.keys() for group, others in above.items()}
    while free := [group for group, others in left.items() if not others]:
        for group in free:
            del left[group]
        for others in left.values():
            others.difference_update(free)
    if left:
        raise DependsOnItself(*sorted(map(str, left)))
