"""Arithmetic that fails: an error exactly if some assignment that all the rest admits needs it, in
every order of the variables.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from lftj.errors import ValueRangeError
from lftj.program.normal_form import (
    Apply,
    Assignment,
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RuleVariable,
    Value,
)
from lftj.scantree import Arena
from lftj.types import INT
from tests.unit.join.evaluating import evaluate, surroundings
from tests.unit.join.random_rules import (
    ARITIES,
    COMPARE,
    HIGHEST,
    Row,
    Rows,
    computed,
    database,
    random_order,
)

Env = list[int | None]
X, Y, Z, V, W = map(Ref, range(5))
MORE = (
    PositiveAtom("e", (V, X)),
    PositiveAtom("g", (W,)),
    PositiveAtom("e", (W, V)),
    PositiveAtom("t", (X, Y, W)),
)
NOT = (
    NegatedAtom("e", (V, None)),
    NegatedAtom("g", (W,)),
    NegatedAtom("f", (W, X)),
    NegatedAtom("t", (V, None, W)),
)


def random_rule(by: random.Random) -> NormalRule:
    """e(x, y), f(y, z), v computed from one of these, w from v or one of these, and up to three
    further literals that read them.
    """
    atoms = [
        PositiveAtom("e", (X, Y)),
        PositiveAtom("f", (Y, Z)),
        *by.sample(MORE, by.choice((0, 0, 1, 1, 2))),
    ]
    assignments = [
        Assignment(3, computed(by, by.choice((X, Y, Z)))),
        Assignment(4, computed(by, by.choice((V, V, Y)))),
    ]
    sides = (X, Y, Z, V, W, Value(1, INT))
    filters = [
        Filter(by.choice(list(COMPARE)), by.choice((V, W)), by.choice(sides))
        for _ in range(by.choice((0, 1, 2)))
    ]
    names = tuple(RuleVariable(name, INT) for name in "xyzvw")
    return NormalRule(
        1,
        "r",
        (),
        names,
        tuple(atoms),
        tuple(by.sample(NOT, by.choice((0, 0, 1)))),
        tuple(assignments),
        tuple(filters),
    )


def value_of(expression: Expression, env: Env) -> int | None:
    if isinstance(expression, Value):
        return int(expression.value)  # type: ignore[call-overload]
    if isinstance(expression, Ref):
        return env[expression.variable]
    left, right = (value_of(argument, env) for argument in expression.args)
    if (
        left is None
        or right is None
        or (expression.operator == "%" and right == 0)
        or (expression.operator == "+" and left == HIGHEST)
    ):
        return None
    return {
        "%": lambda: left % abs(right),
        "+": lambda: left + right,
        "bxor": lambda: left ^ right,
    }[expression.operator]()


def by_brute_force(rule: NormalRule, rows: Rows) -> Counter[Row] | None:
    """The assignments that the whole body admits; None if something in one of them has no value."""
    found: Counter[Row] = Counter()
    for chosen in itertools.product(*(sorted(rows[atom.relation]) for atom in rule.atoms)):
        env = joined(rule, chosen)
        if env is None:
            continue
        checks = []
        for assignment in rule.assignments:
            value = value_of(assignment.expression, env)
            checks.append(value)
            if env[assignment.variable] is None:
                env[assignment.variable] = value
            elif value not in (None, env[assignment.variable]):
                break
        else:
            if admitted(rule, rows, env):
                if None in checks:
                    return None
                found[tuple(value or 0 for value in env)] += 1
    return found


def joined(rule: NormalRule, chosen: Sequence[Row]) -> Env | None:
    """Bindings by these rows of the atoms; None when they disagree."""
    env: Env = [None] * len(rule.variables)
    for atom, row in zip(rule.atoms, chosen, strict=True):
        for term, value in zip(atom.args, row, strict=True):
            if not isinstance(term, Ref) or env[term.variable] not in (None, value):
                return None
            env[term.variable] = value
    return env


def admitted(rule: NormalRule, rows: Rows, env: Env) -> bool:
    """Check that no comparison and no negated atom rejects the assignment; a literal that reads the
    unknown does not.
    """
    for condition in rule.filters:
        left, right = value_of(condition.left, env), value_of(condition.right, env)
        if left is not None and right is not None and not COMPARE[condition.operator](left, right):
            return False
    for atom in rule.negated:
        sought = [None if argument is None else value_of(argument, env) for argument in atom.args]
        known = all(
            value is not None
            for value, argument in zip(sought, atom.args, strict=True)
            if argument is not None
        )
        if known and any(
            all(s in (None, v) for s, v in zip(sought, row, strict=True))
            for row in rows[atom.relation]
        ):
            return False
    return True


def test_a_failure_counts_exactly_if_everything_else_admits_it():
    by = random.Random(9)
    outcomes: Counter[bool] = Counter()
    for _ in range(300):
        rule = random_rule(by)
        domain = by.sample((0, 1, 2, 3, 5, HIGHEST), 4)
        rows: Rows = {
            name: {tuple(by.choice(domain) for _ in range(arity)) for _ in range(6)}
            for name, arity in ARITIES.items()
        }
        expected = by_brute_force(rule, rows)
        outcomes[expected is None] += 1
        arena = Arena()
        relations = database(rows, arena)
        for count in (True, False):
            context = surroundings(arena, orders={1: random_order(by, rule)})
            needed = tuple(by.sample(range(5), by.randrange(6)))
            if expected is None:
                with pytest.raises(ValueRangeError):
                    evaluate(rule, relations, context, needed=needed, count=count)
                continue
            columns, counts = evaluate(rule, relations, context, needed=needed, count=count)
            found: Counter[Row] = Counter()
            for row, proofs in zip(
                zip(*columns, strict=True) if needed else [()] * len(counts),
                counts.tolist(),
                strict=True,
            ):
                found[tuple(map(int, row))] += proofs
            wanted = Counter[Row]()
            for row, proofs in expected.items():
                wanted[tuple(row[variable] for variable in needed)] += proofs
            assert found.keys() == wanted.keys()
            assert not count or found == wanted
    assert min(outcomes.values()) > 50


def test_a_short_circuit_does_not_hide_a_failure():
    rows: Rows = {**{name: set() for name in ARITIES}, "g": {(1,)}, "e": {(1, 1), (1, HIGHEST)}}
    assignments = (Assignment(2, Apply("+", (Y, Value(1, INT)), INT)),)
    names = tuple(RuleVariable(name, INT) for name in "xyz")
    rule = NormalRule(
        1,
        "r",
        (),
        names,
        (PositiveAtom("g", (X,)), PositiveAtom("e", (X, Y))),
        assignments=assignments,
    )
    arena = Arena()
    with pytest.raises(ValueRangeError, match=r"x = 1, y = 9223372036854775807\n"):
        evaluate(rule, database(rows, arena), surroundings(arena), needed=(0,), count=False)


def test_the_search_for_failures_counts_one_proof():
    rows: Rows = {**{name: set() for name in ARITIES}, "e": {(1, 1), (1, 2)}}
    assignments = (Assignment(2, Apply("+", (Y, Value(1, INT)), INT)),)
    names = tuple(RuleVariable(name, INT) for name in "xyz")
    rule = NormalRule(1, "r", (), names, (PositiveAtom("e", (X, Y)),), assignments=assignments)
    arena = Arena()
    (found,), counts = evaluate(
        rule, database(rows, arena), surroundings(arena), needed=(0,), count=False
    )
    assert (found.tolist(), counts.tolist()) == ([1], [1])


@pytest.mark.parametrize("order", [("v", "x", "y"), ("_", "x", "y", "v")])
def test_an_order_that_cannot_be_is_refused(order: tuple[str, ...]):
    names = tuple(RuleVariable(name, INT) for name in ("x", "y", "v", "_", "_"))
    atoms = (PositiveAtom("e", (X, Y)), PositiveAtom("t", (X, Ref(3), Ref(4))))
    rule = NormalRule(
        1, "r", (), names, atoms, assignments=(Assignment(2, Apply("bxor", (X, Y), INT)),)
    )
    arena = Arena()
    with pytest.raises(ValueError, match="order"):
        evaluate(
            rule,
            database({name: set() for name in ARITIES}, arena),
            surroundings(arena, orders={1: order}),
        )
