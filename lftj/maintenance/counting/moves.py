# SPDX-License-Identifier: Apache-2.0
"""Moves of the rows of a relation in an elastic update, one iteration at a time and all
together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.maintenance.counting.apply_iteration_kernels import NEVER
from lftj.maintenance.counting.derivation_count import iterations_of, moved_standing, standing
from lftj.scantree.rows import difference, sort_rows
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import Order
from lftj.storage.transient_relation import TransientRelation


class Moves(NamedTuple):
    """Moves of an iteration in a relation: rows found there with the iterations they were in before
    (NEVER: none), and rows lost.

    A row is lost from this iteration; one that was accepted and is not any more also from a later
    one: `left`.
    """

    found: Columns
    stood: np.ndarray
    lost: Columns
    left: np.ndarray

    def loose(self, iteration: int) -> Columns:
        """Rows as they were, with the complement of their standing, and as they are."""
        again = self.stood != NEVER
        word = standing(np.array([iteration]))
        pieces = [
            [*self.found, np.repeat(word, len(self.stood))],
            [*(column[again] for column in self.found), ~standing(self.stood[again])],
            [*self.lost, ~standing(self.left)],
        ]
        pieces = [piece for piece in pieces if len(piece[0])]
        return (
            pieces[0]
            if len(pieces) == 1
            else [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        )


class MovedRows(TransientRelation):
    """Rows that move, with their standings. Sorted by the iterations that these tell, as a row with
    its iteration fits into one number.
    """

    __slots__ = ()

    def _ascending(self, order: Order) -> Columns | np.ndarray:
        columns = self.columns()
        if order[-1] != len(columns) - 1:
            return super()._ascending(order)
        *rows, iterations = sort_rows(
            [*(columns[i] for i in order[:-1]), iterations_of(columns[-1])]
        )
        return [*rows, moved_standing(iterations)]


class ComeAndGone:
    """The net change of a relation's rows over the iterations of an update.

    A row that is lost may be found in a later iteration, as a row that was there before; once found
    it is not lost any more. So each row is lost at most once, and found at most once where it was
    not.
    """

    def __init__(self) -> None:
        self._come: list[Columns] = []
        self._gone: list[Columns] = []

    def add(self, moves: Moves) -> None:
        """Take note of an iteration."""
        if len(moves.stood):
            new = moves.stood == NEVER
            self._come.append(moves.found if new.all() else [column[new] for column in moves.found])
        if len(moves.lost[0]):
            self._gone.append(moves.lost)

    def delta(self, width: int) -> Delta:
        """The net change, of rows of so many columns. O(δ log δ)."""
        come, gone = _together(self._come, width), _together(self._gone, width)
        if not len(come[0]) or not len(gone[0]):
            return Delta(come, gone)
        return Delta(difference(come, gone), difference(gone, come))


def _together(pieces: list[Columns], width: int) -> Columns:
    if len(pieces) < 2:
        return pieces[0] if pieces else no_rows(width)
    return sort_rows([np.concatenate(columns) for columns in zip(*pieces, strict=True)])
