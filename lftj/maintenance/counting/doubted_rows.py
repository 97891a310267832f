# SPDX-License-Identifier: Apache-2.0
"""Rows in doubt: rows whose support was not counted, and which may have lost all of it.

An evaluation without counts leaves ranks. The support of a row is counted once, when an update
first doubts it, and updates keep it from then on. It is counted among the rows as they were before
the update; what the update has changed of it since is in its derivation count. The same derivations
tell where a row that falls may return.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lftj.maintenance.counting.derivation_count import iterations_of, standing
from lftj.maintenance.counting.elastic_query import Proofs
from lftj.scantree.rows import locate, sort_order
from lftj.storage.delta import Columns


class Judged(NamedTuple):
    """Derivation counts of rows in doubt, and the derivations of those that fall from rows that do
    not rank below.
    """

    words: np.ndarray
    falls: np.ndarray
    later: Proofs


def judged(
    rows: Columns, before: np.ndarray, now: np.ndarray, given: np.ndarray, found: Iterable[Proofs]
) -> Judged:
    """Judge rows, ascending, by their derivations before the update. `before` and `now`: their
    derivation counts, none of them counted; `given`: which of them were base rows.
    """
    pieces = [proofs for proofs in found if len(proofs.counts)]
    support = now - before + given
    if not pieces:
        falls = support <= 0
        none = np.empty(0, np.int64)
        return Judged(_counted(now, support), falls, Proofs([none for _ in rows], none, none))
    together = [
        np.concatenate(some)
        for some in zip(*((*each.rows, *each[1:]) for each in pieces), strict=True)
    ]
    order = sort_order(together[:-2])
    *heads, iterations, counts = (column.take(order) for column in together)
    places, _ = locate(heads, rows)
    lower = iterations <= iterations_of(now).take(places)
    np.add.at(support, places[lower], counts[lower])
    falls = support <= 0
    assert support.min(initial=0) >= 0, "more derivations lost than there were"
    late = falls.take(places) & ~lower
    later = Proofs([column[late] for column in heads], iterations[late], counts[late])
    return Judged(_counted(now, support), falls, later)


def _counted(words: np.ndarray, support: np.ndarray) -> np.ndarray:
    return standing(iterations_of(words), support)
