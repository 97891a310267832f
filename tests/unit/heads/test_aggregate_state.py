"""Kept states of aggregated heads against `aggregate` from scratch, after every step of random histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.dictionary import Dictionary
from lftj.heads.aggregate import aggregate
from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref, RuleVariable
from lftj.storage.delta import Columns, Delta
from lftj.types import FLOAT, INT, STR, Type, decimal, encode_scalar
from scantree import Arena

CENTS = decimal(12, 2)
PATH = UserAggregate("path", (), lambda s, k: (f"{s}{k}",), lambda a, b: a + b, finish="/".join)
SPREAD = UserAggregate("spread", (0, 0), lambda v: (1, v), lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda a: (-a[0], -a[1]), max)
ROWS = UserAggregate("rows", 0, lambda: 1, lambda a, b: a + b)
USER = {"path": PATH, "spread": SPREAD, "rows": ROWS}

# columns: two for groups, an int, a float, cents, two texts
TYPES: list[Type] = [INT, STR, INT, FLOAT, CENTS, STR, STR]
CALLS: dict[str, list[tuple[str, list[int], Type]]] = {
    "count": [("count", [], INT)],
    "sums": [("sum", [2], INT), ("mean", [2], FLOAT), ("sum", [4], CENTS), ("mean", [4], FLOAT), ("count", [], INT)],
    "means": [("mean", [4], FLOAT), ("mean", [2], FLOAT)],
    "floats": [("mean", [3], FLOAT), ("sum", [3], FLOAT)],
    "extremes": [(name, [c], TYPES[c]) for c in (2, 3, 5) for name in ("min", "max")],
    "concat": [("concat", [5], STR), ("concat", [5, 6], STR)],
    "levels": [("concat", [5, 6, 2], STR), ("min", [2], INT), ("max", [2], INT), ("concat", [6, 5, 5, 3], STR), ("min", [5], STR)],
    "users": [("path", [5, 2], STR), ("spread", [2], INT), ("rows", [], INT)],
    "mixed": [("max", [5], STR), ("sum", [3], FLOAT), ("count", [], INT), ("min", [5], STR), ("spread", [2], INT)],
}
Row = tuple[Any, ...]


class Head:
    """A shape, and the columns of all rows that it needs."""

    def __init__(self, calls: Sequence[tuple[str, list[int], Type]], group: Sequence[int], *, results_first: bool = False):
        variables = tuple(RuleVariable(f"v{i}", type) for i, type in enumerate(TYPES))
        terms = [AggregateTerm(name, tuple(map(Ref, args)), type) for name, args, type in calls]
        groups = [Ref(column) for column in group]
        head = (*terms, *groups) if results_first else (*groups, *terms)
        self.shape = AggregateShape.of(NormalRule(0, "v", head, variables, ()))

    def needed(self, columns: Sequence[np.ndarray]) -> Columns:
        return [columns[variable] for variable in self.shape.needed]

    def from_scratch(self, bag: Counter[Row], dictionary: Dictionary) -> list[Row]:
        """Head rows of codes, sorted, by `aggregate`."""
        columns, counts = encoded(bag.items(), dictionary)
        columns = self.needed(columns)
        calls = [call.over(columns) for call in self.shape.calls]
        types = [self.shape.types[i] for i in self.shape.group]
        group, results = aggregate([columns[i] for i in self.shape.group], calls, counts, dictionary, USER, group_types=types)
        distinct = [group[self.shape.group.index(i)] for i in range(self.shape.width)]
        return sorted(listed(self.shape.head_rows(distinct, results)))


def encoded(rows: Iterable[tuple[Row, int]], dictionary: Dictionary) -> tuple[Columns, np.ndarray]:
    rows = list(rows)
    columns = [np.array([encode_scalar(t, row[c], dictionary) for row, _ in rows], dtype=np.int64) for c, t in enumerate(TYPES)]
    return columns, np.array([count for _, count in rows], dtype=np.int64)


def listed(columns: Sequence[np.ndarray]) -> list[Row]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def check_delta(before: list[Row], delta: Delta, after: list[Row]) -> None:
    assert listed(delta.inserts) == sorted(set(after) - set(before))
    assert listed(delta.erases) == sorted(set(before) - set(after))


numbers = st.one_of(st.integers(-2, 2), st.sampled_from([-(2**58), 2**58]))
floats = st.sampled_from([0.0, 1.0, 1e16, -1e16, 0.1, -0.5, 5e-324, 1e300])
texts = st.sampled_from(["", "a", "b", "ab", "a\0", "é", "z", "\U0001f600", "\uffff"])
row = st.tuples(st.integers(0, 1), texts.map(lambda text: text[:1]), numbers, floats, st.integers(-3, 3), texts, texts)
step = st.lists(st.tuples(row, st.integers(-2, 3)), max_size=6)
groups = st.sampled_from([[], [0], [1], [0, 1], [1, 0, 1]])


def admissible(bag: Counter[Row], step: list[tuple[Row, int]]) -> list[tuple[Row, int]]:
    """The step, with counts cut so that no row is ever taken out more often than it is in."""
    left = Counter(bag)
    kept = []
    for row, signed in step:
        signed = max(signed, -left[row])
        left[row] += signed
        kept.append((row, signed))
    return kept


@settings(max_examples=200)
@given(
    st.sampled_from(sorted(CALLS)), groups, st.booleans(), step, st.lists(step, min_size=1, max_size=6), st.randoms(use_true_random=False)
)
def test_oracle_histories(name: str, group: list[int], results_first: bool, first: Any, steps: Any, random: Any) -> None:
    head, dictionary, arena = Head(CALLS[name], group, results_first=results_first), Dictionary(), Arena(1 << 30)
    bag: Counter[Row] = Counter()
    for row_, signed in first:
        bag[row_] += abs(signed)
    bag = +bag
    columns, counts = encoded(bag.items(), dictionary)
    state, rows = AggregateState.build(arena, head.shape, head.needed(columns), counts, dictionary, USER)
    seen = head.from_scratch(bag, dictionary)
    assert listed(rows) == seen
    versions = [(state, seen)]
    for change in steps:
        # None: everything goes
        change = [(row_, -count) for row_, count in bag.items()] if change is None else admissible(bag, change)
        for row_, signed in change:
            bag[row_] += signed
        bag = +bag
        columns, counts = encoded(change, dictionary)
        state, delta = state.update(head.needed(columns), counts)
        expected = head.from_scratch(bag, dictionary)
        assert listed(state.rows()) == expected
        check_delta(versions[-1][1], delta, expected)
        assert len(state) == len(expected)
        versions.append((state, expected))
    assert all(listed(version.rows()) == rows for version, rows in versions)
