"""The order in which relations of a stratum take turns, and what it saves."""

from __future__ import annotations

import lftj
from lftj.maintenance.semi_naive.fixpoint import Fixpoint

RING = """
.decl a(x: number)
.decl b(x: number)
.decl c(x: number)
b(x) :- a(x).
a(y) :- c(x), next(x, y).
c(x) :- b(x).
a(x) :- first(x).
"""
LENGTH = 20


def rounds_of(monkeypatch, program: str, length: int) -> tuple[list[list[str]], lftj.Workspace]:
    """Whose deltas were read, round by round, and the workspace afterwards."""
    seen: list[list[str]] = []
    original = Fixpoint.iterate

    def noted(self):
        seen.append([name for name, delta in self.deltas.items() if delta.count])
        original(self)

    monkeypatch.setattr(Fixpoint, "iterate", noted)
    ws = lftj.connect()
    ws.relation("next", {"x": int, "y": int})
    ws.relation("first", {"x": int})
    ws.load("next", [(i, i + 1) for i in range(length)])
    ws.load("first", [(0,)])
    ws.add_rules(program)
    return seen, ws


def test_each_relation_is_followed_by_its_readers(monkeypatch) -> None:
    rounds, ws = rounds_of(monkeypatch, RING, LENGTH)
    assert rounds[:4] == [["a"], ["b"], ["c"], ["a"]]
    assert all(len(ws[name]) == LENGTH + 1 for name in "abc")


def test_a_pass_does_what_took_as_many_rounds_as_there_are_relations(monkeypatch) -> None:
    """Two ways of different length from one row to the next: rounds over all deltas would read some
    relation's rows twice as often.
    """
    program = RING + "a(y) :- a(x), next(x, y)."
    rounds, _ = rounds_of(monkeypatch, program, LENGTH)
    assert len(rounds) <= 3 * (LENGTH + 1)
    assert all(len(names) == 1 for names in rounds)


def test_choice_keeps_rounds_over_all_relations(monkeypatch) -> None:
    program = (
        RING.replace(".decl c(x: number)", ".decl c(x: number) choice-domain x") + "c(x) :- a(x)."
    )
    rounds, ws = rounds_of(monkeypatch, program, LENGTH)
    assert ["b", "c"] in [sorted(names) for names in rounds]
    assert len(ws["c"]) == LENGTH + 1
