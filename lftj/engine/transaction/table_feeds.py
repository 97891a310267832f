# SPDX-License-Identifier: Apache-2.0
"""Feeds of tables that have versions: what changed between the version that was applied last and
this one. The number of the version is the position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lftj import frames
from lftj.errors import OptionError
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import contains, equal_runs, sort_order, sort_rows
from lftj.storage.delta import Columns
from lftj.types.dictionary import Dictionary

Coded = Callable[[object], Columns]
"""Gives the code columns of a relation of data that names its columns."""


class Moved(NamedTuple):
    """Rows that a relation loses and wins."""

    went: Columns
    came: Columns

    @property
    def rows(self) -> int:
        """Number of both."""
        return len(self.went[0]) + len(self.came[0])


def require_name(relation: str, feed: object, position: object) -> None:
    """Raise OptionError (E171) for a table without the name of its feed, or with a position beside
    its own.
    """
    if not isinstance(feed, str) or position is not None:
        raise OptionError(
            f"a table has a feed, whose positions are its versions, found feed={feed!r} and "
            f"position={position!r}",
            code="E171",
            hint=f'say tx.apply_changes("{relation}", table, feed="{relation}")',
        )


def moved(
    table: frames.VersionedTable,
    known: int | None,
    schema: RelationSchema,
    coded: Coded,
    dictionary: Dictionary,
) -> Moved | None:
    """The rows that the relation loses and wins since a version; since None all come. None where
    the table is not after that version.

    Equal rows are counted. More that came than went: a row is there. Fewer: it is looked for among
    the rows of the table.
    """
    if known is not None and not table.follows(known):
        return None
    names = table.known([name for name, _ in schema.columns])
    if known is None:
        rows = coded(table.read(names))
        return Moved([column[:0] for column in rows], rows)
    went, came = (coded(each) for each in table.changes(known, names))
    lost, won = _net(went, came)
    if len(lost[0]):
        columns, types = zip(*schema.columns, strict=True)
        kept = sort_rows(
            coded(table.among(frames.to_arrow(columns, types, lost, dictionary).select(names)))
        )
        gone = np.flatnonzero(~contains(lost, kept))
        lost = [column[gone] for column in lost]
    return Moved(lost, won)


def _net(went: Columns, came: Columns) -> tuple[Columns, Columns]:
    """Rows of which more went than came, and those of which more came, each once, in order."""
    rows = [np.concatenate(pair) for pair in zip(went, came, strict=True)]
    if not len(rows[0]):
        return rows, rows
    order = sort_order(rows)
    rows = [column[order] for column in rows]
    starts = equal_runs(rows, len(rows))
    signs = np.repeat(np.array([-1, 1]), (len(went[0]), len(came[0])))[order]
    sums = np.add.reduceat(signs, starts)
    lost, won = starts[sums < 0], starts[sums > 0]
    return [column[lost] for column in rows], [column[won] for column in rows]
