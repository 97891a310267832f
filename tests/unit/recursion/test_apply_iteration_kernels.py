"""Kernels that apply the rows due in an iteration."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lftj.maintenance.counting.apply_iteration_kernels import (
    DOUBTED,
    FOUND,
    GONE,
    LOST,
    NEVER,
    NOTHING,
    RECOUNTED,
    UNCOUNTED,
    amend,
    follow,
    judge_rows,
    tell_iterations,
)
from lftj.maintenance.counting.derivation_count import iterations_of, proofs_of, standing


def test_rows_are_judged_by_where_they_stand() -> None:
    iterations = np.array([0, 2, 2, 3, 0, 0])
    proofs = np.array([1, 3, 2, 5, 0, 0])
    present = np.array([True, True, True, True, False, False])
    words = np.where(present, standing(iterations, proofs), 0)
    counts = np.array([4, -1, -2, 1, 2, 0])
    kinds, stood = np.empty_like(counts), np.empty_like(counts)
    assert judge_rows(present, words, counts, 2, 0, kinds, stood) == (0, 2)
    assert kinds.tolist() == [NOTHING, RECOUNTED, LOST, FOUND, FOUND, NOTHING]
    assert stood.tolist() == [0, 2, 2, 3, NEVER, NEVER]
    there = kinds != NOTHING
    assert iterations_of(words[there]).tolist() == [2, 2, 2, 2]
    assert proofs_of(words[there]).tolist() == [2, 0, 1, 2]


def test_ranks_that_stay_are_no_higher_than_what_proves_and_uncounted_rows_are_doubted() -> None:
    ranks = np.array([1, 2, 3, 3, 3, 3])
    supports = np.array([1, 3, 5, 1, 0, 2]) + np.array([0, 0, 0, 0, UNCOUNTED, UNCOUNTED])
    present, words = np.ones(6, np.bool_), (ranks << 32) | supports
    counts = np.array([4, -1, 1, -1, -1, -1])
    kinds, stood = np.empty_like(counts), np.empty_like(counts)
    assert judge_rows(present, words, counts, 2, 1, kinds, stood) == (0, 6)
    assert kinds.tolist() == [NOTHING, RECOUNTED, RECOUNTED, LOST, DOUBTED, RECOUNTED]
    assert iterations_of(words).tolist() == ranks.tolist()
    assert (proofs_of(words)[1:4].tolist(), proofs_of(words)[5]) == ([2, 6, 0], UNCOUNTED + 1)


def test_fewer_proofs_than_none_and_more_than_a_word_can_tell_show() -> None:
    present, words = (
        np.array([True, True]),
        standing(np.array([1, 1]), np.array([1, (1 << 31) - 1])),
    )
    counts = np.array([-2, 1])
    assert judge_rows(
        present, words, counts, 1, 0, np.empty_like(counts), np.empty_like(counts)
    ) == (-1, 1 << 31)


def test_a_proof_counts_behind_its_latest_row_and_is_lost_by_each_that_is_as_it_was() -> None:
    now = standing(np.array([0, 4, 2, 0]), np.array([9, 1, 2, 1]))
    moved = standing(np.array([3, 1, 2, 7]))
    found = np.stack(
        [
            np.arange(4),
            now,
            np.where([True, False, True, True], moved, ~moved),
            np.array([2, 3, 4, 5]),
        ]
    )
    found[1, 3] = ~found[1, 3]
    found[2, 3] = ~found[2, 3]
    iterations = np.empty(4, np.int64)
    tell_iterations(found, 1, iterations)
    assert iterations.tolist() == [4, 5, 3, 8]
    assert found[-1].tolist() == [2, -3, 4, 5]
    tell_iterations(found, 3, iterations)
    assert iterations.tolist() == [0, 0, 0, 0]
    assert found[0].tolist() == [0, 1, 2, 3]


CHANGES = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 3)), st.sampled_from([GONE, 3, 7]), max_size=12
)


def _matrix(changes: dict[tuple[int, int], int]) -> np.ndarray:
    return (
        np.array([[*row, word] for row, word in sorted(changes.items())], np.int64)
        .reshape(-1, 3)
        .T.copy()
    )


@given(CHANGES, CHANGES, CHANGES)
def test_changes_that_are_not_applied_yet_are_laid_over_what_was_there(
    there: dict[tuple[int, int], int],
    first: dict[tuple[int, int], int],
    second: dict[tuple[int, int], int],
) -> None:
    late = np.empty((3, len(first) + len(second)), np.int64)
    late = np.ascontiguousarray(late[:, : follow(_matrix(first), _matrix(second), late)])
    assert late.tolist() == _matrix(first | second).tolist()
    sought = sorted({*there, (0, 0), (3, 1), (5, 3)})
    words = np.array([max(0, there.get(row, 0)) for row in sought])
    present = np.array([row in there for row in sought])
    amend(np.array(sought, np.int64).T.copy(), late, present, words)
    now = there | first | second
    expected = [(row in now and (row not in first | second or now[row] != GONE)) for row in sought]
    assert present.tolist() == expected
    assert words.tolist() == [max(0, now.get(row, 0)) for row in sought]
