# SPDX-License-Identifier: Apache-2.0
"""Estimated costs of the values of a rule's leading variable, so that parts come out alike.

Statistics by column tell how large a join is, but not where: on skewed data the work sits in a few
keys. So the estimate starts from rows: those of an atom that binds the leading variable and, if
there is one, the second too. Each row is followed through the other levels; where an atom's range
depends on one of these two variables alone, its size is taken, elsewhere an average. Large
relations are looked at by a sample. Only ratios matter, and a wrong estimate costs balance, never
an answer.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from lftj.join.plan.plan import PlannedAtom
from lftj.join.run.assemble import Assembly
from lftj.partition.split import Keys, Weights
from lftj.scantree import Tree
from lftj.scantree.bounds import after_prefix

_GALLOP = (
    16.0  # a range that stays is tested by a bitmap unless the other one is this many times longer
)
_WIDE = 4  # a domain this many times wider than the number of rows is searched instead of indexed


_MOST = 1e200  # where estimates stop: ∞ · 0 has no value
_WEIGHED_ROWS = 2048
"""Rows for each part that tell what parts cost: a few per cent of balance against reading, of which
a row takes longer than a kernel step.
"""


class _Driver(NamedTuple):
    """The rows that the estimate starts from: the leading column and the second, if the atom has
    it.
    """

    atom: int
    leading: np.ndarray
    second: np.ndarray | None


class PartWeights:
    """Estimated work by leading key, and by second key below one leading key."""

    def __init__(self, assembly: Assembly, leading: int, second: int | None, parts: int):
        """`parts`: how many there are to be at most, which says how many rows are enough to start
        from.
        """
        self._assembly = assembly
        self._plan = assembly.plan
        self._leading = leading
        self._second = second
        self._enough = parts * _WEIGHED_ROWS
        self._read: dict[tuple[int, tuple[int, ...]], list[np.ndarray]] = {}
        self._driver = self._choose_driver()

    def behind(self, key: int | None) -> tuple[Keys, Weights]:
        """The leading keys greater than `key`, all if it is None, and what each costs."""
        keys, ends, sums = self._by_key
        first = 0 if key is None else int(np.searchsorted(keys, key, side="right"))
        return keys[first:], np.diff(sums[ends[first:]])

    def below(self, key: int) -> tuple[Keys, Weights]:
        """The values of the second variable below a leading key, and what each costs; none where no
        atom has both.
        """
        if self._driver.second is None:
            return self._second_alone
        first, last = np.searchsorted(
            self._driver.leading, [key, key + 1 if key < 2**63 - 1 else key]
        )
        last = last if key < 2**63 - 1 else len(self._driver.leading)
        values = self._driver.second[first:last]
        starts = _run_starts(values)
        ends = np.append(starts, last - first)
        sums = np.concatenate(([0.0], np.cumsum(self._weights[first:last])))
        return values[starts], np.diff(sums[ends])

    def around(self, key: int) -> tuple[float, float]:
        """Costs of the keys up to this one, and of those behind it; the key itself counts on both
        sides.
        """
        keys, ends, sums = self._by_key
        return float(sums[ends[np.searchsorted(keys, key, side="right")]]), float(
            sums[-1] - sums[ends[np.searchsorted(keys, key)]]
        )

    @cached_property
    def _by_key(self) -> tuple[Keys, np.ndarray, np.ndarray]:
        """The distinct leading keys, where the rows of each begin (and the end), and the running
        sums of the rows' weights.
        """
        leading = self._driver.leading
        starts = _run_starts(leading)
        return (
            leading[starts],
            np.append(starts, len(leading)),
            np.concatenate(([0.0], np.cumsum(self._weights))),
        )

    @cached_property
    def _second_alone(self) -> tuple[Keys, Weights]:
        """Values of the second variable where it does not depend on the leading one, all taken to
        cost the same.
        """
        assert self._second is not None
        for number, atom in enumerate(self._plan.atoms):
            if self._second in atom.levels and self._leading not in atom.levels:
                column, counts = self._sizes(number, atom.levels.index(self._second))
                return column, counts.astype(np.float64)
        return np.empty(0, np.int64), np.empty(0)

    # ── the rows to start from ────────────────────────────────────────────────────────────────────
    def _choose_driver(self) -> _Driver:
        """The rows of the smallest atom with both variables, else of the smallest with the leading
        one.
        """
        trees = self._assembly.trees
        fitting = [
            number for number, atom in enumerate(self._plan.atoms) if self._leading in atom.levels
        ]
        both = [
            number
            for number in fitting
            if self._second is not None and self._second in self._plan.atoms[number].levels
        ]
        number = min(both or fitting, key=lambda number: trees[number].count)
        column = self._plan.atoms[number].levels.index(self._leading)
        columns = self._rows(number)
        return _Driver(number, columns[column], columns[column + 1] if number in both else None)

    def _rows(self, number: int) -> list[np.ndarray]:
        """The rows of an atom that agree with its constants, or a sample of them."""
        tree: Tree = self._assembly.trees[number]
        prefix = self._assembly.constants_of(number)
        known = (id(tree), prefix)
        if known not in self._read:
            columns = (
                tree.range(prefix, after_prefix(prefix)) if prefix else tree.sample(self._enough)
            )
            self._read[known] = [
                column[:: max(1, len(column) // self._enough)] for column in columns
            ]
        return self._read[known]

    def _sizes(self, number: int, column: int) -> tuple[Keys, np.ndarray]:
        """The distinct values of a column that stands behind constants only, and the rows below
        each.
        """
        values = self._rows(number)[column]
        starts = _run_starts(values)
        scale = max(1.0, self._assembly.trees[number].count / max(1, len(values)))
        return values[starts], np.diff(np.append(starts, len(values))) * scale

    # ── following them through the levels ─────────────────────────────────────────────────────────
    @cached_property
    def _weights(self) -> Weights:
        driver = self._driver
        found = driver.leading if driver.second is None else driver.second
        bindings = np.ones(len(found))
        weights = np.ones(len(found))
        last = self._leading if driver.second is None or self._second is None else self._second
        growth = self._growth()
        for level in range(last + 1, len(self._plan.levels)):
            if self._plan.levels[level].value is not None:
                weights += bindings
                continue
            sizes = self._ranges(level)
            if sizes is None:
                weights += bindings * max(growth[level], 1.0)
                bindings = np.minimum(bindings * growth[level], _MOST)
                continue
            weights += bindings * sizes
            bindings = (
                bindings * np.minimum(sizes, max(growth[level], 1.0))
                if level + 1 < len(self._plan.levels)
                else bindings
            )
        return weights

    def _growth(self) -> list[float]:
        """Per level how many bindings the planner expects for each binding of the levels before."""
        growth = [1.0] * len(self._plan.levels)
        before = 1.0
        expected = dict(zip(self._plan.choice.order, self._plan.choice.bindings, strict=False))
        for number, level in enumerate(self._plan.levels):
            if level.value is None and level.variable in expected:
                growth[number] = expected[level.variable] / before if before > 0 else 1.0
                before = max(expected[level.variable], 1e-9)
        return growth

    def _ranges(self, level: int) -> np.ndarray | None:
        """The size of the smallest range at a level as far as it is known for each row; None when
        no range is.
        """
        least: np.ndarray | None = None
        for number, atom in enumerate(self._plan.atoms):
            if level not in atom.levels:
                continue
            bound = self._bound_by(atom, level)
            if bound is None:
                continue
            column = atom.levels.index(bound)
            values = self._driver.leading if bound == self._leading else self._driver.second
            assert values is not None
            sizes = _look_up(values, *self._sizes(number, column)).astype(np.float64)
            if atom.levels[atom.levels.index(level) - 1] < level - 1:
                sizes *= _GALLOP
            least = sizes if least is None else np.minimum(least, sizes)
        return least

    def _bound_by(self, atom: PlannedAtom, level: int) -> int | None:
        """The one variable, leading or second, that an atom's range at a level depends on beside
        constants.
        """
        before = [bound for bound in atom.levels if self._leading <= bound < level]
        known = (self._leading,) if self._driver.second is None else (self._leading, self._second)
        return before[0] if len(before) == 1 and before[0] in known else None


def _run_starts(values: np.ndarray) -> np.ndarray:
    """Position at which each value of an ascending array begins."""
    if not len(values):
        return np.empty(0, np.int64)
    return np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1))


def _look_up(values: np.ndarray, keys: Keys, sizes: np.ndarray) -> np.ndarray:
    """The size of each value's key, 0 where it is none. O(n), O(n log keys) when the keys lie far
    apart.
    """
    if not len(keys):
        return np.zeros(len(values), np.int64)
    low, high = int(keys[0]), int(keys[-1])
    if high - low <= _WIDE * (len(values) + len(keys)):
        table = np.zeros(high - low + 2, np.int64)
        table[keys - low] = sizes
        inside = (values >= low) & (values <= high)
        return table[np.where(inside, values - low, high - low + 1)]
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where(keys[place] == values, sizes[place], 0)
