# SPDX-License-Identifier: Apache-2.0
"""Plan of one rule for the kernel: one level per variable in the chosen order, and for each level
the atoms that take part, the computation and the tests.

Everything that is not a plain variable is a level too, with a computed value: a constant argument
stands first, the second occurrence of a variable in one atom directly after the first. So the
kernel knows one thing only, levels. `planner` makes plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Protocol

from lftj.join.plan.order_choice import Choice
from lftj.program.normal_form import Expression, Filter, NormalRule, Ref, Value
from lftj.scantree.frozen import frozen, record
from lftj.storage.relation import Order


@record
class Level:
    """One level. `value` computes it; otherwise the atoms' columns leapfrog. `variable` is None for
    constants and repeated occurrences.
    """

    name: str
    variable: int | None
    value: Expression | None = None
    filters: list[Filter] = field(default_factory=list)
    probes: list[int] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        """True when nothing is computed or tested here."""
        return self.value is None and not self.filters and not self.probes


@frozen
class PlannedAtom:
    """An atom, the key order it reads, and the level of each column of that order.

    `valued`: rows with NULL in the first column of the order are not read. NULL is the least value,
    so reading begins behind these rows, and no value has to be tested.
    """

    relation: str
    order: Order
    levels: tuple[int, ...]
    valued: bool = False

    def invariant(self, column: int) -> bool:
        """Test for a column whose values do not depend on the level before its own, so that they
        are the same for all values there.
        """
        return column == 0 or self.levels[column - 1] < self.levels[column] - 1


@frozen
class PlannedProbe:
    """A negated atom: the key order, and what its leading columns are looked up with."""

    relation: str
    order: Order
    args: tuple[Ref | Value, ...]


class Leveled(Protocol):
    """A rule whose variables have levels."""

    @property
    def rule(self) -> NormalRule:
        """The rule."""
        ...

    @property
    def levels(self) -> Sequence[Level]:
        """One for each variable."""
        ...


@frozen
class RulePlan:
    """Plan of one rule, before it is given trees.

    One row comes out per binding of the levels before `emit_level`; its columns are the levels
    `outputs`, and with `count` the number of proofs. With `least` the last of these levels has, for
    each binding of those before it, its least value only.
    """

    rule: NormalRule
    choice: Choice
    levels: tuple[Level, ...]
    atoms: tuple[PlannedAtom, ...]
    probes: tuple[PlannedProbe, ...]
    emit_level: int
    outputs: tuple[int, ...]
    count: bool
    least: bool = False

    @property
    def group_level(self) -> int:
        """The level behind those of which each binding has rows, or with `least` one row."""
        return self.emit_level - self.least

    @property
    def variable_order(self) -> tuple[str, ...]:
        """The variables' names in the chosen order."""
        return tuple(self.rule.variables[v].name for v in self.choice.order)

    @cached_property
    def decisive(self) -> int:
        """Number of levels that decide if there is a proof; all of them where proofs are counted.

        Behind them each level reads one further column of one atom, and nothing is tested: the rows
        with the columns before have some value there, whichever.
        """
        columns: list[list[int]] = [[] for _ in self.levels]
        for atom in self.atoms:
            for column, level in enumerate(atom.levels):
                columns[level].append(column)
        last = len(self.levels)
        while (
            not self.count
            and last > self.emit_level
            and self.levels[last - 1].plain
            and len(columns[last - 1]) == 1
        ):
            if columns[last - 1] == [0]:
                break  # whether the relation has a row at all
            last -= 1
        return last

    @property
    def probed(self) -> float:
        """About how often a search asks whether a negated atom has a row."""
        sizes, bindings, probed = (
            dict(zip(self.choice.order, self.choice.bindings, strict=False)),
            1.0,
            0.0,
        )
        for level in self.levels:
            bindings = bindings if level.variable is None else sizes.get(level.variable, bindings)
            probed += bindings * len(level.probes)
        return probed

    def key_orders(self) -> Iterable[tuple[str, Order]]:
        """The (relation, key order) pairs that the plan reads."""
        for atom in (*self.atoms, *self.probes):
            yield atom.relation, atom.order
