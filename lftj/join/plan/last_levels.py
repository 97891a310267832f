# SPDX-License-Identifier: Apache-2.0
"""Last levels of a plan that the kernel does at once instead of searching them one below the other
(`last_level_kernels` and its like).

Where a search comes to the last columns of one atom, the rows that are left come out as they lie,
or are counted. Two levels that do not depend on one another come out side by side, and a level just
before all this is merged with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lftj.join.plan.plan import RulePlan


class LastLevels:
    """Levels done at once in runs of a plan. `parts`: the (atom, column) pairs of each level;
    `logged`: whether runs log it.
    """

    def __init__(
        self, plan: RulePlan, parts: Sequence[Sequence[tuple[int, int]]], logged: Sequence[bool]
    ):
        self._plan, self._parts, self._logged = plan, parts, logged
        self.side_by_side = self._are_side_by_side()
        """True when each of the last two levels reads out one part, neither range depends on the
        other's value, and all pairs come out.
        """
        self.searched = self._searched()
        """Number of levels that the kernel searches."""
        self.tail, self.merged = self._read_out()
        """The level from which on all are done at once, and the one that is merged with what is
        read out, or −1.
        """

    def _read_alone(self, number: int) -> tuple[int, int] | None:
        """The one (atom, column) that is read at a level at which nothing is computed or tested."""
        level, parts = self._plan.levels[number], self._parts[number]
        return parts[0] if level.plain and len(parts) == 1 else None

    def _are_side_by_side(self) -> bool:
        plan, count = self._plan, len(self._plan.levels)
        if count < 2 or plan.emit_level < count or plan.least or any(self._logged[-2:]):
            return False
        before, last = self._read_alone(count - 2), self._read_alone(count - 1)
        if before is None or last is None:
            return False
        return (
            plan.atoms[last[0]].invariant(last[1])
            and before[1] == len(plan.atoms[before[0]].levels) - 1
        )

    def _searched(self) -> int:
        """Number of searched levels. Not searched are at most the last columns of one atom that
        nobody outputs or tests: each row in the range of the first of these is one proof, so they
        are counted at once. A search for one proof goes no further into any atom.
        """
        plan = self._plan
        if plan.decisive < len(plan.levels) and not any(self._logged[plan.decisive :]):
            return plan.decisive + 1
        last = len(plan.levels) - 1
        place = self._read_alone(last)
        if any(self._logged) or place is None or place[1] < len(plan.atoms[place[0]].levels) - 1:
            return last + 1
        while last > plan.emit_level and self._read_alone(last - 1) == (place[0], place[1] - 1):
            last, place = last - 1, (place[0], place[1] - 1)
        return last + 1

    def _read_out(self) -> tuple[int, int]:
        levels = self.searched
        if self._plan.emit_level < levels or self._plan.least:
            return levels - 1, -1
        tail = self._tail(levels)
        return tail, self._merged(levels - 3, levels) if self.side_by_side else self._merged(
            tail - 1, tail + 1
        )

    def _tail(self, levels: int) -> int:
        """The first of the levels that read the last columns of one atom, rows of which come out as
        they lie; the last level if none do.

        The first level that is searched is not among them: where its keys end a run can be divided.
        """
        tail, place = levels - 1, self._read_alone(levels - 1)
        first = next(
            (number for number, level in enumerate(self._plan.levels) if level.value is None), 0
        )
        while (
            place
            and tail > first + 1
            and not self._logged[tail - 1]
            and self._read_alone(tail - 1) == (place[0], place[1] - 1)
        ):
            tail, place = tail - 1, (place[0], place[1] - 1)
        return tail

    def _merged(self, level: int, end: int) -> int:
        """Test for a level at which two parts meet that each end or go on in one of the levels
        before `end`, which are read out; the level, or −1.
        """
        if (
            level < 0
            or any(self._logged[level:])
            or len(self._parts[level]) != 2
            or not self._plan.levels[level].plain
        ):
            return -1
        read_out = [self._read_alone(number) for number in range(level + 1, end)]
        following = [
            (atom, column + 1)
            for atom, column in self._parts[level]
            if column + 1 < len(self._plan.atoms[atom].levels)
        ]
        return (
            level
            if None not in read_out and following and all(part in read_out for part in following)
            else -1
        )
