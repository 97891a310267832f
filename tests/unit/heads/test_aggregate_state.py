"""Kept states of aggregated heads against `aggregate` from scratch, after every step of random
histories.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.errors import LftjError, UserFunctionError
from lftj.heads import aggregate_state, text_order, user_totals
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.float_sum import FloatTotals
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.user import UserAggregate
from lftj.scantree import Arena
from lftj.types import FLOAT, INT, STR
from tests.unit.heads.heads import CENTS, TYPES, Call, Head, Row, listed, shape_of

CALLS: dict[str, list[Call]] = {
    "count": [("count", [], INT)],
    "sums": [
        ("sum", [2], INT),
        ("mean", [2], FLOAT),
        ("sum", [4], CENTS),
        ("mean", [4], FLOAT),
        ("count", [], INT),
    ],
    "means": [("mean", [4], FLOAT), ("mean", [2], FLOAT)],
    "floats": [("mean", [3], FLOAT), ("sum", [3], FLOAT)],
    "extremes": [(name, [c], TYPES[c]) for c in (2, 3, 5) for name in ("min", "max")],
    "concat": [("concat", [5], STR), ("concat", [5, 6], STR)],
    "levels": [
        ("concat", [5, 6, 2], STR),
        ("min", [2], INT),
        ("max", [2], INT),
        ("concat", [6, 5, 5, 3], STR),
        ("min", [5], STR),
    ],
    "deviations": [("stddev", [3], FLOAT), ("stddev", [2], FLOAT), ("count", [], INT)],
    "in order": [
        ("median", [2], FLOAT),
        ("count_distinct", [2], INT),
        ("arg_max", [5, 2], STR),
        ("first", [2, 5, 3], INT),
        ("last", [5, 5, 6], STR),
        ("count_distinct", [5], INT),
        ("median", [4], CENTS),
    ],
    "users": [("path", [5, 2], STR), ("spread", [2], INT), ("rows", [], INT)],
    "mixed": [
        ("max", [5], STR),
        ("sum", [3], FLOAT),
        ("count", [], INT),
        ("min", [5], STR),
        ("spread", [2], INT),
        ("count", [], INT),
    ],
}

numbers = st.one_of(st.integers(-2, 2), st.sampled_from([-(2**58), 2**58]))
floats = st.sampled_from([0.0, 1.0, 1e16, -1e16, 0.1, -0.5, 5e-324, 1e300])
texts = st.sampled_from(["", "a", "b", "ab", "a\0", "é", "z", "\U0001f600", "\uffff"])
row = st.tuples(
    st.integers(0, 1),
    texts.map(lambda text: text[:1]),
    numbers,
    floats,
    st.integers(-3, 3),
    texts,
    texts,
)
step = st.lists(st.tuples(row, st.integers(-2, 3)), max_size=6)
gaps = st.sets(st.integers(2, 6), max_size=3)
maybe = st.tuples(row, gaps, st.integers(-2, 3))
"""A row, the columns where it is NULL if they are optional, and how often it comes or goes."""
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


@settings(max_examples=4 * settings().max_examples)
@given(
    st.sampled_from(sorted(CALLS)),
    groups,
    st.booleans(),
    step,
    st.lists(step | st.none(), min_size=1, max_size=6),
)
def test_oracle_histories(
    name: str, group: list[int], results_first: bool, first: Any, steps: Any
) -> None:
    start = Counter({row: abs(signed) for row, signed in first})
    head = Head(shape_of(CALLS[name], group, results_first=results_first), (+start).items())
    versions = [(head.state, head.rows)]
    for change in steps:
        # None: everything goes
        head.step(
            [(row, -count) for row, count in head.bag.items()]
            if change is None
            else admissible(head.bag, change)
        )
        versions.append((head.state, head.rows))
    assert all(listed(version.rows()) == rows for version, rows in versions)


@settings(max_examples=4 * settings().max_examples)
@given(
    st.sampled_from(sorted(CALLS)),
    groups,
    st.sets(st.integers(2, 6)),
    st.lists(st.lists(maybe, max_size=6), min_size=1, max_size=6),
)
def test_oracle_histories_of_optional_columns_that_come_in_parts(
    name: str, group: list[int], optional: set[int], steps: Any
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(aggregate_state, "_MANY", 0)
        head = Head(shape_of(CALLS[name], group, optional=optional))
        for change in steps:
            rows = [
                (_with_gaps(row, missing & optional), signed) for row, missing, signed in change
            ]
            head.step(admissible(head.bag, rows))
        head.step([(row, -count) for row, count in head.bag.items()])


def _with_gaps(row: Row, missing: set[int]) -> Row:
    return tuple(None if column in missing else value for column, value in enumerate(row))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_groups_of_many_pages(name: str) -> None:
    random = np.random.default_rng(7)

    def some(count: int) -> list[tuple[Row, int]]:
        found = Counter[Row]()
        for a, b, c, d in random.integers(0, [3, 10**6, 1000, 5000], (count, 4)).tolist():
            found[min(a, 1), "", b, c / 7, c, f"t{d}", "+"] += 1
        return list(found.items())

    head = Head(shape_of(CALLS[name], [0]), some(4000))
    for size in (1, 1, 40, 700):
        head.step(some(size))
        gone = list(head.bag.items())[:: max(1, len(head.bag) // size)]
        head.step([(row, -count) for row, count in gone])
    for value in (
        min(head.bag),
        max(head.bag),
    ):  # by group first, so these are rows at both ends of the trees
        head.step([(value, -head.bag[value])])


@pytest.mark.parametrize("group", [[], [0], [1, 0]])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_many_rows_in_any_order_leave_the_state_of_each_row_once(
    name: str, group: list[int]
) -> None:
    """So many that they are sorted by groups alone, where no state wants more; then a second lot on
    top.
    """
    random = np.random.default_rng(5)
    drawn = random.integers(0, [3, 4, 10**6, 1000, 5000, 9], (3000, 6)).tolist()
    once = Head(
        shape_of(CALLS[name], group),
        [
            ((a, "xyzw"[b], c, d / 7, e, f"t{c}", ",;"[f > 7]), 1 + f % 3)
            for a, b, c, d, e, f in drawn
        ],
    )
    columns, counts = once.columns(once.bag.items())
    order = random.permutation(int(counts.sum()))
    repeated = [np.repeat(column, counts).take(order) for column in columns]
    ones, user = np.ones(len(order), np.int64), once.user
    found, rows = AggregateState.build(
        Arena(1 << 32), once.shape, repeated, ones, once.dictionary, user
    )
    assert len(order) > 4096 > len(counts)
    assert listed(rows) == once.rows
    twice, _ = found.update(repeated, ones)
    also, _ = once.state.update(columns, counts)
    for mine, expected in ((found, once.state), (twice, also)):
        assert listed(mine.groups.columns()) == listed(expected.groups.columns())
        assert mine.memory == expected.memory
        for kept, other in zip(mine.kept, expected.kept, strict=True):
            if isinstance(kept, OrderedRows) and isinstance(other, OrderedRows):
                assert listed(kept.rows.tree.columns()) == listed(other.rows.tree.columns())
            if isinstance(kept, FloatTotals) and isinstance(other, FloatTotals):
                assert listed(kept.words.columns()) == listed(other.words.columns())


def test_the_least_and_the_greatest_go_and_come_back() -> None:
    head = Head(
        shape_of(CALLS["extremes"], [0]),
        [((0, "", n, float(n), 0, f"{n:02}", ""), 1) for n in range(20)],
    )
    for n in (0, 19, 1, 18):
        row = (0, "", n, float(n), 0, f"{n:02}", "")
        assert len(head.step([(row, -1)])) == 2
        assert len(head.step([(row, 1)])) == 2
        head.step([(row, -1)])


def test_a_group_is_emptied_and_restored() -> None:
    head = Head(shape_of(CALLS["mixed"], [0]), [((g, "", 1, 0.1, 0, "a", ""), 2) for g in range(3)])
    rows = list(head.bag.items())
    before = head.rows
    head.step([(row, -count) for row, count in rows[1:2]])
    assert len(head.rows) == 2
    head.step(rows[1:2])
    assert head.rows == before
    delta = head.step([(rows[0][0], -2), (rows[0][0], 2)])
    assert len(delta) == 0


def test_labels_given_anew_in_the_middle_of_a_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_order, "_BEYOND", 2)
    monkeypatch.setattr(text_order, "_ALONG", 1)
    head = Head(shape_of(CALLS["levels"], [1]), [((0, "g", 1, 1.0, 0, "m", ","), 1)])
    random = np.random.default_rng(3)
    for i in range(40):
        head.step([((0, "gh"[i % 2], i % 5, i / 3, 0, f"{random.random()}", ","), 1)])
    assert head.state.order is not None
    assert head.state.order.epoch > 0


@pytest.mark.parametrize("name", ["levels", "mixed", "concat"])
def test_labels_of_texts_that_no_row_has_any_more_are_given_up(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_order, "_UNUSED", 8)
    texts = [f"{i * 37 % 101:03}" for i in range(101)]
    head = Head(
        shape_of(CALLS[name], [0]), [((i % 2, "", i, 0.5, 0, texts[i], ","), 1) for i in range(3)]
    )
    first, rows = head.state, head.rows
    for i in range(3, 101):
        head.step(
            [
                ((i % 2, "", i, 0.5, 0, texts[i], ","), 1),
                (((i - 3) % 2, "", i - 3, 0.5, 0, texts[i - 3], ","), -1),
            ]
        )
        assert head.state.order is not None
        assert head.state.order.memory <= 32 * (2 * 3 * 5 + 8 + 2)
    assert head.state.order.epoch > 1
    assert listed(first.rows()) == rows


def test_slots_of_the_past_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_totals, "_FEW_SLOTS", 4)
    head = Head(
        shape_of([("spread", [2], INT)], [0]), [((g, "", g, 0.0, 0, "", ""), 1) for g in range(5)]
    )
    first, rows = head.state, head.rows
    for i in range(50):
        head.step([((i % 7, "", i, 0.0, 0, "", ""), 1)])
    assert sum(head.state.memory.values()) < 1000
    assert listed(first.rows()) == rows


# ── errors ────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("calls", "row", "times"),
    [
        ([("count", [], INT), ("sum", [2], INT)], (7, "FR", 2**62, 0.0, 0, "", ""), 2),
        ([("sum", [2], INT)], (7, "FR", -(2**62), 0.0, 0, "", ""), 3),
        ([("sum", [4], CENTS)], (7, "FR", 0, 0.0, 10**10 - 1, "", ""), 2),
        ([("sum", [3], FLOAT)], (7, "FR", 0, 1.7e308, 0, "", ""), 2),
        ([("mean", [3], FLOAT)], (7, "FR", 0, 1.7e308, 0, "", ""), 2),
    ],
)
@pytest.mark.parametrize("group", [[], [1, 0], [0, 1, 0]])
def test_results_out_of_range_are_errors_as_in_full_evaluation(
    calls: list[Call], row: Row, times: int, group: list[int]
) -> None:
    head = Head(shape_of(calls, group), [(row, 1)])
    state = head.state
    columns, counts = head.columns([(row, times - 1), ((8, "DE", 1, 1.0, 1, "", ""), 1)])
    with pytest.raises(LftjError) as caught:
        state.update(columns, counts)
    head.bag.update({row: times - 1, (8, "DE", 1, 1.0, 1, "", ""): 1})
    with pytest.raises(LftjError) as expected:
        head.from_scratch()
    assert str(caught.value) == str(expected.value)
    assert listed(state.rows()) == head.rows
    if group:
        assert "FR" in str(caught.value)


def test_infinities_of_both_signs_have_no_sum_until_one_goes() -> None:
    inf = float("inf")
    head = Head(shape_of(CALLS["floats"], [0]), [((0, "", 0, inf, 0, "", ""), 1)])
    with pytest.raises(LftjError, match=r"sum|mean"):
        head.state.update(*head.columns([((0, "", 0, -inf, 0, "", ""), 1)]))
    head.step([((0, "", 0, -inf, 0, "", ""), 1), ((0, "", 0, inf, 0, "", ""), -1)])
    head.step([((0, "", 0, -inf, 0, "", ""), -1), ((0, "", 0, 0.5, 0, "", ""), 1)])


def test_no_more_can_go_than_came() -> None:
    head = Head(shape_of(CALLS["count"], []), [((0, "", 0, 0.0, 0, "", ""), 1)])
    with pytest.raises(AssertionError):
        head.state.update(*head.columns([((0, "", 0, 0.0, 0, "", ""), -2)]))


@pytest.mark.parametrize("inverse", [None, lambda a: -a])
def test_what_a_users_function_raises_says_where(inverse: Any) -> None:
    picky = UserAggregate("picky", 0, lambda v: v if v else 1 // v, lambda a, b: a + b, inverse)
    head = Head(
        shape_of([("picky", [2], INT)], [1]), [((0, "FR", 1, 0.0, 0, "", ""), 1)], {"picky": picky}
    )
    with pytest.raises(UserFunctionError) as caught:
        head.state.update(*head.columns([((0, "DE", 0, 0.0, 0, "", ""), 1)]))
    assert caught.value.message.startswith("the user aggregate `picky` raised ZeroDivisionError: ")
    assert caught.value.message.endswith(", for the group ('DE')")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    head.step([((0, "DE", 2, 0.0, 0, "", ""), 1)])


@pytest.mark.parametrize("inverse", [None, lambda a: -a])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, "NULL is not a value"),
        (1.5, "expected int, found 1.5 (float)"),
        (2**63, "outside the"),
    ],
)
def test_a_result_that_is_none_of_its_type_says_whose(inverse: Any, given: Any, found: str) -> None:
    odd = UserAggregate(
        "odd",
        0,
        lambda v: v,
        lambda a, b: a + b,
        inverse,
        lambda total: given if total else 0,
        (INT,),
        INT,
    )
    head = Head(
        shape_of([("odd", [2], INT)], [1]), [((0, "FR", 0, 0.0, 0, "", ""), 1)], {"odd": odd}
    )
    with pytest.raises(LftjError) as caught:
        head.state.update(*head.columns([((0, "DE", 3, 0.0, 0, "", ""), 1)]))
    assert caught.value.message.startswith("the user aggregate `odd` for the group ('DE'): ")
    assert found in caught.value.message
    assert caught.value.hint == "let `finish` give a value of the result_type, int"


# ── work and memory ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["count", "sums", "floats", "extremes"])
@pytest.mark.parametrize("rows", [2_000, 20_000])
def test_a_change_in_a_large_group_opens_few_pages(name: str, rows: int) -> None:
    head = Head(
        shape_of(CALLS[name], [0]), [((0, "", n, n / 3, n, f"{n:06}", ""), 1) for n in range(rows)]
    )
    head.step([((0, "", 0, 0.0, 0, f"{0:06}", ""), -1)])
    assert 0 < head.state.steps <= 20 * rows.bit_length()


def test_lists_of_arguments_that_begin_alike_share_a_tree() -> None:
    state = Head(shape_of(CALLS["levels"], [0]), [((0, "", 1, 1.0, 0, "a", "b"), 1)]).state
    # min and max of column 2 read the tree of the first concat, which has it as its key; the second
    # concat's serves min of column 5
    assert len(state.kept) == 2
    assert sorted(state.memory) == [
        "groups",
        "order of texts",
        "rows in order of (int, str, str)",
        "rows in order of (str, float, str, str)",
    ]
