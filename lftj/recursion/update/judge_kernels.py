"""What becomes of many rows that are due in an iteration, by where they stand [Elastic, Algorithm 3]."""

from __future__ import annotations

from lftj.recursion.update.settle_kernels import FOUND, HALF, LOST, LOWER, NOTHING, RECOUNTED
from scantree.jit import compiled
from scantree.piece_kernels import compare_columns

GONE = -1
"""The standing of a row that is not there any more, among changes that are not applied yet."""
NEVER = (1 << 63) - 1
"""The iteration of a row that is not there."""


@compiled
def tell_iterations(found, first, iterations):
    """The iteration in which each column of `found` proves its head: the one after the latest of its standings, which are the lines from
    `first` on but for the last, its number of proofs. Where a standing is a complement, of a row as it was, that number becomes negative.
    """
    counts = found.shape[0] - 1
    for i in range(iterations.size):
        latest = -1
        for line in range(first, counts):
            word = found[line, i]
            if word < 0:
                word = ~word
                found[counts, i] = -found[counts, i]
            latest = max(latest, word >> HALF)
        iterations[i] = latest + 1


@compiled
def judge_rows(present, words, counts, iteration, kinds, stood):
    """Which of the due rows are FOUND in this iteration, RECOUNTED or LOST, and where each stood: into `kinds` and `stood`.

    `words` become the rows' new standings. The least number of proofs that a row is left with, and the greatest.
    """
    least = most = 0
    for i in range(counts.size):
        word = words[i]
        stood[i] = word >> HALF if present[i] else NEVER
        kinds[i] = NOTHING
        if stood[i] < iteration or counts[i] == 0:
            continue
        here = stood[i] == iteration
        count = counts[i] + (word & LOWER if here else 0)
        least, most = min(least, count), max(most, count)
        if here:
            kinds[i] = RECOUNTED if count > 0 else LOST
        elif count > 0:
            kinds[i] = FOUND
        words[i] = (iteration << HALF) | count
    return least, most


@compiled
def amend(rows, late, present, words):
    """Bring what was looked up for `rows` up to date with changes that came later. Both are in ascending order of rows."""
    keys = rows.shape[0]
    at = 0
    for i in range(rows.shape[1]):
        while at < late.shape[1] and compare_columns(keys, late, at, rows, i) < 0:
            at += 1
        if at < late.shape[1] and compare_columns(keys, late, at, rows, i) == 0:
            word = late[keys, at]
            present[i] = word != GONE
            words[i] = word if word != GONE else 0


@compiled
def follow(late, later, out):
    """Changes followed by later ones, which replace what is said of the same rows: their number. All ascend by rows."""
    keys = late.shape[0] - 1
    i = j = size = 0
    while i < late.shape[1] or j < later.shape[1]:
        order = -1
        if i == late.shape[1]:
            order = 1
        elif j < later.shape[1]:
            order = compare_columns(keys, late, i, later, j)
        for line in range(keys + 1):
            out[line, size] = late[line, i] if order < 0 else later[line, j]
        i += order <= 0
        j += order >= 0
        size += 1
    return size
