"""Every history of up to four single-row commits over three values, for every construct of a body
and every head, step by step.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import EXACT, Granularity, hull, projected
from lftj.syntax.parser import parse
from tests.oracle.maintained import strategies
from tests.oracle.model import difference
from tests.oracle.toggles import State, Toggle, Walk, renamings
from tests.reference import evaluate
from tests.strategies.schemas import Row

BASES = ".decl e(x: number, y: number)  .decl n(x: number)  .decl m(x: number)\n"
VALUES = (0, 1, 2)
EDGES: list[Toggle] = [("e", (x, y)) for x in VALUES for y in VALUES]
NODES: list[Toggle] = [("n", (x,)) for x in VALUES]
MARKS: list[Toggle] = [("m", (x,)) for x in VALUES]

# Bodies that only ask whether values are equal, over edges alone,
EDGES_ALONE = """
.decl triangle(x: number, y: number, z: number)   triangle(x, y, z) :- e(x, y), e(y, z), e(x, z).
.decl two_steps(x: number, z: number)             two_steps(x, z) :- e(x, y), e(y, z).
.decl loop(x: number)                             loop(x) :- e(x, x).
.decl ends(x: number, z: number)                  ends(x, z) :- e(x, _), e(_, z).
.decl no_way_back(x: number, y: number)           no_way_back(x, y) :- e(x, y), !e(y, x).
.decl empty()                                     empty() :- !e(_, _).
.decl head(x: number)  .decl tail(x: number)      head(x), tail(y) :- e(x, y), x != y.
.decl degree(x: number, k: number)                degree(x, count()) :- e(x, _).
.decl after(x: number, k: number)
    after(x, k) :- two_steps(x, z), !loop(z), degree(z, k).
"""
# and over edges and nodes.
EDGES_AND_NODES = """
.decl sink(x: number)                             sink(x) :- n(x), !e(x, _).
.decl closed(x: number)                           closed(x) :- n(x), !(e(x, y), !n(y)).
.decl either(x: number)                           either(x) :- e(x, y), (n(y) ; e(y, x)).
.decl of_few(x: number)
    of_few(x) :- e(x, y), (n(y) ; y = 2), (x = 0 ; x = 2 ; x = 5 ; x = 6).
.decl named(x: number)                            named(x) :- e(x, _).  named(x) :- n(x).
.decl partners(x: number, k: number)
    partners(x, k) :- n(x), k = count : { e(x, y), n(y) }.
.decl between(x: number, y: number)               between(x, y) :- n(x), e(x, y), n(y).
"""
# Bodies and heads that compute with values.
COMPUTING = """
.decl up(x: number, y: number)                    up(x, y) :- n(x), m(y), x < y.
.decl next(x: number)                             next(y) :- n(x), y = x + 1, m(y).
.decl sums(s: number)                             sums(x + y) :- n(x), m(y).
.decl from_one(y: number)                         from_one(y) :- n(1), m(y), !m(2).
.decl half(x: number)                             half(4 / y) :- m(y), y != 0.
.decl total(x: number, s: number)                 total(x, sum(x * y)) :- n(x), m(y).
.decl extremes(a: number, b: number)              extremes(min(x - y), max(x - y)) :- n(x), m(y).
.decl middle(m: float)                            middle(mean(y)) :- m(y), !n(y).
.decl listed(s: symbol)                           listed(concat(to_string(y), ",", y)) :- m(y).
.decl text(s: symbol)                             text(cat(to_string(x), "!")) :- n(x).
.decl most(x: number)                             most(x) :- n(x), x = max y : { m(y) }.
.decl label[x: number]: number                    label[x] = s :- total(x, s), m(x).
"""


class Judge:
    """Holds a workspace with these rules to the reference, which evaluates each state once."""

    def __init__(self, program: str, override: TraceOverride | None = None):
        self._clauses = parse(BASES + program).clauses
        self._views = [
            part.split("(")[0].split("[")[0].strip() for part in program.split(".decl ")[1:]
        ]
        self._expected = cache(self._evaluate)
        self.workspace: Any = lftj.connect()
        self.workspace._backend.trace_override = override
        self.workspace.add_rules(BASES + program)

    def _evaluate(self, state: State) -> dict[str, set[Row]]:
        found = evaluate(
            self._clauses,
            {
                name: {row for relation, row in state if relation == name}
                for name in ("e", "n", "m")
            },
        )
        return {view: found[view] for view in self._views}

    def check(self, transaction: Any, before: State, after: State) -> None:
        """The change sets are the differences, and the views that changed hold the right rows."""
        old, new = self._expected(before), self._expected(after)
        changed = set(transaction.changes()) & set(self._views)
        assert changed == {view for view in self._views if old[view] != new[view]}, sorted(after)
        for view in changed:
            change = {(tuple(row[:-2]), row[-2]) for row in transaction.changes(view).fetchall()}
            assert change == difference(old[view], new[view]), (view, sorted(after))
            assert set(self.workspace[view].fetchall()) == new[view], (view, sorted(after))

    def walk(self, toggles: list[Toggle], length: int, alike: list[dict[int, int]]) -> int:
        """Walk all histories of `length` single-row commits; the number of commits."""
        walk = Walk(self.workspace, toggles, self.check, alike)
        walk.all(length)
        assert set().union(*strategies(self.workspace).values()) == {"update"}
        return walk.commits


def up_to_renaming(toggles: int, kept_by_a_swap: int, length: int) -> int:
    """Number of histories up to renaming three values, by Burnside's lemma: of six renamings three
    are swaps, two keep nothing.
    """
    return sum((toggles**steps + 3 * kept_by_a_swap**steps) // 6 for steps in range(1, length + 1))


def test_oracle_every_history_of_edges():
    assert Judge(EDGES_ALONE).walk(EDGES, 4, renamings(VALUES)) == up_to_renaming(9, 1, 4)


def test_oracle_every_history_of_edges_and_nodes():
    assert Judge(EDGES_AND_NODES).walk(EDGES + NODES, 4, renamings(VALUES)) == up_to_renaming(
        12, 2, 4
    )


def test_oracle_every_history_of_computing_bodies():
    assert Judge(COMPUTING).walk(NODES + MARKS, 4, []) == sum(6**steps for steps in range(1, 5))


@pytest.mark.parametrize("granularity", [EXACT, hull(), projected(0)], ids=str)
@pytest.mark.parametrize("first_proof", [False, True])
def test_oracle_every_history_by_trace(granularity: Granularity, first_proof: bool):
    override = TraceOverride(lambda position: granularity, first_proof)
    assert Judge(EDGES_ALONE, override).walk(EDGES, 3, renamings(VALUES)) == up_to_renaming(9, 1, 3)
    assert Judge(EDGES_AND_NODES, override).walk(
        EDGES + NODES, 2, renamings(VALUES)
    ) == up_to_renaming(12, 2, 2)
    assert Judge(COMPUTING, override).walk(NODES + MARKS, 2, []) == 6 + 6**2
