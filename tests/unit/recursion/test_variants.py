"""Variants of recursive rules: what each atom reads, and that no instantiation is found by two of
them.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import lftj
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.variants import variants
from lftj.program.normal_form import NormalRule
from lftj.program.program import Program
from lftj.syntax.parser import parse
from tests.unit.recursion.programs import views

CLOSURE = """
.decl e(x: int, y: int)
.decl t(x: int, y: int)
.decl u(x: int, y: int)
t(x, y) :- e(x, y).
"""


def read_by_variants(text: str) -> list[list[str]]:
    program, _ = Program().add(parse(CLOSURE + text))
    (stratum,) = (each for each in program.stratified.strata if each.recursive)
    schemas = {name: program.stratified.relations[name] for name in stratum.relations}
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    return [
        [atom.relation for atom in variant.rule.atoms]
        for rule in rules
        for variant in variants(rule, schemas)
    ]


def test_atoms_before_the_delta_read_older_rows_and_those_after_it_all():
    assert read_by_variants("t(x, w) :- t(x, y), e(y, v), t(v, z), t(z, w).") == [
        ["t#delta", "e", "t", "t"],
        ["t#older", "e", "t#delta", "t"],
        ["t#older", "e", "t#older", "t#delta"],
    ]
    mutual = read_by_variants("u(x, z) :- t(x, y), u(y, z). t(x, y) :- u(x, y).")
    assert sorted(mutual) == [["t#delta", "u"], ["t#older", "u#delta"], ["u#delta"]]


@pytest.mark.parametrize("length", [3, 20])
def test_no_instantiation_is_found_twice(length: int, monkeypatch: pytest.MonkeyPatch):
    candidates = 0
    add = RowSet.add

    def counting(self: RowSet, rows: np.ndarray, picks: np.ndarray) -> None:
        nonlocal candidates
        candidates += rows.shape[1]
        add(self, rows, picks)

    monkeypatch.setattr(RowSet, "add", counting)
    edges = [(i, i + 1) for i in range(length)]
    found = views(CLOSURE + "t(x, z) :- t(x, y), t(y, z).", {"e": edges})["t"]
    assert len(found) == length * (length + 1) // 2
    triples = (length + 1) * length * (length - 1) // 6
    assert candidates <= length + triples


def test_rounds_after_a_large_deletion_take_the_steps_of_rounds_over_what_is_left():
    """A commit's work on a key order is small beside the work that the order saves in the
    iterations of one evaluation.
    """
    rules = (
        "l(x, min(x)) :- e(x, _) ; e(_, x). l(y, min(c)) :- l(x, c), e(x, y). l(x, min(c)) :- "
        "l(y, c), e(x, y)."
    )
    by = random.Random(5)
    edges = list({(by.randrange(16_000), by.randrange(16_000)) for _ in range(20_000)})
    steps: list[int] = []
    for loaded, deleted in (edges, edges[:10_000]), (edges[10_000:], []):
        workspace = lftj.connect()
        workspace.add_rules(".decl e(x: number, y: number) .decl l(x: number, c: number)" + rules)
        workspace.load("e", loaded)
        if deleted:
            with workspace.transaction() as tx:
                tx.delete("e", deleted)
        steps.append(int(workspace.profile(last=1).query("relation == 'l'")["steps"].sum()))
    assert steps[0] < 1.3 * steps[1]
