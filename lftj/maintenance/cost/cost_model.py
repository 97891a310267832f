# SPDX-License-Identifier: Apache-2.0
"""Costs besides kernel steps, in kernel steps of about five nanoseconds, so that an update and a
bootstrap can be compared.

Rough figures serve: they decide which of two ways is taken, never what comes out. They are counted,
not timed, so a run is repeatable.
"""

from __future__ import annotations

from typing import NamedTuple

from lftj.join.context import Context

ITERATION = 20_000
"""An iteration of an update, or a rule's part in one, whatever it finds."""
COMPILED_ITERATION = 1_000
"""An iteration of an update that moves few rows, in compiled code."""
COMPILED_MOVE = 400
"""A row that it changes in one key order."""
STEP = 4
"""A step of a join in a bootstrap, or in an update by rows; one of a walk counts once."""
CANDIDATE = 1
"""One that ends in a row which may be new, of a bootstrap that does not count."""
QUERY = 5_000
"""A query of an update, however little it finds."""
PLAN = 100_000
"""A plan for such a query, which serves later ones."""
FEW = 3
"""Rows as many as which their share of what is read counts, among those whose cost was seen; the
share of no more rows tells little.
"""
PROVEN = 8
"""A derivation that it finds."""
PROOF = 8
"""A proof that is added to its row's count in a bootstrap by joins."""
ROW = 60
"""A row that such a bootstrap found, brought in order, compared with the one before and laid into
trees.
"""
TRACED = 8
"""A step of a search that is traced, with the interval that it leaves."""
WALKED = 10
"""A row that walks found, which come in order."""
ROW_ALONE = 20
"""A row that a bootstrap found which does not count."""
ROW_MARKED = 5
"""One that it found in a bitmap."""
WALKED_ALONE = 5
"""A row that walks found which do not count."""
OFFER = 35
"""A value that such a bootstrap offers to a group, sorted and compared with the best."""
STEPS_OF_WALKS = 4
"""Steps of such walks that together take as long as one of another kind."""
CHANGED = 1500
"""A changed row below the stratum, for an update, beside the proofs it has part in."""
TOUCHED = 800
"""A proof that a changed row has part in, and what moves in its train. Seen: 400 to 1,300 where ten
rows of closures, points-to and flow analyses went together.
"""
LOOK_UP = 150
"""A row that an update looks up alone."""
_LOOKED = 20
"""A row that it looks up on a page that it reads anyway."""
RANKED = 7
"""A row that is given its rank."""
ORDERED = 8
"""A row with its rank in another key order, where that is not there yet."""
_MOVE = 40  # a row changed in one key order
_PAGE = 450  # a page that is copied for it
_ROWS = 256  # on a page, at least
_LAID = 8  # a row on a page that is written anyway
_COPIED = 220  # a page that is, among many
SEEN_CHANGES = 64
"""Changed rows after which their average cost forecasts the next: fewer may be chance."""


def change_of(rows: int, count: int) -> int:
    """Cost of changing so many of a tree's `count` rows: at worst each lies on a page of its
    own.
    """
    return _MOVE * rows + _PAGE * min(rows, count // _ROWS + 1)


def looked_up(rows: int, count: int) -> int:
    """Cost of looking up so many rows, which ascend, among `count`: at worst each lies on a page of
    its own.
    """
    return _LOOKED * rows + (LOOK_UP - _LOOKED) * min(rows, count // _ROWS + 1)


def laid_into(rows: int, count: int) -> int:
    """Cost of an iteration of a bootstrap that puts so many rows, lying anywhere, into a tree of
    `count`: it reads copied pages one after the other, and many of its rows share one.
    """
    if 3 * rows > count:
        return _LAID * (rows + count)
    pages = count // _ROWS + 1
    return _LAID * rows + _COPIED * (pages * rows // (pages + rows))


def joins_alone(steps: int, candidates: int) -> int:
    """Cost of so many steps of joins in a bootstrap that does not count. Those that end in a
    candidate follow one another and take less.
    """
    return STEP * max(0, steps - candidates) + CANDIDATE * candidates


class Spent(NamedTuple):
    """Cost of a bootstrap that does not count, its kernel steps, and what of the cost is that of
    iterations, however little they find.
    """

    work: int
    steps: int
    iterations: int = 0


class Meter:
    """Meter of the cost of a bootstrap that does not count, from now on."""

    def __init__(self, context: Context):
        self._context = context
        budget = context.budget
        self._before = budget.work, budget.found, budget.laid, budget.iterated

    def spent(self, rows: int) -> Spent:
        """Cost so far, for a bootstrap that found so many rows: by walks, where there were no
        iterations.
        """
        context = self._context
        work, found, laid, iterated = self._before
        steps, candidates = context.budget.work - work, context.budget.found - found
        iterations = context.budget.iterated - iterated
        if not iterations:
            return Spent(WALKED_ALONE * rows + steps // STEPS_OF_WALKS, steps)
        alone = joins_alone(steps, candidates) + context.budget.laid - laid + iterations
        return Spent(alone, steps, iterations)
