"""Bodies with more atoms, variables and columns than an exhaustive search for an order takes: the
engine against DuckDB.
"""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.syntax import tree
from tests.reference.sql import answer
from tests.reference.trees import atom, compare, of_group, rule, without

WIDTH = 16
TYPES = {"e": ("int", "int"), "w": ("int",) * WIDTH}
X = [f"x{place}" for place in range(20)]


def facts() -> dict[str, set[tuple[int, ...]]]:
    """A sparse graph, and wide rows whose columns have few values."""
    by = random.Random(7)
    edges = {(by.randrange(30), by.randrange(30)) for _ in range(38)}
    wide = {tuple(by.randrange(3) for _ in range(WIDTH)) for _ in range(300)}
    return {"e": edges, "w": wide}


CHAIN = [atom("e", X[place], X[place + 1]) for place in range(14)]
STAR = [atom("e", X[0], X[place + 1]) for place in range(7)]
CYCLE = [*(atom("e", X[place], X[place + 1]) for place in range(9)), atom("e", X[9], X[0])]
CASES = {
    "chain": rule(atom("r", X[0], X[11]), *CHAIN[:11]),
    "chain of constants": rule(
        atom("r", X[7]), *CHAIN, compare(X[0], "=", 3), compare(X[14], ">", 9)
    ),
    "counted chain": rule(atom("r", X[0], of_group("count"), of_group("max", X[12])), *CHAIN[:12]),
    "star": rule(
        atom("r", X[0], of_group("count")),
        *STAR,
        compare(X[1], "<", X[2]),
        compare(X[2], "<", X[3]),
    ),
    "cycle": rule(atom("r", *X[:10]), *CYCLE),
    "negated chain": rule(
        atom("r", X[0], X[9]),
        *CHAIN[:9],
        without(atom("e", X[9], X[0])),
        without(atom("e", X[3], "_"), compare(X[3], ">", 20)),
    ),
    "wide": rule(atom("r", *X[:WIDTH]), atom("w", *X[:WIDTH]), compare(X[0], "<", X[15])),
    "wide with itself": rule(
        atom("r", X[0], X[1]), atom("w", *X[:WIDTH]), atom("w", *X[4:10], *X[:4], *X[10:16][::-1])
    ),
    "wide with wildcards": rule(
        atom("r", X[0], of_group("count")),
        atom("w", X[0], *["_"] * 14, X[1]),
        atom("e", X[1], X[0]),
    ),
    "wide under negation": rule(
        atom("r", X[0], X[1]), atom("e", X[0], X[1]), without(atom("w", *["_"] * 14, X[0], X[1]))
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_oracle_long_bodies(name: str):
    given = facts()
    made: tree.Rule = CASES[name]
    expected = answer(made, TYPES, given)
    assert expected or name == "wide with itself", "a case without rows proves little"
    workspace = lftj.connect()
    for relation, types in TYPES.items():
        workspace.relation(relation, {f"c{place}": type_ for place, type_ in enumerate(types)})
        workspace.load(relation, given[relation])
    workspace.view("r", {f"c{place}": int for place in range(len(made.heads[0].terms))})
    workspace.add_rule(made)
    assert set(workspace["r"].fetchall()) == expected
