"""Columns as one matrix, copied only where they are not one already."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.scantree.columns import Lines, as_matrix
from lftj.scantree.rows import sort_rows

ROWS = 5000  # fewer are copied anyway


def test_the_lines_of_a_matrix_are_that_matrix():
    whole = np.arange(3 * ROWS).reshape(3, ROWS).copy()
    assert as_matrix(list(whole), 3) is whole


def test_a_few_lines_are_copied():
    whole = np.arange(12).reshape(3, 4).copy()
    found = as_matrix(list(whole), 3)
    assert found.tolist() == whole.tolist()
    assert as_matrix(whole, 3) is whole


@pytest.mark.parametrize("places", [(1, 0, 2), (0, 1), (0, 1, 1), (0, 1, 2, 2)])
def test_other_lines_are_copied(places: tuple[int, ...]):
    whole = np.arange(3 * ROWS).reshape(3, ROWS).copy()
    found = as_matrix([whole[place] for place in places], len(places))
    assert found.tolist() == [whole[place].tolist() for place in places]
    assert not np.shares_memory(found, whole)


@pytest.mark.parametrize("part", [np.s_[:, 1:], np.s_[:, ::2], np.s_[:, ::-1]])
def test_parts_of_lines_are_copied(part: tuple[slice, slice]):
    whole = np.arange(3 * ROWS).reshape(3, ROWS).copy()
    columns = list(whole[part])
    assert as_matrix(columns, 3).tolist() == [column.tolist() for column in columns]
    assert as_matrix(columns, 3).flags.c_contiguous


def test_lines_remember_their_matrix():
    whole = np.arange(12).reshape(3, 4).copy()
    assert as_matrix(Lines(whole), 3) is whole
    part = Lines(whole[:, :2])
    assert as_matrix(part, 3).flags.c_contiguous
    assert as_matrix(part, 3) is as_matrix(part, 3)
    assert [line.tolist() for line in part] == whole[:, :2].tolist()
    with pytest.raises(ValueError, match="2 columns expected"):
        as_matrix(part, 2)


def test_some_of_the_lines_are_no_lines():
    found = sort_rows([np.array([3, 1, 2]), np.array([7, 8, 9])])
    assert isinstance(found, Lines)
    assert as_matrix(found[1:], 1).tolist() == [[8, 9, 7]]
    assert as_matrix([*found, found[0]], 3).tolist() == [[1, 2, 3], [8, 9, 7], [1, 2, 3]]
