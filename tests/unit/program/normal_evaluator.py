"""Evaluates a stratified program over Python sets, straight from the meaning of the normal form:
slow, short, and free of plans. NULL, which is None, is a code like any other, and the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from lftj import functions
from lftj.program import arithmetic
from lftj.program.normal_form import (
    AggregateTerm,
    Expression,
    Filter,
    FunctorRule,
    NormalRule,
    Ref,
    Value,
)
from lftj.program.stratification import StratifiedProgram
from lftj.proofs.aggregates import NOTHING, fold

Row = tuple[object, ...]
Relations = dict[str, set[Row]]
Env = dict[int, object]


@total_ordering
@dataclass(frozen=True)
class Mirrored:
    """A value whose code is turned: it stands where the value would, from the other end."""

    value: Any

    def __lt__(self, other: Mirrored) -> bool:
        return compared("<", other.value, self.value)


def compared(operator: str, left: Any, right: Any) -> bool:
    """Compare two values, of which each may be NULL."""
    if left is None or right is None:
        left, right = left is not None, right is not None
    return arithmetic.holds(operator, left, right)


def evaluate_normal(program: StratifiedProgram, facts: Mapping[str, Iterable[Row]]) -> Relations:
    """All relations: those given, and those that the strata derive."""
    relations: Relations = {name: set() for name in program.relations}
    relations.update({name: set(map(tuple, rows)) for name, rows in facts.items()})
    for stratum in program.strata:
        size = -1
        while size != (size := sum(len(relations[name]) for name in stratum.relations)):
            for rule in stratum.rules:
                relations[rule.relation] |= derive(rule, relations)
    return relations


def derive(rule: NormalRule | FunctorRule, relations: Relations) -> set[Row]:
    """The rows that one rule gives now."""
    if isinstance(rule, FunctorRule):
        results = {
            row: functions.call(rule.functor, row)
            for row in relations[rule.domain]
            if None not in row
        }
        if functions.FUNCTORS[rule.functor].many:
            return {(*row, result) for row, each in results.items() for result in each}
        if rule.result is None:
            return {row for row in results if results[row]}
        null = {(*row, None) for row in relations[rule.domain] if None in row}
        return {(*row, result) for row, result in results.items()} | null
    groups: dict[Row, list[Env]] = {}
    for env in assignments(rule, relations):
        key = tuple(env[term.variable] for term in rule.head if isinstance(term, Ref))
        groups.setdefault(key, []).append(env)
    found = (_row(rule, key, envs) for key, envs in groups.items())
    return {row for row in found if NOTHING not in row}


def assignments(rule: NormalRule, relations: Relations) -> list[Env]:
    """The distinct satisfying assignments of all variables."""
    envs: list[Env] = [{}]
    for atom in rule.atoms:
        envs = [
            found
            for env in envs
            for row in relations[atom.relation]
            if (found := _match(atom.args, row, env)) is not None
        ]
    waiting, tests = list(rule.assignments), list(rule.filters)
    while waiting:
        # What a test refuses need not have a value.
        known = [t for t in tests if all(_has(e, t.left) and _has(e, t.right) for e in envs)]
        tests = [test for test in tests if test not in known]
        envs = [env for env in envs if _all_hold(known, env)]
        ready = next(each for each in waiting if all(_has(env, each.expression) for env in envs))
        waiting.remove(ready)
        valued = ((env, value_of(ready.expression, env)) for env in envs)
        envs = [{**env, ready.variable: value} for env, value in valued
                if env.get(ready.variable, value) == value]  # fmt: skip
    envs = [env for env in envs if _all_hold(tests, env)]
    for atom in rule.negated:
        envs = [
            env
            for env in envs
            if all(_match(atom.args, row, env) is None for row in relations[atom.relation])
        ]
    assert all(len(env) == len(rule.variables) for env in envs)
    return list({tuple(sorted(env.items())): env for env in envs}.values())


def _all_hold(tests: Iterable[Filter], env: Env) -> bool:
    return all(
        compared(test.operator, value_of(test.left, env), value_of(test.right, env))
        for test in tests
    )


def value_of(expression: Expression, env: Env) -> object:
    """The value of an expression under bindings."""
    if isinstance(expression, Ref):
        return env[expression.variable]
    if isinstance(expression, Value):
        return expression.value
    if expression.operator == "if":
        condition, one, other = expression.args
        return value_of(one if value_of(condition, env) else other, env)
    args = tuple(value_of(arg, env) for arg in expression.args)
    if expression.operator in ("=", "!=", "<", "<=", ">", ">="):
        return int(compared(expression.operator, *args))
    if expression.operator == "coalesce":
        one, other = args
        return other if one is None else one
    if expression.operator == "mirror":
        (value,) = args
        return value.value if isinstance(value, Mirrored) else Mirrored(value)
    return arithmetic.evaluate(expression.operator, args, expression.type)


def _has(env: Env, expression: Expression) -> bool:
    if isinstance(expression, Ref):
        return expression.variable in env
    return isinstance(expression, Value) or all(_has(env, arg) for arg in expression.args)


def _match(args: tuple[Ref | Value | None, ...], row: Row, env: Env) -> Env | None:
    found = dict(env)
    for arg, value in zip(args, row, strict=True):
        if isinstance(arg, Ref):
            if found.setdefault(arg.variable, value) != value:
                return None
        elif arg is not None and arg.value != value:
            return None
    return found


def _row(rule: NormalRule, key: Row, envs: list[Env]) -> Row:
    plain, row = iter(key), []
    for term in rule.head:
        if isinstance(term, AggregateTerm):
            row.append(
                fold(
                    term.function,
                    [tuple(env[arg.variable] for arg in term.args) for env in envs],
                    {},
                )
            )  # type: ignore[misc]
        else:
            row.append(next(plain))
    return tuple(row)
