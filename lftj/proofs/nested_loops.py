# SPDX-License-Identifier: Apache-2.0
"""The satisfying assignments of a body, by nested loops in an order in which every literal finds
its inputs bound.

A name inside `!( … )`, an aggregate or one branch of a disjunction means the variable of the
enclosing body when that body has it, and is a variable of its own otherwise. Each `_` is a variable
of its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce

from lftj.proofs.aggregates import NOTHING, UserFold, fold
from lftj.proofs.functors import compared, numbers
from lftj.proofs.kinds import ArithmeticFailure, Value, held, kind_of
from lftj.proofs.terms import FAILED, Env, value_of, variables_of
from lftj.syntax import tree

Facts = Mapping[str, set[tuple[Value, ...]]]
Step = Callable[[list[Env]], Iterable[Env]]
Names = frozenset[str]

NONE: Names = frozenset()
_fresh = itertools.count()


def direct(literals: Iterable[tree.Literal]) -> Names:
    """The variables of this body itself: of its atoms and comparisons, and those that every branch
    of a disjunction has.
    """
    names: set[str] = set()
    for literal in literals:
        match literal:
            case tree.Atom():
                names.update(*map(variables_of, literal.terms))
            case tree.Comparison():
                names |= variables_of(literal.left) | variables_of(literal.right)
            case tree.Disjunction():
                names |= reduce(
                    frozenset.__and__, (direct(branch.literals) for branch in literal.branches)
                )
    return frozenset(names)


def mentioned(node: object) -> Names:
    """Every variable name in a literal or term, at any depth."""
    if isinstance(node, tree.Variable):
        return frozenset({node.name})
    if isinstance(node, tuple):
        return frozenset().union(*map(mentioned, node))
    return mentioned(tuple(vars(node).values())) if isinstance(node, tree.Node) else frozenset()


def flatten(literals: Iterable[tree.Literal]) -> Iterator[tree.Literal]:
    """Give wildcards names; move expressions out of atoms and aggregates out of expressions, into
    equations of new variables.
    """
    for literal in literals:
        if not isinstance(literal, tree.Atom | tree.Comparison):
            yield literal
            continue
        equations: list[tree.Comparison] = []
        if isinstance(literal, tree.Atom):
            yield tree.Atom(
                literal.relation, tuple(_flat(term, equations, False) for term in literal.terms)
            )
        else:
            yield tree.Comparison(
                literal.operator,
                _flat(literal.left, equations, True),
                _flat(literal.right, equations, True),
            )
        yield from equations


def _flat(term: tree.Term, equations: list[tree.Comparison], calls: bool) -> tree.Term:
    if isinstance(term, tree.Variable | tree.Constant):
        return term
    if calls and isinstance(term, tree.Call) and term.functor != "range":
        return replace(term, args=tuple(_flat(arg, equations, True) for arg in term.args))
    kind = "of" if isinstance(term, tree.Aggregate) else ""
    new = tree.Variable(f"#{kind}{next(_fresh)}")
    if isinstance(term, tree.Call) and term.functor == "range":
        term = replace(term, args=tuple(_flat(arg, equations, True) for arg in term.args))
    elif isinstance(term, tree.Call):
        term = _flat(term, equations, True)
    if not isinstance(term, tree.Wildcard):
        equations.append(tree.Comparison("=", new, term))
    return new


class Unsafe(ValueError):
    """No order of the literals binds every variable before it is needed."""


class BodyPlan:
    """One body, given which variables are bound before it (`bound`) and which names the bodies
    around it have (`scope`).
    """

    def __init__(
        self,
        body: tree.Body,
        facts: Facts,
        users: Mapping[str, UserFold],
        bound: Names = NONE,
        scope: Names = NONE,
    ):
        self.facts, self.users, self.bound = facts, users, bound
        waiting = list(flatten(body.literals))
        self.scope = scope | direct(waiting)
        self.witnesses: dict[int, Names] = {}
        self.own: dict[int, Names] = {}
        self.steps: list[Step] = []
        while waiting:
            literal, step, names = self._next(waiting)
            waiting.remove(literal)
            self.steps.append(step)
            self.bound |= names

    def solve(self, env: Env) -> list[Env]:
        """The distinct extensions of `env` that satisfy the body. Raises ArithmeticFailure if
        something in one of these has no value.
        """
        envs = self.attempt({name: value for name, value in env.items() if name is not FAILED})
        if any(FAILED in found for found in envs):
            raise ArithmeticFailure("arithmetic failed for an assignment that nothing else rejects")
        return envs

    def attempt(self, env: Env) -> list[Env]:
        """The same, with FAILED among the names of those in which something has no value."""
        envs = [env]
        for step in self.steps:
            envs = list(step(envs))
        return list(
            {
                tuple(sorted(found.items(), key=lambda item: item[0])): found for found in envs
            }.values()
        )

    def _next(self, waiting: list[tree.Literal]) -> tuple[tree.Literal, Step, Names]:
        """Arithmetic last, so that it is done only for what everything else admits."""
        for literal in sorted(waiting, key=_urgency):
            made = self._step(literal)
            if made is not None:
                return literal, *made
        if self.witnesses or not (self._find_own(waiting) or self._find_witnesses(waiting)):
            raise Unsafe(f"nothing binds the variables of {waiting}")
        return self._next(waiting)

    def _find_witnesses(self, waiting: list[tree.Literal]) -> bool:
        """Note the variables that only the braces of a `min` or `max` bind, where nothing else can
        be done: they are those of the assignments with the best value. Other aggregates have none.
        """
        equations = [each for each in waiting if isinstance(each, tree.Comparison)]
        bound = self._bound_by(equations)
        for literal in equations:
            if isinstance(literal.right, tree.Aggregate):
                own = direct(literal.right.body.literals)
                found = self.scope & mentioned(literal.right) - bound
                found &= own - mentioned(literal.right.args)
                if found and literal.right.function not in ("min", "max"):
                    return False
                self.witnesses[id(literal.right)] = found
        return any(self.witnesses.values())

    def _find_own(self, waiting: list[tree.Literal]) -> bool:
        """Note the variables of braces that only the aggregate's own result binds outside, where
        nothing else can be done: there they are others.
        """
        equations = [each for each in waiting if isinstance(each, tree.Comparison)]
        bound, before = self._bound_by(equations), len(self.own)
        for literal in equations:
            aggregate = literal.right
            if isinstance(aggregate, tree.Aggregate) and id(aggregate) not in self.own:
                without = self._bound_by([each for each in equations if each is not literal])
                found = self.scope & mentioned(aggregate) & direct(aggregate.body.literals)
                if found := found & bound - without:
                    self.own[id(aggregate)] = found
        return len(self.own) > before

    def _bound_by(self, equations: list[tree.Comparison]) -> Names:
        """The variables that are bound once the results of aggregates are."""
        bound = self.bound
        for _ in equations:
            for each in equations:
                given = each.operator == "=" and variables_of(each.right) <= bound
                if given or isinstance(each.right, tree.Aggregate):
                    bound |= variables_of(each.left)
        return bound

    def _step(self, literal: tree.Literal) -> tuple[Step, Names] | None:
        match literal:
            case tree.Truth(value=value):
                return (lambda envs: envs if value else []), NONE
            case tree.Atom(relation=relation, args=terms):
                known, facts = _columns_known(terms, self.bound), self.facts
                return (
                    lambda envs: _joined(facts.get(relation, set()), terms, known, envs)
                ), direct([literal])
            case tree.Negation(body=body):
                return self._negation(body)
            case tree.Disjunction():
                return self._disjunction(literal)
            case tree.Comparison(
                operator="=", left=tree.Variable(name=name), right=tree.Aggregate() as aggregate
            ):
                return self._aggregate(name, aggregate)
            case tree.Comparison(
                operator="=",
                left=tree.Variable(name=name),
                right=tree.Call(functor="range", args=args),
            ):
                step = partial(_numbers, name, args)
                return (
                    (_for_each(step), frozenset({name}))
                    if variables_of(literal.right) <= self.bound
                    else None
                )
            case tree.Comparison():
                return self._comparison(literal)
        return None

    def _inner(self, body: tree.Body, own: Names = NONE) -> BodyPlan | None:
        """The plan of a nested body; None while variables that it shares with the bodies around it
        are unbound. It shares none of `own`.
        """
        bound, scope = self.bound - own, self.scope - own
        return (
            BodyPlan(body, self.facts, self.users, bound, scope)
            if scope & mentioned(body) <= bound
            else None
        )

    def _negation(self, body: tree.Body) -> tuple[Step, Names] | None:
        inner = self._inner(body)
        return inner and ((lambda envs: [env for env in envs if not inner.solve(env)]), NONE)

    def _aggregate(self, name: str, aggregate: tree.Aggregate) -> tuple[Step, Names] | None:
        equations: list[tree.Comparison] = []
        flat = tuple([_flat(arg, equations, True) for arg in aggregate.args])
        own = direct(aggregate.body.literals) & mentioned(
            flat
        )  # what is aggregated has nothing to do with the same names outside
        witnesses = self.witnesses.get(id(aggregate), NONE)
        own |= witnesses | self.own.get(id(aggregate), NONE)
        inner = self._inner(tree.Body((*aggregate.body.literals, *equations)), own)
        if inner is None:
            return None
        users = self.users

        def step(env: Env) -> list[Env]:
            outer = {known: value for known, value in env.items() if known not in own}
            solved = inner.solve(outer)
            rows = [tuple(value_of(target, found) for target in flat) for found in solved]
            result = held(fold(aggregate.function, rows, users), kind_of(aggregate))
            if result is NOTHING or (name in env and (result is None or env[name] != result)):
                return []
            if result is None and witnesses:
                return []
            best = [found for found, row in zip(solved, rows, strict=True) if row == (result,)]
            given = [{each: found[each] for each in witnesses} for found in best or [{}]]
            return [
                {**env, **each, name: result}
                for each in (given if witnesses else [{}])
                if all(env.get(known, value) == value for known, value in each.items())
            ]

        return _for_each(step), frozenset({name}) | witnesses

    def _disjunction(self, literal: tree.Disjunction) -> tuple[Step, Names] | None:
        try:
            branches = [
                BodyPlan(branch, self.facts, self.users, self.bound, self.scope)
                for branch in literal.branches
            ]
        except Unsafe:
            return None
        kept = reduce(frozenset.__and__, (branch.bound for branch in branches))
        if not self.scope & mentioned(literal) <= kept:
            return None

        def step(env: Env) -> list[Env]:
            found = [
                {name: each[name] for name in kept | ({FAILED} & each.keys())}
                for branch in branches
                for each in branch.attempt(env)
            ]
            return [dict(items) for items in {frozenset(each.items()) for each in found}]

        return _for_each(step), kept

    def _comparison(self, literal: tree.Comparison) -> tuple[Step, Names] | None:
        left, right, test = literal.left, literal.right, partial(compared, literal.operator)
        if literal.operator == "=" and carries(left):
            test = partial(_alike, test)
        if (unbound := (variables_of(left) | variables_of(right)) - self.bound) == NONE:
            return _for_each(
                lambda env: _kept_if(lambda: test(value_of(left, env), value_of(right, env)), env)
            ), NONE
        if literal.operator == "is_null" and isinstance(left, tree.Variable):
            return _for_each(lambda env: [{**env, left.name: None}]), frozenset({left.name})
        if literal.operator != "=":
            return None
        for target, source in ((left, right), (right, left)):
            if (
                isinstance(target, tree.Variable)
                and target.name in unbound
                and variables_of(source) <= self.bound
            ):
                return _for_each(
                    lambda env, name=target.name, source=source: _bound(env, name, source)
                ), frozenset({target.name})
        return None


def _for_each(step: Callable[[Env], Iterable[Env]]) -> Step:
    """A step for many assignments from one for a single assignment."""
    return lambda envs: [after for before in envs for after in step(before)]


def _kept_if(test: Callable[[], bool], env: Env) -> list[Env]:
    """The assignment if it passes the test; what cannot be tested passes, marked as failed."""
    try:
        return [env] if test() else []
    except ArithmeticFailure:
        return [{**env, FAILED: True}]


def _bound(env: Env, name: str, source: tree.Term) -> list[Env]:
    try:
        value = value_of(source, env)
    except ArithmeticFailure:
        return [{**env, name: FAILED, FAILED: True}]
    if value is None and not (carries(tree.Variable(name)) or _gives(source)):
        return []
    return [{**env, name: value}]


def carries(term: tree.Term) -> bool:
    """Recognise a variable that stands for a term of the rule, NULL or not."""
    return isinstance(term, tree.Variable) and _CARRIES.match(term.name) is not None


def _gives(term: tree.Term) -> bool:
    """Recognise the result of an aggregate, which a variable that nothing else binds has."""
    return isinstance(term, tree.Variable) and _GIVES.match(term.name) is not None


def _alike(test: Callable[[Value, Value], bool], left: Value, right: Value) -> bool:
    return (left is None and right is None) or test(left, right)


_CARRIES = re.compile("#head|if_[0-9]+$")
"""Names that stand for a term of the rule, which may be NULL, and for no side of its equations."""
_GIVES = re.compile("#of")
"""Names of the results of aggregates."""


def _numbers(name: str, args: tuple[tree.Term, ...], env: Env) -> list[Env]:
    """One assignment for each number of a range."""
    try:
        given = [value_of(arg, env) for arg in args]
        found = [] if None in given else numbers(*given)
    except ArithmeticFailure:
        return [{**env, name: FAILED, FAILED: True}]
    return [{**env, name: number} for number in found if env.get(name, number) == number]


def _urgency(literal: tree.Literal) -> int:
    match literal:
        case tree.Comparison(operator="is_null"):
            return 5
        case tree.Disjunction() if _binds_null(literal):
            return 2
        case tree.Comparison(left=left, right=right):
            return (
                5
                if isinstance(left, tree.Call) or isinstance(right, tree.Call)
                else 0
                if not isinstance(right, tree.Aggregate)
                else 4
            )
        case tree.Atom():
            return 1
        case tree.Disjunction():
            return 3
        case tree.Negation():
            return 4
    return 0


def _binds_null(literal: tree.Disjunction) -> bool:
    """Recognise a disjunction in which a variable may be NULL by `is_null` alone."""
    each = [inner for branch in literal.branches for inner in branch.literals]
    return any(isinstance(one, tree.Comparison) and one.operator == "is_null" for one in each)


def _columns_known(terms: tuple[tree.Term, ...], bound: Names) -> tuple[int, ...]:
    """The columns of an atom whose values are known before a row is looked at."""
    return tuple(
        column
        for column, term in enumerate(terms)
        if isinstance(term, tree.Constant)
        or (isinstance(term, tree.Variable) and term.name in bound)
    )


def _known_value(term: tree.Term, env: Env) -> Value:
    return env[term.name] if isinstance(term, tree.Variable) else value_of(term, env)


def _joined(
    rows: set[tuple[Value, ...]],
    terms: tuple[tree.Term, ...],
    known: tuple[int, ...],
    envs: list[Env],
) -> Iterator[Env]:
    """Each assignment with each row that it matches. Where there are several, a table by the known
    columns saves looking at every row for each.
    """
    if len(envs) < 3 or not known:
        for env in envs:
            yield from _matches(rows, terms, env)
        return
    by_key: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[column] for column in known), []).append(row)
    for env in envs:
        key = tuple(_known_value(terms[column], env) for column in known)
        yield from _matches(by_key.get(key, ()), terms, env)


def _matches(
    rows: Iterable[tuple[Value, ...]], terms: tuple[tree.Term, ...], env: Env
) -> Iterator[Env]:
    for row in rows:
        found = dict(env)
        for term, value in zip(terms, row, strict=True):
            if isinstance(term, tree.Variable) and term.name not in found:
                found[term.name] = value
            elif value is None or _known_value(term, found) != value:
                break  # NULL is equal to nothing
        else:
            yield found
