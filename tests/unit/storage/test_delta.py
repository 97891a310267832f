from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lftj.storage.delta import Delta, no_rows, paired, stored_width

rows = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))
changes = st.tuples(rows, rows).map(lambda pair: (pair[0], pair[1] - pair[0]))


def columns(of: set[tuple[int, int]]) -> list[np.ndarray]:
    return list(np.array(sorted(of), dtype=np.int64).reshape(-1, 2).T)


def as_set(of: list[np.ndarray]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in of), strict=True))


def make(change: tuple[set[tuple[int, int]], set[tuple[int, int]]]) -> Delta:
    return Delta(columns(change[0]), columns(change[1]))


@given(changes, changes)
def test_later_replaces_earlier_row_by_row(first, second):
    both = make(first).then(make(second))
    wanted = dict.fromkeys(first[0], True) | dict.fromkeys(first[1], False)
    wanted |= dict.fromkeys(second[0], True) | dict.fromkeys(second[1], False)
    assert as_set(both.inserts) == sorted(row for row, there in wanted.items() if there)
    assert as_set(both.erases) == sorted(row for row, there in wanted.items() if not there)
    assert len(both) == len(wanted)


@given(changes)
def test_reordering_permutes_columns_and_sorts(change):
    turned = make(change).reordered((1, 0))
    assert as_set(turned.inserts) == sorted((b, a) for a, b in change[0])
    assert as_set(turned.erases) == sorted((b, a) for a, b in change[1])


def test_the_identity_order_is_free():
    delta = make(({(1, 2)}, set()))
    assert delta.reordered((0, 1)) is delta


def test_insertion_and_deletion_sort_and_drop_repetitions():
    given_rows = [np.array([3, 1, 3]), np.array([0, 5, 0])]
    assert as_set(Delta.insertion(given_rows).inserts) == [(1, 5), (3, 0)]
    assert as_set(Delta.deletion(given_rows).erases) == [(1, 5), (3, 0)]
    assert Delta.insertion(given_rows).erased == 0


def test_a_nullary_relation_is_stored_in_one_column():
    assert stored_width(0) == 1
    assert len(no_rows(0)) == 1
    assert len(Delta.empty(0)) == 0


@given(changes, st.sampled_from([(), (0,), (1,), (0, 1)]))
def test_rows_take_the_places_of_those_that_agree_with_them(change, by):
    gone, come, rest = paired(make(change), by)
    lost, won = as_set(gone), as_set(come)
    assert all(old[place] == new[place] for old, new in zip(lost, won, strict=True) for place in by)
    assert sorted([*won, *as_set(rest.inserts)]) == sorted(change[0])
    assert sorted([*lost, *as_set(rest.erases)]) == sorted(change[1])
    assert as_set(rest.inserts) == sorted(as_set(rest.inserts))
    left = [{tuple(row[place] for place in by) for row in as_set(rows)}
        for rows in (rest.inserts, rest.erases)]  # fmt: skip
    assert left[0].isdisjoint(left[1])
