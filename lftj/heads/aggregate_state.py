"""State of an aggregated head, kept as its rows of assignments; groups are computed anew at each change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftj.heads.aggregate import AggregateCall, aggregate
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref
from lftj.storage.delta import Delta
from scantree import Tree
from scantree.rows import difference, sort_and_count, sort_rows


@dataclass
class AggregateShape:
    rule: NormalRule
    needed: tuple

    @staticmethod
    def of(rule):
        g = [t.variable for t in rule.head if isinstance(t, Ref)]
        a = [x.variable for t in rule.head if isinstance(t, AggregateTerm) for x in t.args]
        return AggregateShape(rule, tuple(dict.fromkeys([*g, *a])))

    def result(self, columns, counts, dictionary, user):
        rule = self.rule
        needed = self.needed
        group = [t.variable for t in rule.head if isinstance(t, Ref)]
        terms = [t for t in rule.head if isinstance(t, AggregateTerm)]
        place = {v: columns[i] for i, v in enumerate(needed)}
        types = [v.type for v in rule.variables]
        calls = [AggregateCall(t.function, [place[a.variable] for a in t.args], [types[a.variable] for a in t.args], t.type) for t in terms]
        groups, results = aggregate([place[v] for v in group], calls, counts, dictionary, user, group_types=[types[v] for v in group])
        gi, ri = iter(groups), iter(results)
        return sort_rows([next(ri) if isinstance(t, AggregateTerm) else next(gi) for t in rule.head])


class AggregateState:
    def __init__(self, shape, tree):
        self.shape = shape
        self.tree = tree

    @staticmethod
    def build(arena, shape, columns, counts, dictionary, user):
        w = len(shape.needed)
        cols, counts = sort_and_count(columns or [np.zeros(len(counts), np.int64)], counts)
        tree = Tree.build(arena, cols, [counts]) if len(counts) else Tree.empty(arena, len(cols), 1)
        return AggregateState(shape, tree), shape.result(cols if w else [], counts, dictionary, user)

    def rows(self, d, u):
        *cols, counts = self.tree.columns()
        return self.shape.result(cols if self.shape.needed else [], counts, d, u)

    def update(self, columns, signed, d, u):
        rows, change = sort_and_count(columns or [np.zeros(len(signed), np.int64)], signed)
        _, (had,) = self.tree.lookup(rows)
        after = had + change
        up = after > 0
        gone = after == 0
        t = self.tree.apply([*(c[up] for c in rows), after[up]], [c[gone] for c in rows])
        new = AggregateState(self.shape, t)
        a = self.rows(d, u)
        b = new.rows(d, u)
        return new, Delta(difference(b, a), difference(a, b))

    @property
    def memory(self):
        return {"a": len(self.tree) * 8}
