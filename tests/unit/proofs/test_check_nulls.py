"""The checker takes NULL for equal to nothing: what holds of a value, and is said of NULL in its
place, is a proof where the naive engine derives the row from NULL, and there alone.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

import lftj
from lftj.proofs.program import evaluate
from lftj.syntax.parser import parse

VALUE = 77
"""The value that becomes NULL."""
DECLARATIONS = """
.decl r(x: number, y: number?) .decl s(y: number?) .decl t(y: number?, z: number?)
.decl p(x: number) .decl h(x: number?, y: number?)
"""
FACTS: dict[str, set[tuple[Any, ...]]] = {
    "r": {(1, VALUE), (2, 3)},
    "s": {(VALUE,), (4,)},
    "t": {(VALUE, VALUE), (VALUE, 1)},
    "p": {(1,), (9,)},
}
BODIES = {
    "r(x, y)": True,
    "r(x, y), s(z)": True,
    "r(x, y), s(y)": False,
    "t(x, y), x = y": False,
    "t(y, y), p(x)": False,
    "r(x, y), z = y": False,
    "r(x, y), y > 2": False,
    "r(x, y), y != 2": False,
    "r(x, y), !(y = 2)": True,
    "r(x, y), !t(x, y)": True,
    "r(x, y), s(y + 0)": False,
    "t(x, y), s(max(x, 1))": False,
    "(r(x, y) ; t(x, y))": True,
    "(r(x, y) ; t(y, x)), s(y)": False,
    "(r(x, y), s(y) ; t(y, x), x > 900)": False,
    "r(x, y), (s(y) ; t(y, x))": False,
    "(r(x, y) ; t(x, y), s(y)), !p(y)": None,
    "p(x), y = max z : { r(x, z) }": True,
    "p(x), y = sum z : { r(x, z) }, s(y)": False,
    "p(x), y = max z : { r(x, z) }, y = max q : { s(q), q > 5 }": False,
    "s(x), y = count : { t(x, z) }, y > 0": False,
    "p(x), y = count : { r(x, z), s(z) }, y > 0": False,
    "p(x), y = if(x > 0, max z : { r(x, z) }, 3)": None,
    "r(x, z), y = coalesce(z, 3)": None,
}
"""Bodies that hold of the value; whether they hold of NULL too, None where some rows do."""


def nulled(node: Any) -> Any:
    """The part of a proof with NULL in place of the value."""
    if node == VALUE and not isinstance(node, float):
        return None
    if isinstance(node, str):
        return re.sub(rf"\b{VALUE}\b", "NULL", node)
    if isinstance(node, tuple):
        parts = [nulled(each) for each in node]
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    if is_dataclass(node) and not isinstance(node, type):
        named = {each.name: nulled(getattr(node, each.name)) for each in fields(node)}
        return replace(node, **{name: part for name, part in named.items() if name != "program"})
    return node


@pytest.mark.parametrize("body", BODIES)
def test_a_value_that_becomes_null(body: str) -> None:
    text = f"{DECLARATIONS} h(x, y) :- {body}."
    workspace = lftj.connect()
    workspace.add_rules(text)
    for name, rows in FACTS.items():
        workspace.load(name, list(rows))
    facts = {name: {nulled(row) for row in rows} for name, rows in FACTS.items()}
    derived = evaluate(parse(text), {name: list(rows) for name, rows in facts.items()})["h"]
    checker, accepted = lftj.ProofChecker(text, facts), set[bool]()
    for row in workspace["h"].fetchall():
        proof = workspace.explain("h", row)
        lftj.check_proof(proof, FACTS, text)
        steps = tuple(replace(step, rule=rule) for step, rule in _with_rules(proof))
        wrong = replace(proof, steps=steps)
        try:
            checker.check(wrong)
            holds = True
        except lftj.ProofError:
            holds = False
        if VALUE in row or f"{VALUE}" in str(proof):
            accepted.add(holds)
        assert holds == (nulled(row) in derived), wrong
    assert accepted, "no proof is about the value"
    assert BODIES[body] is None or accepted == {BODIES[body]}


def _with_rules(proof: Any) -> list[tuple[Any, str | None]]:
    """The steps with NULL in them, and the rules as they were."""
    return [(nulled(step), step.rule) for step in proof.steps]
