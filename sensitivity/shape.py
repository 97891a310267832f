# SPDX-License-Identifier: Apache-2.0
"""The shape of a rule's body: its levels, and the level at which each key column of each atom takes
part. its levels, and at which level each key column of each atom takes part.

A body is evaluated by leapfrog triejoin: one *level* per variable, and further levels for constants
and repeated variables, whose value is computed. Column c of an atom, at level d, is a *position*.
Under its earlier columns' bindings α the atom is a set of values for that level, and what a run
asked of that set depends, beside α, on the bindings γ of the other levels before d. Computed levels
are left out of γ: they say nothing that the levels they are computed from do not say.

Where γ is empty, a change of the atom names all that the level depends on by itself, and no index
is needed [LFTJ-IVM 4.2]. That holds for a negated atom too: a row that appears or vanishes names
the whole context of its last level, so the region is known without a look-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from lftj.scantree.frozen import frozen


@frozen(slots=True)
class Constant:
    """A constant, by its int64 code."""

    code: int


Column = int | Constant
PositionKey = tuple[int, int]
Computed = Constant | int | None
"""Source of a computed level's value: a constant, an earlier level to copy, or (None) any other
function of earlier levels.
"""


@frozen(slots=True)
class AtomShape:
    """The level of each key column of an atom, in key order.

    Positive atoms take part in ascending levels; a constant or a second occurrence of a variable in
    them is a level of its own (see `BodyShape.computed`). Of a negated atom only the columns that
    are looked up are given; they may come in any order and repeat, and a constant among them is a
    `Constant`.
    """

    columns: tuple[Column, ...]
    negated: bool = False


@frozen(slots=True)
class Position:
    """One column of one atom, and how a surgery at it names levels.

    A surgery is a tuple of the atom's first `column + 1` key columns. It binds the levels `pinned`,
    the last of which is `level`, to its columns `sources`. It concerns the body only if columns
    paired in `equal` agree and those in `fixed` have the given codes.
    """

    atom: int
    column: int
    level: int
    negated: bool
    pinned: tuple[int, ...]
    sources: tuple[int, ...]
    gamma: tuple[int, ...]
    equal: tuple[tuple[int, int], ...] = ()
    fixed: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> PositionKey:
        """(atom, column), by which indices are kept."""
        return self.atom, self.column

    @property
    def alpha(self) -> tuple[int, ...]:
        """The levels of the atom's other columns, ascending."""
        return self.pinned[:-1]

    @property
    def prefix(self) -> bool:
        """True when a surgery names its region without an index."""
        return not self.gamma


@frozen
class BodyShape:
    """A body of `levels` levels. From level `exists_from` on the search stops at the first proof;
    `levels` when every proof counts.

    `computed` has an entry for every level whose value is computed. ValueError for a column at a
    level that there is not, or positive atoms whose levels do not ascend.
    """

    levels: int
    atoms: tuple[AtomShape, ...]
    exists_from: int
    computed: Mapping[int, Computed] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for number, atom in enumerate(self.atoms):
            at = [column for column in atom.columns if isinstance(column, int)]
            if any(not 0 <= level < self.levels for level in at):
                raise ValueError(
                    f"atom {number} takes part at levels {at}, but there are {self.levels}"
                )
            if not atom.negated and (
                len(at) < len(atom.columns) or any(a >= b for a, b in pairwise(at))
            ):
                raise ValueError(
                    f"atom {number} is not negated, so its columns must be at ascending levels: "
                    f"{atom.columns}"
                )
        if not 0 <= self.exists_from <= self.levels:
            raise ValueError(f"exists_from is {self.exists_from}, not 0 … {self.levels}")

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """Every position a surgery can be at: each column of a positive atom, the last of a negated
        one.
        """
        found: list[Position] = []
        for number, atom in enumerate(self.atoms):
            if atom.negated:
                found.append(self._negated(number, atom))
            else:
                found += [
                    self._positive(number, atom, column) for column in range(len(atom.columns))
                ]
        return tuple(found)

    @cached_property
    def by_key(self) -> Mapping[PositionKey, Position]:
        """The positions by (atom, column)."""
        return {position.key: position for position in self.positions}

    @property
    def indexable(self) -> tuple[Position, ...]:
        """The positions that an index can be kept for: those that are not prefixes
        [LFTJ-IVM 4.2].
        """
        return tuple(position for position in self.positions if not position.prefix)

    def _gamma(self, pinned: tuple[int, ...], level: int) -> tuple[int, ...]:
        return tuple(
            other for other in range(level) if other not in pinned and other not in self.computed
        )

    def _positive(self, number: int, atom: AtomShape, column: int) -> Position:
        pinned = tuple(level for level in atom.columns[: column + 1] if isinstance(level, int))
        equal: list[tuple[int, int]] = []
        fixed: list[tuple[int, int]] = []
        for c, level in enumerate(pinned):
            value = self.computed.get(level)
            if isinstance(value, Constant):
                fixed.append((c, value.code))
            elif value is not None and value in pinned[:c]:
                equal.append((pinned.index(value), c))
        level = pinned[-1]
        gamma = self._gamma(pinned, level)
        return Position(
            number,
            column,
            level,
            False,
            pinned,
            tuple(range(column + 1)),
            gamma,
            tuple(equal),
            tuple(fixed),
        )

    def _negated(self, number: int, atom: AtomShape) -> Position:
        first: dict[int, int] = {}
        equal: list[tuple[int, int]] = []
        fixed: list[tuple[int, int]] = []
        for c, column in enumerate(atom.columns):
            if isinstance(column, Constant):
                fixed.append((c, column.code))
            elif column in first:
                equal.append((first[column], c))
            else:
                first[column] = c
        pinned = tuple(sorted(first))
        level = pinned[-1] if pinned else 0
        sources = tuple(first[at] for at in pinned)
        return Position(
            number,
            len(atom.columns) - 1,
            level,
            True,
            pinned,
            sources,
            self._gamma(pinned, level),
            tuple(equal),
            tuple(fixed),
        )
