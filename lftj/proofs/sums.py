# SPDX-License-Identifier: Apache-2.0
"""Relations that add up what several rules find, in cycles too: for each group one value, which is
the sum of what all assignments of all rules give. In a cycle groups are evaluated again and again;
a group that depends on itself has no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Protocol

from lftj.proofs.aggregates import fold
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


class DependsOnItself(ValueError):
    """Groups of which each is made of the next, and the last of the first."""


def sum_columns(rules: Iterable[tree.Rule]) -> dict[str, int]:
    """The column that is added up, of relations that do so."""
    calls: dict[str, set[tuple[tuple[int, str], ...]]] = {}
    for head in (head for rule in rules for head in rule.heads):
        calls.setdefault(head.relation, set()).add(
            tuple(
                (column, term.function)
                for column, term in enumerate(head.terms)
                if isinstance(term, tree.HeadAggregate)
            )
        )
    found: dict[str, int] = {}
    for name, kinds in calls.items():
        some = [each for each in kinds if each]
        if len(some) == 1 and len(some[0]) == 1 and some[0][0][1] in _ADDITIVE:
            found[name] = some[0][0][0]
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
    heads: Sequence[HeadRule], columns: Mapping[str, int], relations: dict[str, set[Row]]
) -> None:
    """Fill the relations of one stratum. Raises DependsOnItself."""
    for name in {each.head.relation for each in heads}:
        relations[name].clear()
    passed = 0
    while True:
        values: dict[Group, list[Value]] = {}
        above: dict[Group, set[Group]] = {}
        for each in heads:
            name, column = each.head.relation, columns[each.head.relation]
            for env in each.plan.solve({}):
                key, value = _of(each, column, env)
                values.setdefault((name, key), []).append(value)
                above.setdefault((name, key), set()).update(_rests_on(each, columns, env))
        made: dict[str, set[Row]] = {each.head.relation: set() for each in heads}
        for (name, key), found in values.items():
            total = fold("sum", [(value,) for value in found], {})
            made[name].add((*key[: columns[name]], total, *key[columns[name] :]))
        passed += 1
        done = all(relations[name] == rows for name, rows in made.items())
        if done or passed > len(above) + 2:
            _require_order(above)
        if done:
            return
        for name, rows in made.items():
            relations[name].clear()
            relations[name].update(rows)


def _of(each: HeadRule, column: int, env: Env) -> tuple[Row, Value]:
    """The group of an assignment, and what it adds."""
    term: Any = each.terms[column]
    value = 1
    if not isinstance(term, tree.HeadAggregate):
        value = value_of(term, env)
    elif term.args:
        value = value_of(term.args[0], env)
    key = tuple(value_of(other, env) for at, other in enumerate(each.terms) if at != column)
    return key, value


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
