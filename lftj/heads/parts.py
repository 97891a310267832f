# SPDX-License-Identifier: Apache-2.0
"""Many assignments on their way into the states of a head, in parts: what the functions of the same
optional columns see of them, with the columns that these take and nothing else.

Rows with NULL are taken out before the others are sorted, so functions of optional columns cost
what those of plain ones do. Of the rows that a part leaves out only the groups matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.heads.aggregate_plan import PartPlan
from lftj.heads.changes import by_groups, divided, net_changes
from lftj.heads.changes_kernels import keep_values
from lftj.heads.kept import GroupChange
from lftj.heads.support import supports_together
from lftj.heads.valued import Valued, missing_in
from lftj.partition.executor import ThreadExecutor
from lftj.scantree.columns import Lines, as_matrix
from lftj.scantree.rows import locate
from lftj.types import NULL_CODE

Counted = tuple[Sequence[np.ndarray], np.ndarray]
"""Groups, ascending, with numbers of assignments."""


class Part(NamedTuple):
    """Assignments with values, net, or in order of their groups alone where they do not ascend.

    `rows`: the columns of the group, then those numbered `args`; `starts`: where each group begins;
    `groups`: these groups with their counts; `left_out`: those of the rows with NULL.
    """

    rows: np.ndarray
    net: np.ndarray
    args: tuple[int, ...]
    ascending: bool
    starts: np.ndarray
    groups: Counted
    left_out: Counted | None

    def columns(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """The columns with these numbers, as far as the part has them."""
        width = len(self.rows) - len(self.args)
        lines = dict(zip((*range(width), *self.args), self.rows, strict=True))
        return [lines[number] for number in numbers if number in lines]

    def change(self, whole: GroupChange) -> GroupChange:
        """A change of all groups with the rows of this part."""
        return whole._replace(
            rows=self.rows,
            args=self.args,
            net=self.net,
            starts=self.starts,
            ascending=self.ascending,
        )

    def valued(self, whole: GroupChange, at: int) -> Valued:
        """The part of a change, whose count of assignments is value column `at` of the groups."""
        groups, moved = self.groups
        same = len(groups[0]) == whole.groups.shape[1]
        places = None if same else locate(groups, list(whole.groups))[0]
        return Valued.of_part(whole, self.change(whole), moved, places, at)


def part_of(
    columns: Sequence[np.ndarray],
    signed: np.ndarray,
    optional: Sequence[int],
    plan: PartPlan,
    width: int,
    threads: ThreadExecutor | None,
) -> Part:
    """The signed assignments, some, that have values in some columns. `width`: of a group."""
    group, left_out = columns[:width], None
    rows, counts = [*group, *(columns[arg] for arg in plan.args)], signed
    if optional:
        codes = missing_in([columns[column] for column in optional])
        kept = int(np.count_nonzero(codes != NULL_CODE))
        if kept < len(codes):
            gone = np.flatnonzero(codes == NULL_CODE)
            groups, net = net_changes([column.take(gone) for column in group], signed.take(gone))
            left_out = Lines(groups), net
            *rows, counts = _with_values(codes, [*rows, counts], kept)
    found, net, ascending = (
        by_groups(rows, counts, width, threads)
        if plan.by_groups and len(counts) and int(counts.min()) > 0
        else (*net_changes(rows, counts), True)
    )
    starts, moved = divided(found, net, width)
    groups = found[:width].take(starts, axis=1) if width else np.zeros((1, len(moved)), np.int64)
    return Part(found, net, plan.args, ascending, starts, (Lines(groups), moved), left_out)


def moved_by(parts: Mapping[tuple[int, ...], Part]) -> tuple[np.ndarray, np.ndarray]:
    """The groups of which some part tells, as a matrix, and by how many assignments each grows."""
    first, *others = parts.values()
    pieces = [first.groups]
    if first.left_out is not None:
        pieces.append(first.left_out)
    pieces += [(groups, np.zeros_like(moved)) for groups, moved in (each.groups for each in others)]
    groups, moved = supports_together(pieces)
    return as_matrix(groups, len(groups)), moved


def _with_values(codes: np.ndarray, columns: Sequence[np.ndarray], kept: int) -> np.ndarray:
    found = np.empty((len(columns), kept), np.int64)
    if kept:
        for column, into in zip(columns, found, strict=True):
            keep_values(codes, np.ascontiguousarray(column), into)
    return found
