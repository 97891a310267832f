from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.program.normal_form import RelationSchema
from lftj.scantree.tree import Arena
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion, key_and_rest
from lftj.storage.transient_relation import OneRow, TransientRelation
from lftj.types import INT

TRIPLE = RelationSchema("r", (("a", INT), ("b", INT), ("c", INT)))
KEYED = RelationSchema("k", (("a", INT), ("id", INT), ("c", INT)), key=(1,))
row = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))


@pytest.fixture(scope="module")
def arena() -> Arena:
    return Arena()


ARENA = Arena()


def columns(of) -> list[np.ndarray]:
    return list(np.array(list(of), dtype=np.int64).reshape(-1, 3).T.copy())


def rows(of: list[np.ndarray]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in of), strict=True))


def permuted(of, order) -> list[tuple[int, ...]]:
    return sorted(tuple(r[i] for i in order) for r in of)


@settings(max_examples=40)
@given(
    st.lists(row),
    st.lists(st.tuples(st.sets(row, max_size=6), st.sets(row, max_size=6)), max_size=5),
)
def test_every_order_moves_along_and_old_versions_stay(start, steps):
    version = RelationVersion.build(TRIPLE, ARENA, columns(start))
    model = set(start)
    orders = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    history = [(version, set(model))]
    for inserts, erases in steps:
        for order in orders:
            version.tree(order)
        new, gone = inserts - erases - model, erases & model
        version = version.apply(Delta(columns(sorted(new)), columns(sorted(gone))))
        model = (model | new) - gone
        history.append((version, set(model)))
    for old, then in history:
        assert old.count == len(then)
        for order in orders:
            assert rows(old.tree(order).columns()) == permuted(then, order)


def test_orders_survive_a_small_change_and_go_with_a_large_one(arena):
    version = RelationVersion.build(TRIPLE, arena, columns([(i, i, i) for i in range(10)]))
    version.tree((1, 0, 2))
    small = version.apply(Delta.insertion(columns([(20, 1, 1)])))
    assert small.orders() == ((0, 1, 2), (1, 0, 2))
    large = small.apply(Delta.insertion(columns([(30 + i, 0, 0) for i in range(20)])))
    assert large.orders() == ((0, 1, 2),)
    assert rows(large.tree((1, 0, 2)).columns()) == permuted(rows(large.columns()), (1, 0, 2))


def test_no_change_is_the_same_version(arena):
    version = RelationVersion.build(TRIPLE, arena, columns([(1, 2, 3)]))
    assert version.apply(Delta.empty(3)) is version


def test_an_order_is_built_once_by_many_threads(arena):
    version = RelationVersion.build(TRIPLE, arena, columns([(i, -i, 0) for i in range(1000)]))
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(version.tree((1, 0, 2)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(tree) for tree in found}) == 1


def test_contains_and_memory(arena):
    version = RelationVersion.build(TRIPLE, arena, columns([(1, 2, 3), (4, 5, 6), (1, 2, 3)]))
    assert version.contains(columns([(1, 2, 3), (1, 2, 4)])).tolist() == [True, False]
    assert version.memory() == {(0, 1, 2): 48}


def test_nullary_relations_hold_one_row_or_none(arena):
    schema = RelationSchema("p", ())
    empty = RelationVersion.empty(schema, arena)
    one = empty.apply(Delta.insertion([np.zeros(1, dtype=np.int64)]))
    assert (empty.count, one.count) == (0, 1)
    assert one.tree(()) is one.identity
    assert one.apply(Delta.deletion([np.zeros(1, dtype=np.int64)])).count == 0


@settings(max_examples=40)
@given(
    st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 3), st.integers(0, 3))), st.data()
)
def test_the_rows_by_their_key_move_along(start, data):
    def row_of(key, rest):
        return (rest[0], key, rest[1])

    version = RelationVersion.build(
        KEYED, ARENA, columns([row_of(*item) for item in start.items()])
    )
    version.tree((1, 0, 2))
    other = data.draw(
        st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 3), st.integers(0, 3)))
    )
    gone = data.draw(st.sets(st.sampled_from(sorted(start)))) if start else set()
    gone |= set(other) & set(start)
    old = {row_of(key, start[key]) for key in gone}
    new = {row_of(*item) for item in other.items()}
    after = version.apply(Delta(columns(sorted(new - old)), columns(sorted(old - new))))
    model = {key: rest for key, rest in start.items() if key not in gone} | other
    assert rows(after.tree((1, 0, 2)).columns()) == sorted(
        (key, *rest) for key, rest in model.items()
    )


def test_key_and_rest():
    assert key_and_rest(KEYED) == ((1,), (0, 2))
    assert key_and_rest(TRIPLE) == ((0, 1, 2), ())


def test_renaming_shares_the_trees(arena):
    version = RelationVersion.build(TRIPLE, arena, columns([(1, 2, 3)]))
    other = version.renamed(RelationSchema("r#base", TRIPLE.columns))
    assert other.schema.name == "r#base"
    assert other.identity is version.identity


@settings(max_examples=30)
@given(st.sets(row), st.sets(row))
def test_difference_is_exactly_what_was_applied(start, other):
    version = RelationVersion.build(TRIPLE, ARENA, columns(sorted(start)))
    delta = Delta(columns(sorted(other - start)), columns(sorted(start - other)))
    change = version.apply(delta).difference(version)
    assert rows(change.inserts) == sorted(other - start)
    assert rows(change.erases) == sorted(start - other)
    assert len(version.difference(version)) == 0


@pytest.mark.parametrize("at_hand", [False, True])
@pytest.mark.parametrize("left", [0, 3, 300, 700, 999])
def test_rows_that_are_left_of_many_are_right_in_all_orders(arena, left, at_hand):
    start = sorted((i % 10, i, i * i % 17) for i in range(1000))
    version = RelationVersion.build(TRIPLE, arena, columns(start))
    version.tree((1, 2, 0))
    stay, come = start[:left], [(3, -1, 5)]
    all_rows = columns(sorted(stay + come)) if at_hand else None
    after = version.apply(Delta(columns(come), columns(start[left:])), rows=all_rows)
    assert rows(after.columns()) == sorted(stay + come)
    turned = [(b, c, a) for a, b, c in stay + come]
    assert rows(after.tree((1, 2, 0)).columns()) == sorted(turned)
    for one, other in ((after, version), (version, after)):
        change, now, then = one.difference(other), rows(one.columns()), rows(other.columns())
        assert rows(change.inserts) == sorted(set(now) - set(then))
        assert rows(change.erases) == sorted(set(then) - set(now))


@pytest.mark.parametrize("before", [[], [(1, 1, 1), (2, 2, 2)]])
def test_the_change_to_other_rows_is_what_differs(arena, before):
    after = [(2, 2, 2), (3, 3, 3), (4, 4, 4)]
    delta = RelationVersion.build(TRIPLE, arena, columns(before)).change_to(columns(after))
    assert rows(delta.inserts) == sorted(set(after) - set(before))
    assert rows(delta.erases) == sorted(set(before) - set(after))


@pytest.mark.parametrize("made", [RelationVersion.build, TransientRelation])
@pytest.mark.parametrize("only", [[], [2], [1, 0]])
def test_rows_are_read_in_blocks_of_some_columns(arena: Arena, made: Any, only: list[int]):
    listed = [(i % 7, -i, i * i) for i in range(1000)]
    relation = made(TRIPLE, arena, columns(sorted(listed)))
    read = [tuple(row) for block in relation.blocks(300, only) for row in block.T.tolist()]
    assert read == [tuple(row[column] for column in only) for row in sorted(listed)]
    for first, last in ((0, 1), (1, 1000), (999, 1000), (300, 700), (500, 500)):
        some = [
            tuple(row)
            for block in relation.blocks(300, only, first, last)
            for row in block.T.tolist()
        ]
        assert some == read[first:last]
    assert relation.extremes(only) == [
        [(0, 6), (-999, 0), (0, 999 * 999)][column] for column in only
    ]
    empty = made(TRIPLE, arena, columns([]))
    assert (list(empty.blocks(300, only)), empty.extremes(only)) == ([], [])


def test_another_row_takes_the_place_of_one(arena: Arena) -> None:
    relation = OneRow(TRIPLE, arena, np.array([[1], [2], [3]], np.int64))
    trees = {order: relation.tree(order) for order in ((0, 1, 2), (2, 0, 1))}
    before = arena.bytes_in_use
    relation.put([7, 8, 9])
    assert [column.tolist() for column in relation.columns()] == [[7], [8], [9]]
    for order, tree in trees.items():
        assert relation.tree(order) is tree
        assert [int(column[0]) for column in tree.columns()] == [(7, 8, 9)[i] for i in order]
    assert relation.tree((1, 2, 0)).columns()[0].tolist() == [8]
    assert arena.bytes_in_use - before < 13_000  # the page of the third order alone


@given(
    st.lists(row),
    st.lists(st.tuples(st.sets(row, max_size=6), st.sets(row, max_size=6)), min_size=1, max_size=5),
)
def test_bounds_hold_all_codes_after_every_change(start, steps):
    version = RelationVersion.build(TRIPLE, ARENA, columns(start))
    model = set(start)
    for inserts, erases in steps:
        version.bounds()
        new, gone = inserts - erases - model, erases & model
        version = version.apply(Delta(columns(sorted(new)), columns(sorted(gone))))
        model = (model | new) - gone
        assert len(version.bounds()) == (3 if model else 0)
        for place, (low, high) in enumerate(version.bounds()):
            assert all(low <= each[place] <= high for each in model)
