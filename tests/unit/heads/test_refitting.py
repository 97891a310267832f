"""States turned into those of other heads over the same assignments: as if built from these, or the
word that they do not tell enough.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.refitting import refitted
from lftj.types import FLOAT, INT, STR
from tests.unit.heads.heads import CENTS, TYPES, Call, Head, Row, listed, shape_of

POOL: list[Call] = [
    ("count", [], INT),
    ("sum", [2], INT),
    ("mean", [2], FLOAT),
    ("sum", [3], FLOAT),
    ("mean", [3], FLOAT),
    ("mean", [4], FLOAT),
    ("sum", [4], CENTS),
    *(("stddev", [c], FLOAT) for c in (2, 3, 4)),
    *((name, [c], TYPES[c]) for c in (2, 3, 5) for name in ("min", "max")),
    ("median", [4], CENTS),
    *(("count_distinct", [c], INT) for c in (2, 5)),
    ("arg_min", [5, 2], STR),
    ("last", [2, 5, 6], INT),
    ("median", [2], FLOAT),
    ("concat", [5], STR),
    ("concat", [5, 6, 2], STR),
    ("path", [5, 2], STR),
    ("spread", [2], INT),
    ("rows", [], INT),
]
row = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["g", "h"]),
    st.integers(-2, 2),
    st.sampled_from([0.1, 1e16, -1e16, 1.0]),
    st.integers(-3, 3),
    st.sampled_from(["", "a", "b", "ab"]),
    st.sampled_from(["+", "-"]),
)
bags = st.dictionaries(row, st.integers(1, 2), max_size=8)
calls = st.lists(st.sampled_from(POOL), min_size=1, max_size=4)


def places(old: AggregateShape, new: AggregateShape) -> list[int | None]:
    return [
        old.needed.index(variable) if variable in old.needed else None for variable in new.needed
    ]


@settings(max_examples=150, deadline=None)
@given(calls, calls, st.sampled_from([[], [0], [1, 0]]), bags, bags)
def test_as_from_nothing_and_right_from_then_on(
    one: list[Call], other: list[Call], group: list[int], bag: dict[Row, int], more: dict[Row, int]
) -> None:
    old, new = shape_of(one, group), shape_of(other, group)
    head = Head(old, bag.items())
    head.step(list(more.items()))
    state = refitted(head.state, new, places(old, new))
    if state is None:
        assert not all(call in one for call in other)
        return
    head.shape, head.state = new, state
    head.rows = head.from_scratch()
    assert listed(state.rows()) == head.rows
    head.step([(row, -count) for row, count in Counter(more).items()])
    head.step([(row, 1) for row in more])
    head.step([(row, -count) for row, count in head.bag.items()])


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        (("min", [2], INT), ("sum", [2], INT)),
        (("min", [2], INT), ("spread", [2], INT)),
        (("max", [3], FLOAT), ("mean", [3], FLOAT)),
        (("max", [3], FLOAT), ("stddev", [3], FLOAT)),
        (("concat", [5, 6, 2], STR), ("min", [2], INT)),
        (("concat", [5, 6, 2], STR), ("path", [5, 2], STR)),
        (("sum", [2], INT), ("mean", [2], FLOAT)),
        (("mean", [4], FLOAT), ("sum", [4], CENTS)),
    ],
)
def test_what_is_kept_tells(kept: Call, asked: Call) -> None:
    old, new = shape_of([kept], [0]), shape_of([kept, asked], [0])
    rows: list[Any] = [
        ((g, "", n, n / 3, n, f"t{n % 4}", "+"), 1 + n % 2) for n in range(40) for g in (0, 1)
    ]
    head = Head(old, rows)
    state = refitted(head.state, new, places(old, new))
    assert state is not None
    assert listed(state.rows()) == Head(new, rows).rows
    trees = [
        {each.rows.tree.root for each in kept.kept if isinstance(each, OrderedRows)}
        for kept in (head.state, state)
    ]
    assert trees[0] <= trees[1]


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        (("sum", [2], INT), ("stddev", [2], FLOAT)),
        (("sum", [2], INT), ("min", [2], INT)),
        (("min", [2], INT), ("min", [5], STR)),
    ],
)
def test_what_is_kept_does_not_tell(kept: Call, asked: Call) -> None:
    old, new = shape_of([kept], [0]), shape_of([kept, asked], [0])
    head = Head(old, [((0, "", 1, 1.0, 1, "a", "+"), 1)])
    assert refitted(head.state, new, places(old, new)) is None


def test_of_nothing_everything_is_known() -> None:
    old, new = shape_of([("count", [], INT)], [0]), shape_of([("min", [5], STR)], [0])
    state = refitted(Head(old).state, new, places(old, new))
    assert state is not None
    assert len(state) == 0
