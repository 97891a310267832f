# SPDX-License-Identifier: Apache-2.0
"""Changes on their way into the state of a head: signed assignments made net, and divided by
groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.heads.changes_kernels import OVERFLOW, divide, net_few
from lftj.heads.support import too_many
from lftj.partition.executor import ThreadExecutor
from lftj.scantree.columns import as_matrix
from lftj.scantree.rows import net_rows as netted
from lftj.scantree.rows import sorted_by
from lftj.scantree.sharing import ALONE
from lftj.scantree.summing import summed_in_place

_FEW = 32
"""Up to so many rows are sorted by insertion, in one compiled pass; a commit of one row mostly
makes fewer.
"""


def net_changes(columns: Sequence[np.ndarray], signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of a change, ascending, as a matrix of columns × rows, and the net count of
    each, none of them 0.

    `signed` counts assignments, won ones positive and lost ones negative. No columns at all are
    taken as one of zeros.
    """
    rows = len(signed)
    if rows > _FEW:
        try:
            return netted(columns or [np.zeros(rows, np.int64)], signed)
        except OverflowError:
            raise too_many() from None
    given = as_matrix(columns, len(columns)) if columns else np.zeros((1, rows), np.int64)
    net_rows = np.empty_like(given)
    net = np.empty(rows, np.int64)
    kept, status = net_few(given, np.asarray(signed, np.int64), net_rows, net)
    if status == OVERFLOW:
        raise too_many()
    return (
        (net_rows, net) if kept == rows else (np.ascontiguousarray(net_rows[:, :kept]), net[:kept])
    )


def by_groups(
    columns: Sequence[np.ndarray],
    counts: np.ndarray,
    width: int,
    threads: ThreadExecutor | None = None,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """As `net_changes`, of assignments that are all won, in order of the first `width` columns; and
    whether of all columns, each row once.

    That is so where it takes no sorting. Else rows are sorted by groups alone, which the columns
    behind make no dearer. `threads`: who moves many rows; counts that are all the same need not
    move.
    """
    given = as_matrix([*columns, counts], len(columns) + 1)
    if (rows := summed_in_place(given, zeros=False)) is not None:
        return np.ascontiguousarray(rows[:-1]), rows[-1], True
    if len(columns) and (counts == counts[0]).all():
        return sorted_by(given[:-1], width, threads or ALONE), counts, False
    rows = sorted_by(given, width, threads or ALONE)
    return np.ascontiguousarray(rows[:-1]), rows[-1], False


def divided(rows: np.ndarray, net: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the start of each run of equal first `width` columns of a net change, and sum its
    counts. ValueRangeError beyond int64.
    """
    starts = np.empty(len(net), np.int64)
    moved = np.empty(len(net), np.int64)
    runs, status = divide(rows, net, width, starts, moved)
    if status == OVERFLOW:
        raise too_many()
    return starts[:runs], moved[:runs]
