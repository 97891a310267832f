# SPDX-License-Identifier: Apache-2.0
"""Columns of those rows of a relation that pass some tests, read block by block by several threads.

Rows that fail are written nowhere: of a dimension of a million rows often a hundredth is looked up,
and to read it whole took longer than to test it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.join.access.atom_read import AtomRead, passing
from lftj.join.context import Context
from lftj.join.shared_work import Account, each_of, spans_of
from lftj.scantree.sharing import Span
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion

Passes = Callable[[Mapping[int, np.ndarray]], np.ndarray]


class RowTest(NamedTuple):
    """A test of a relation's rows: the columns it reads, and a function of these that marks the
    rows that pass.
    """

    columns: tuple[int, ...]
    passes: Passes
    by: str
    """The relation that restricts them, itself where values are compared."""

    @staticmethod
    def of(read: AtomRead, context: Context) -> RowTest:
        """The comparisons of an atom's own, of which it has one at least."""
        tested = tuple(dict.fromkeys(read.tested))
        return RowTest(tested, lambda columns: passing(read.tests, columns, context), read.relation)


def picked(tests: Sequence[RowTest], columns: Mapping[int, np.ndarray]) -> np.ndarray:
    """The numbers of the rows that pass all tests, of which there is one at least. A later test
    looks only at rows that passed those before.
    """
    found = np.flatnonzero(tests[0].passes(columns))
    for test in tests[1:]:
        some = {column: columns[column].take(found) for column in test.columns}
        found = found[test.passes(some)]
    return found


def filtered_columns(
    relation: RelationVersion, only: Sequence[int], tests: Sequence[RowTest], context: Context
) -> Columns:
    """Read these columns, which are distinct, of the rows that pass all tests, in the order of the
    relation. O(n) for each column.
    """
    if not tests or not relation.count:
        context.budget.spend(relation.count)
        context.budget.check_memory(8 * relation.count * len(only))
        return list(map(np.ascontiguousarray, relation.columns(only))) if only else []
    tested = (column for test in tests for column in test.columns)
    read = tuple(dict.fromkeys([*only, *tested]))

    def filtered(span: Span, account: Account) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        held = 0
        for block in relation.blocks(context.tuning.block_rows, read, *span):
            which = picked(tests, dict(zip(read, block, strict=True)))
            found.append(block[: len(only)].take(which, axis=1))
            held += found[-1].nbytes
            account.hold(held)
            account.spend(block.shape[1])
        return found

    spans = spans_of(relation.count, len(read), context)
    found = each_of(len(spans), lambda part, account: filtered(spans[part], account), context)
    return list(np.concatenate([piece for pieces in found for piece in pieces], axis=1))
