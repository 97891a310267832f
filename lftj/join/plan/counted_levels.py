# SPDX-License-Identifier: Apache-2.0
"""Levels of a plan from which on proofs are counted once for all bindings of the levels before that
agree where it matters (`kept_count_kernels`) [Kalinsky 2017].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lftj.join.plan.kept_keys import FIRST_COUNTED, LONGEST_KEY, MOST_COUNTED
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.variable_orders import variables_of
from lftj.program.arithmetic import comparison_may_fail, may_fail
from lftj.program.normal_form import Expression, Ref


class CountedLevels:
    """Levels whose counts are kept, among the `searched` ones. `parts`: the (atom, column) pairs of
    each level, as they are numbered.
    """

    def __init__(self, plan: RulePlan, parts: Sequence[Sequence[tuple[int, int]]], searched: int):
        self._plan, self._parts, self._searched = plan, parts, searched
        count = len(plan.levels)
        self.key_levels: list[int] = []
        """The levels of all keys, one key behind the other."""
        self.keys: list[tuple[int, int]] = [(-1, -1)] * count
        """Begin and end of the key of each level among these; −1 where counts are not kept."""
        self.passing: list[int | None] = [None] * count
        """The number, within each level, of the part whose values are passed over while counts are
        known.
        """
        self.longest_key = 0
        if plan.count and not plan.least and count <= MOST_COUNTED:
            self._find()
        self.first = next((i for i, key in enumerate(self.keys) if key[0] >= 0), count + 2)
        """The first level whose counts are kept; a number that no level has if there is none."""

    def _expressions(self, number: int) -> Iterable[Expression]:
        """Expressions that are evaluated at a level."""
        level = self._plan.levels[number]
        if level.value is not None:
            yield level.value
        for condition in level.filters:
            yield from (condition.left, condition.right)
        for probe in level.probes:
            yield from (each for each in self._plan.probes[probe].args if isinstance(each, Ref))

    def _find(self) -> None:
        levels = self._plan.levels
        self._place = {
            level.variable: i for i, level in enumerate(levels) if level.variable is not None
        }
        self._read = [
            [
                self._place[v]
                for expression in self._expressions(number)
                for v in variables_of(expression)
            ]
            for number in range(len(levels))
        ]
        found: list[tuple[int, set[int]]] = []
        leading = next((i for i, each in enumerate(self._plan.levels) if each.value is None), 0)
        first = max(leading + FIRST_COUNTED, self._plan.emit_level)
        for level in range(first, self._searched):
            key = self._key(level)
            if (
                len(key) > LONGEST_KEY
                or not self._comes_again(level, key)
                or any(self._once(level, key, *other) for other in found)
                or not self._dear(level)
            ):
                continue
            found.append((level, key))
            if level - 1 in key:
                self.passing[level - 1] = self._passing(level - 1, key)
            begin = len(self.key_levels)
            self.key_levels += sorted(key)
            self.keys[level] = begin, len(self.key_levels)
            self.longest_key = max(self.longest_key, len(key))

    def _key(self, level: int) -> set[int]:
        """The levels before that decide what is found from a level on."""
        found = {before for each in self._read[level:] for before in each}
        for atom in self._plan.atoms:
            if atom.levels[-1] >= level:
                found.update(atom.levels)
        return {key for before in found if before < level for key in self._decides(before)}

    def _decides(self, level: int) -> set[int]:
        """The level with the value of another: none for a constant, the first occurrence of a
        variable for a further one.
        """
        about = self._plan.levels[level]
        if about.value is None or about.variable is not None:
            return {level}
        return {self._place[v] for v in variables_of(about.value)}

    def _comes_again(self, level: int, key: set[int]) -> bool:
        """Test for a level before with several values for which the key is the same."""
        return any(
            self._plan.levels[before].value is None for before in range(level) if before not in key
        )

    def _once(self, level: int, key: set[int], before: int, other: set[int]) -> bool:
        """Test for a key that comes once only where that of a level before comes once."""
        between = {each for each in range(before, level) if self._plan.levels[each].value is None}
        return key >= other | between

    def _dear(self, level: int) -> bool:
        """Test for more than the number of rows in one range, and for proofs that cannot fail."""
        levels = self._plan.levels[level:]
        alone = level == self._searched - 1 and len(self._parts[level]) == 1 and levels[0].plain
        fails = any(
            (each.value is not None and may_fail(each.value))
            or any(map(comparison_may_fail, each.filters))
            for each in levels
        )
        return not alone and not fails

    def _passing(self, level: int, key: set[int]) -> int | None:
        """The only part of a level that depends on more than the key, if its values are distinct,
        and nothing is computed or tested there.
        """
        plan = self._plan
        if level < plan.emit_level or not plan.levels[level].plain:
            return None
        others = [
            number
            for number, (atom, column) in enumerate(self._parts[level])
            if not self._decided(plan.atoms[atom].levels[:column]) <= key
        ]
        if len(others) != 1:
            return None
        atom, column = self._parts[level][others[0]]
        return others[0] if column == len(plan.atoms[atom].levels) - 1 else None

    def _decided(self, levels: Iterable[int]) -> set[int]:
        return {key for level in levels for key in self._decides(level)}
