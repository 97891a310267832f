# SPDX-License-Identifier: Apache-2.0
"""A body that is asked for all its satisfying assignments, and what is found of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lftj.join.access.gathering import Gathering, Making
from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.run.evaluate import Columns, Relations, plan_once
from lftj.join.run.parallel import Compact
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import record


@record(eq=False)
class BodyQuery:
    """The values of `needed` over all satisfying assignments of a rule's body, and how many of
    these each row stands for; without `count` every row counts once. Rows may repeat.

    `make`: of what they are gathered in, where no assignment is to be kept. `width`: without it
    rows come in any order; with it no group, the first so many of `needed`, is in two pieces.
    `least`: no more is asked for than the least value of each group. `compact`: makes the rows of a
    part fewer, as `chunks` asks for it.
    """

    rule: NormalRule
    needed: tuple[int, ...]
    relations: Relations
    context: Context
    count: bool = True
    make: Making[Any] | None = None
    width: int | None = None
    least: bool = False
    compact: Compact | None = None

    @cached_property
    def planned(self) -> tuple[RulePlan, Relations]:
        """The plan of a search, and what it reads. Made when a strategy asks for it."""
        return plan_once(
            self.rule, self.relations, self.context, needed=self.needed, count=self.count
        )

    @property
    def forced(self) -> bool:
        """True where the user told the variable order."""
        return self.rule.source in self.context.forced.orders

    def gathered(self, pieces: Iterable[np.ndarray]) -> Gathering:
        """Pieces of rows, as `chunks` gives them, in what `make` gives."""
        assert self.make is not None
        found = self.make(self.context.budget.check_memory)
        for piece in pieces:
            columns = dict(zip(self.needed, piece, strict=False))
            found.add(columns, piece.shape[1], piece[-1] if self.count else None)
        return found


class Found(NamedTuple):
    """Assignments: `gathered` in what was asked for, or all `rows` with their counts, or else in
    `pieces`, arrays of which the last row has the counts; a piece is overwritten by the next.
    """

    gathered: Any = None
    rows: tuple[Columns, np.ndarray] | None = None
    pieces: Iterator[np.ndarray] = iter(())

    def each(self) -> Iterator[tuple[Columns, np.ndarray]]:
        """The rows, or what there is in each piece."""
        if self.rows is not None:
            yield self.rows
        for piece in self.pieces:
            yield list(piece[:-1]), piece[-1]
