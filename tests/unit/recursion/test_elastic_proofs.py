"""Iterations and proof counts after every step of random histories beside their definition
[Elastic, Theorem 3.5].
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from tests.unit.recursion.proofs import Input, Row, Rule, counted
from tests.unit.recursion.stratum import check, counted_at_once, rows_of, states

pytestmark = pytest.mark.usefixtures("unsearched")

T, P, Q, E, B, F, U, G, H = (lambda *args, name=name: (name, args) for name in "tpqebfugh")
BASE = T("x", "y"), (E("x", "y"),)

PROGRAMS: dict[str, list[Rule]] = {
    "closure": [Rule(*BASE), Rule(T("x", "z"), (T("x", "y"), E("y", "z")))],
    "mirrored closure": [Rule(*BASE), Rule(T("x", "z"), (E("x", "y"), T("y", "z")))],
    "steps of several instantiations": [
        Rule(T("x", "y"), (H("x", "w", "y"),)),
        Rule(T("x", "z"), (T("x", "y"), H("y", "w", "z"))),
        Rule(T("x", "z"), (T("x", "y"), E("z", "y"), E("y", "z"))),
    ],
    "non-linear": [Rule(*BASE), Rule(T("x", "z"), (T("x", "y"), T("y", "z")))],
    "base and derived": [
        Rule(T("x", "z"), (T("x", "y"), T("y", "z"))),
        Rule(T("x", "y"), (F("x", "y"),)),
    ],
    "negation": [Rule(*BASE), Rule(T("x", "z"), (T("x", "y"), E("y", "z")), (B("x", "z"),))],
    "negation, non-linear": [Rule(T("x", "z"), (T("x", "y"), T("y", "z")), (B("y", "y"),))],
    "negation of a projection": [
        Rule(*BASE),
        Rule(T("x", "z"), (T("x", "y"), T("y", "z")), (B("x", "_"), F("_", "_"))),
    ],
    "mutual": [
        Rule(P("x", "z"), (P("x", "y"), P("y", "z"))),
        Rule(Q("x", "z"), (P("x", "y"), Q("y", "z")), (B("x", "z"),)),
        Rule(P("x", "z"), (Q("x", "y"), E("y", "z"))),
    ],
    "three of one": [Rule(*BASE), Rule(T("x", "w"), (T("x", "y"), T("y", "z"), T("z", "w")))],
    "repeated variables": [
        Rule(*BASE),
        Rule(T("x", "x"), (T("x", "y"), T("y", "x"))),
        Rule(T("y", "x"), (T("x", "x"), E("x", "y"))),
    ],
    "constants": [
        Rule(*BASE),
        Rule(T(0, "z"), (T("x", 1), T("x", "z"))),
        Rule(T("x", 2), (T("x", 0), E(0, "x"))),
    ],
    "comparison": [
        Rule(*BASE),
        Rule(T("x", "z"), (T("x", "y"), T("y", "z")), (), lambda b: b["x"] != b["z"]),
    ],
    "arithmetic": [
        Rule(*BASE),
        Rule(
            T("w", "z"),
            (T("x", "y"), T("y", "z")),
            (),
            lambda b: b.setdefault("w", (b["x"] + b["z"]) % 5) >= 0,
        ),
    ],
    "unary": [Rule(U("x"), (G("x"),)), Rule(U("y"), (U("x"), E("x", "y")))],
    "nullary": [
        Rule(("n", ()), (U("x"), E("x", "x"))),
        Rule(U("y"), (("n", ()), G("y"))),
        Rule(U("y"), (U("x"), E("x", "y"), ("n", ()))),
    ],
    "projection": [
        Rule(U("x"), (G("x"),)),
        Rule(U("x"), (T("x", "y"), U("y"))),
        Rule(T("x", "y"), (E("x", "y"), U("y"))),
        Rule(*BASE),
    ],
    # The running example of Elastic, whose multisets follow here from their definition.
    "points-to": [
        Rule(("vpt", ("v", "h")), (("new", ("v", "h")),)),
        Rule(("vpt", ("v", "h")), (("assign", ("v", "w")), ("vpt", ("w", "h")))),
        Rule(
            ("hpt", ("g", "f", "h")),
            (("store", ("b", "f", "w")), ("vpt", ("b", "g")), ("vpt", ("w", "h"))),
        ),
        Rule(
            ("vpt", ("v", "h")),
            (("load", ("v", "b", "f")), ("vpt", ("b", "g")), ("hpt", ("g", "f", "h"))),
        ),
    ],
    "same generation": [
        Rule(T("x", "x"), (G("x"),)),
        Rule(T("x", "y"), (E("p", "x"), T("p", "q"), E("q", "y"))),
    ],
}
CONDITIONS = {("comparison", 2): ["x != z"], ("arithmetic", 2): ["w = (x + z) % 5"]}
WIDTHS = {
    "t": 2,
    "p": 2,
    "q": 2,
    "e": 2,
    "b": 2,
    "f": 2,
    "u": 1,
    "g": 1,
    "n": 0,
    "h": 3,
    "vpt": 2,
    "hpt": 3,
    "new": 2,
    "assign": 2,
    "store": 3,
    "load": 3,
}


def text(rules: list[Rule], name: str) -> str:
    """The program as rule text; relations that are members and base at once take rows
    of their own.
    """
    lines = [
        f".decl {relation}({', '.join(f'c{i}: number' for i in range(width))})"
        for relation, width in WIDTHS.items()
    ]
    show = lambda atom: f"{atom[0]}({', '.join(map(str, atom[1]))})"  # noqa: E731
    for rule in rules:
        body = [show(atom) for atom in rule.atoms] + ["!" + show(atom) for atom in rule.negated]
        lines.append(
            f"{show(rule.head)} :- {', '.join([*body, *CONDITIONS.get((name, len(body)), [])])}."
        )
    return "\n".join(lines)


def fact(rnd: random.Random, relations: list[str], values: int) -> tuple[str, Row]:
    relation = rnd.choice(relations)
    return relation, tuple(rnd.randrange(values) for _ in range(WIDTHS[relation]))


def change(
    workspace: Any,
    facts: dict[str, set[Row]],
    gone: list[tuple[str, Row]],
    new: list[tuple[str, Row]],
) -> Any:
    """One commit of deletions and insertions, to the workspace and to the sets; the transaction,
    which is over.
    """
    with workspace.transaction() as transaction:
        for name, row in gone:
            transaction.delete(name, [row])
            facts[name].discard(row)
        for name, row in new:
            transaction.insert(name, [row])
            facts[name].add(row)
    return transaction


def expected(
    rules: list[Rule], members: set[str], facts: Input
) -> dict[str, dict[Row, tuple[int, int]]]:
    found = counted(rules, members, facts)
    return {
        name: rows if WIDTHS[name] else dict.fromkeys([(0,)] * len(rows), *rows.values())
        for name, rows in found.items()
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_what_its_definition_says_after_every_change(name: str, seed: int):
    tuning = lftj.Tuning(compiled_patience=0) if seed >= 2 else lftj.Tuning()
    rules = PROGRAMS[name]
    rnd = random.Random(f"{name} {seed}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace = lftj.connect(tuning=tuning)
    workspace.add_rules(text(rules, name))
    values = 3 if seed % 2 else 5
    change(workspace, facts, [], [fact(rnd, used, values) for _ in range(rnd.randrange(3, 12))])
    for _ in range(6):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.25]
        with counted_at_once():
            change(
                workspace,
                facts,
                gone,
                [fact(rnd, used, values) for _ in range(rnd.randrange(0, 4))],
            )
        for state in states(workspace):
            assert rows_of(state) == expected(rules, set(state.schemas), facts)
        check(workspace)
    assert states(workspace), "no state was ever counted"
    assert workspace.verify() == []
