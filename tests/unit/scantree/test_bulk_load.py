"""Rows loaded column by column against the set of them: packed into words or sorted by their
beginnings, in order or not, repeated or not.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj.scantree.tree
from lftj.partition.executor import ThreadExecutor
from lftj.scantree import Arena, Tree
from lftj.scantree.bulk_load import load
from lftj.scantree.invariants import check_arena, check_invariants
from lftj.scantree.sharing import SPAN
from tests.interrupting import Interrupt
from tests.unit.scantree.trees import Shape

LEAST, MOST = -(2**63), 2**63 - 1
Columns = list[np.ndarray]

narrow = st.integers(-3, 3)
wide = st.sampled_from([LEAST, LEAST + 1, -(2**40), -1, 0, 1, 7, 2**40, MOST - 1, MOST])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.one_of(narrow, wide)] * width), min_size=1, max_size=60)
)


def itself(column: np.ndarray) -> np.ndarray:
    return column


def loaded(arena: Arena, columns: Columns) -> Tree:
    return load(arena, [partial(itself, column) for column in columns])


def assert_loaded(columns: Columns) -> None:
    given = [column.copy() for column in columns]
    arena = Arena()
    tree = loaded(arena, columns)
    expected = sorted(set(zip(*(column.tolist() for column in given), strict=True)))
    assert list(zip(*(column.tolist() for column in tree.columns()), strict=True)) == expected
    assert len(tree) == len(expected)
    check_arena(arena, [tree])
    for column, before in zip(columns, given, strict=True):
        assert np.array_equal(column, before)


def columns_of(rows: list[tuple[int, ...]]) -> Columns:
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


@given(tables, st.booleans())
def test_any_rows(rows, ascending):
    assert_loaded(columns_of(sorted(rows) if ascending else rows))


SIZE = 5000


@pytest.mark.parametrize("alike", [1, 3, SIZE])
@pytest.mark.parametrize("repeated", [1, 2])
@pytest.mark.parametrize("width", [2, 9])
@pytest.mark.parametrize("ascending", [False, True])
def test_many_rows(alike, repeated, width, ascending):
    random = np.random.default_rng(alike * width)
    first = np.repeat(random.integers(LEAST, MOST, SIZE // alike + 1), alike)[:SIZE]
    others = [random.integers(0, 2 if alike < SIZE else 2**62, SIZE) for _ in range(width - 1)]
    rows = np.tile(np.array([first, *others]), repeated)
    places = np.lexsort(rows[::-1]) if ascending else random.permutation(SIZE * repeated)
    assert_loaded(list(np.ascontiguousarray(rows[:, places])))


@pytest.mark.parametrize("repeated", [1, 2])
def test_many_rows_that_fit_into_words(repeated):
    random = np.random.default_rng(repeated)
    columns = [random.permutation(SIZE) - 9, random.integers(LEAST, LEAST + 2**30, SIZE)]
    assert_loaded([np.tile(column, repeated) for column in columns])


@pytest.mark.parametrize("width", [2, 3])
def test_threads_share_many_rows(width):
    random, rows = np.random.default_rng(width), 2 * SPAN + 5
    columns = [
        random.integers(-5, rows, rows),
        random.integers(LEAST, MOST, rows) if width == 3 else random.permutation(rows),
        random.integers(0, 2, rows),
    ]
    for chosen in (columns[:width], [np.sort(columns[0]), np.sort(columns[1])]):
        tree = loaded(Arena(threads=ThreadExecutor(2)), chosen)
        rows_in_order = np.array(chosen)[:, np.lexsort(chosen[::-1])]
        fresh = np.ones(rows, bool)
        fresh[1:] = (rows_in_order[:, 1:] != rows_in_order[:, :-1]).any(axis=0)
        assert np.array_equal(np.array(tree.columns()), rows_in_order[:, fresh])
        assert np.array_equal(np.array(tree.columns([1, 0])), rows_in_order[1::-1, fresh])
        ends = [(int(column.min()), int(column.max())) for column in rows_in_order]
        assert tree.extremes([1, 0]) == ends[1::-1]
        some = np.flatnonzero(random.random(len(tree)) < 0.999)
        assert np.array_equal(tree.numbered(some, [1])[0], rows_in_order[1, fresh][some])
        keys = [column[[0, rows // 2, -1]] for column in rows_in_order]
        assert tree.contains(keys).all()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "shape",
    [
        Shape(1, 0),
        Shape(3, 0, leaf=64, fan=16),
        Shape(2, 2),
        Shape(2, 2, 16, 5, (("sum", 2), ("min", 3), ("max", 1))),
    ],
)
def test_rows_written_by_columns_are_those_written_at_once(shape, workers, monkeypatch):
    keys = [(number // 4, number % 4 - 2, number)[-shape.keys :] for number in range(1500)]
    rows = [(*key, *[key[-1] * 7 % 50] * shape.values) for key in keys]
    arena = Arena(threads=ThreadExecutor(workers))
    at_once = shape.build(arena, rows)
    monkeypatch.setattr(lftj.scantree.tree, "SPAN", len(rows) // 2)
    written = list[int]()
    whole = Tree.with_columns
    monkeypatch.setattr(
        Tree, "with_columns", lambda tree, *given: written.append(1) or whole(tree, *given)
    )
    by_columns = shape.build(arena, rows)
    assert written
    check_invariants(by_columns)
    changed = shape.apply(by_columns, [], sorted(keys)[::7])
    left = sorted(set(rows) - set(sorted(rows)[::7]))
    for tree, expected in ((by_columns, sorted(rows)), (changed, left)):
        found = zip(*(column.tolist() for column in tree.columns()), strict=True)
        assert list(found) == expected
    assert by_columns.height == at_once.height
    assert [len(each[0]) for each in by_columns.diff(at_once)] == [0, 0]
    check_arena(arena, [at_once, by_columns, changed])


@pytest.mark.parametrize("kernel", ["take_leaves", "fill_leaves", "raise_levels", "fill_packed"])
@pytest.mark.usefixtures("heeding_interrupts")
def test_ctrl_c_leaves_no_pages_behind(monkeypatch, kernel):
    made = getattr(lftj.scantree.tree, kernel)

    def running(*arguments):
        interrupt = Interrupt()  # noqa: F841 — it is forgotten when this ends
        return made(*arguments)

    arena, random = Arena(), np.random.default_rng(1)
    least = 0 if kernel == "fill_packed" else LEAST
    most = 99 if kernel == "fill_packed" else MOST
    columns = [random.integers(least, most, SIZE) for _ in range(3)]
    kept = loaded(arena, columns)
    monkeypatch.setattr(lftj.scantree.tree, kernel, running)
    with pytest.raises(KeyboardInterrupt):
        loaded(arena, columns)
    check_arena(arena, [kept])


def test_a_column_that_cannot_be_read_leaves_no_pages_behind():
    arena, asked = Arena(), list[int]()
    column = np.random.default_rng(2).integers(LEAST, MOST, SIZE)

    def failing() -> np.ndarray:
        asked.append(1)
        raise MemoryError

    with pytest.raises(MemoryError):
        load(arena, [lambda: column, failing])
    assert asked
    check_arena(arena, [])
