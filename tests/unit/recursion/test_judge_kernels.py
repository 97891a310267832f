"""What becomes of rows that are due."""

from __future__ import annotations

import numpy as np

from lftj.recursion.judge_kernels import NEVER, judge_rows
from lftj.recursion.settle_kernels import FOUND, LOST, NOTHING, RECOUNTED
from lftj.recursion.standing import iterations_of, proofs_of, standing


def test_rows_are_judged_by_where_they_stand() -> None:
    iterations = np.array([0, 2, 2, 3, 0, 0])
    proofs = np.array([1, 3, 2, 5, 0, 0])
    present = np.array([True, True, True, True, False, False])
    words = np.where(present, standing(iterations, proofs), 0)
    counts = np.array([4, -1, -2, 1, 2, 0])
    kinds, stood = np.empty_like(counts), np.empty_like(counts)
    assert judge_rows(present, words, counts, 2, kinds, stood) == (0, 2)
    assert kinds.tolist() == [NOTHING, RECOUNTED, LOST, FOUND, FOUND, NOTHING]
    assert stood.tolist() == [0, 2, 2, 3, NEVER, NEVER]
    there = kinds != NOTHING
    assert iterations_of(words[there]).tolist() == [2, 2, 2, 2]
    assert proofs_of(words[there]).tolist() == [2, 0, 1, 2]


def test_fewer_proofs_than_none_and_more_than_a_word_can_tell_show() -> None:
    present, words = np.array([True, True]), standing(np.array([1, 1]), np.array([1, (1 << 32) - 1]))
    counts = np.array([-2, 1])
    assert judge_rows(present, words, counts, 1, np.empty_like(counts), np.empty_like(counts)) == (-1, 1 << 32)
