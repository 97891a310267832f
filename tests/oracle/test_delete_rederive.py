"""Two independent ways to maintain recursive views side by side: ours, which counts proofs, and
delete and re-derive, which does not.
"""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.reference.rederivation import Rederivation
from tests.unit.recursion.proofs import Row
from tests.unit.recursion.test_elastic_proofs import PROGRAMS, WIDTHS, change, fact, text

RING = (
    ".decl e(x: number, y: number)\n.decl s(x: number)\n.decl r(x: number)\nr(x) :- s(x). r(y) "
    ":- r(x), e(x, y)."
)


def test_rederivation_lets_go_of_a_cycle_that_lost_its_way_in():
    peer = Rederivation(RING)
    ring: set[Row] = {(x, (x + 1) % 9) for x in range(9)}
    peer.change({}, {"e": {*ring}, "s": {(0,)}})
    assert peer.rows["r"] == {(x,) for x in range(9)}
    peer.change({"s": {(0,)}}, {})
    assert peer.rows["r"] == set()


def test_rederivation_finds_the_other_way_round_a_cut_cycle():
    peer = Rederivation(RING)
    peer.change({}, {"e": {(0, 1), (1, 2), (2, 1), (0, 2)}, "s": {(0,)}})
    peer.change({"e": {(0, 1)}}, {})
    assert peer.rows["r"] == {(0,), (1,), (2,)}
    peer.change({"e": {(0, 2)}}, {"s": {(2,)}})
    assert peer.rows["r"] == {(0,), (1,), (2,)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_agree_after_every_change(name: str):
    rules = PROGRAMS[name]
    rnd = random.Random(f"rederivation {name}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    program = text(rules, name)
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace, peer = lftj.connect(elastic=float("inf")), Rederivation(program)
    workspace.add_rules(program)
    for _ in range(10):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.25]
        new = [fact(rnd, used, 4) for _ in range(rnd.randrange(5))]
        change(workspace, facts, gone, new)
        peer.change(
            {relation: {row for other, row in gone if other == relation} for relation in WIDTHS},
            {relation: {row for other, row in new if other == relation} for relation in WIDTHS},
        )
        assert {relation: set(workspace[relation].fetchall()) for relation in WIDTHS} == peer.rows
    assert peer.rows == evaluate(parse(program), facts)
