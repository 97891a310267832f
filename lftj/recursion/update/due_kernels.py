"""One iteration's due proofs settled in compiled code: as `ElasticUpdate` does for many rows, for a few [Elastic, Algorithm 3]."""

from __future__ import annotations

import numpy as np

from lftj.recursion.update.choice_kernels import accept, change_candidates
from lftj.recursion.update.settle_kernels import ARITY, BROKEN, CURRENT, LOST, NOTHING, OWN, judge, move, name_lost
from lftj.recursion.update.waiting_kernels import DUE_IN, HEAD
from scantree.jit import compiled


@compiled
def settle(memory, trees, due, first, last, proven, count):
    """Bring a relation's trees up to date with due rows [first, last), and make those of what moved and of what was lost.

    How many rows moved, how many were lost, and how many changed; −1 in place of the first when counts make no sense. Then the new number
    of records in `proven`, to which candidates are appended that are due again.
    """
    relation, iteration = due[first, HEAD], due[first, DUE_IN]
    numbers = trees.relations[relation]
    rows = np.empty((numbers[ARITY] + 1, last - first), np.int64)
    stood = np.empty(last - first, np.int64)
    kinds = np.empty(last - first, np.int64)
    judge(memory, trees, relation, due, first, last, rows, stood, kinds)
    lost = changed = 0
    for i in range(kinds.size):
        if kinds[i] == BROKEN:
            return -1, 0, 0, count
        lost += kinds[i] == LOST
        changed += kinds[i] != NOTHING
    if lost > 0:
        name_lost(memory, trees, numbers, rows, kinds)
    if numbers[OWN] < numbers[CURRENT]:
        if changed > 0:
            change_candidates(memory, trees, relation, rows, stood, kinds, iteration)
        rows, stood, kinds, count = accept(memory, trees, relation, rows, iteration, proven, count)
        changed = 2 * changed + kinds.size
    moved = move(memory, trees, numbers, rows, stood, kinds, iteration)
    return moved, lost, changed, count
