# SPDX-License-Identifier: Apache-2.0
"""State that an aggregated head keeps besides its groups, and the changes that reach it: the
contract between a head and the state of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple, Protocol

import numpy as np

from lftj.heads.aggregate_shape import CallShape
from lftj.heads.ends import End
from lftj.heads.text_order import TextOrder
from lftj.scantree import Tree
from lftj.scantree.frozen import frozen, record
from lftj.storage.delta import Columns


@record(slots=True)
class Work:
    """Tree pages opened by an update."""

    pages: int = 0

    def count(self, tree: Tree, rows: int) -> None:
        """A look-up or a change of so many rows: a path for each."""
        self.pages += (tree.height + 1) * rows


class Bag(NamedTuple):
    """Doubles in runs, as codes with counts, run r being [starts[r], starts[r + 1]): all values of
    a column by groups, or far fewer with the same exact sums.
    """

    codes: np.ndarray
    counts: np.ndarray
    starts: np.ndarray


@frozen(slots=True)
class GroupTotals:
    """Groups in ascending order, as a matrix of columns × groups (one line of zeros without group
    columns), the number of assignments of each, and what their columns come to.

    By column: `integers`, words of exact totals (`lftj.heads.integer_sum.Totals`); `floats`;
    `extremes`, the columns of the row at each end. `values`: of optional columns, the number of
    assignments without NULL in them.
    """

    groups: np.ndarray
    counts: np.ndarray
    integers: Mapping[int, tuple[np.ndarray, np.ndarray]]
    floats: Mapping[int, Bag]
    extremes: Mapping[End, Columns]
    values: Mapping[tuple[int, ...], np.ndarray] = field(default_factory=dict)


class GroupChange(NamedTuple):
    """A net change of assignments, by groups; everything ascends.

    `rows` (the columns of the group, then those numbered `args`, × m) and `net` (m counts, none 0)
    are what changed, group g being [starts[g], starts[g + 1]). `groups` (columns × n) are the
    affected groups, one column of zeros when the head has no group columns; `before` (values × n)
    what the head's tree holds of them, zeros for a new group; `sizes` how many assignments each has
    afterwards. `first`: there were no groups, so `rows` are all. `order` knows all texts among the
    rows that stand in order; `name` calls a group in messages. Not `ascending`: inside a group rows
    are in any order and may repeat. `totals`: of the rows, where these were not kept.
    """

    rows: np.ndarray
    args: tuple[int, ...]
    net: np.ndarray
    starts: np.ndarray
    groups: np.ndarray
    before: list[np.ndarray]
    sizes: np.ndarray
    first: bool
    order: TextOrder | None
    name: Callable[[int], str]
    work: Work
    ascending: bool = True
    totals: GroupTotals | None = None

    def column(self, number: int) -> np.ndarray:
        """A column of the rows by its number among all: of the group, or one of `args`."""
        width = len(self.rows) - len(self.args)
        return self.rows[width + self.args.index(number) if number in self.args else number]

    def floats(self, arg: int) -> Bag:
        """Values of a float column, or fewer with the same sums."""
        if self.totals is not None:
            return self.totals.floats[arg]
        return Bag(self.column(arg), self.net, self.starts)

    @property
    def divisors(self) -> np.ndarray:
        """The sizes, 1 for a group that is gone."""
        return np.maximum(self.sizes, 1)


class Advance(NamedTuple):
    """A state after a change, the columns it keeps in the head's tree (one value per affected
    group), and the results of its calls there.

    `results` may raise ValueRangeError. What it says of groups without assignments has no meaning.
    """

    state: Kept
    columns: list[np.ndarray]
    results: Callable[[CallShape], np.ndarray]


class Kept(Protocol):
    """The state of one or more calls of a head. Immutable: `advanced` makes the next one."""

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes by what they are kept for, without the pages' free room."""
        ...

    def advanced(self, change: GroupChange) -> Advance:
        """The state after a change."""
        ...
