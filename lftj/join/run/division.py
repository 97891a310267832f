# SPDX-License-Identifier: Apache-2.0
"""Division of one evaluation: ranges of its leading variable, and of the second one below a heavy
key.

The *leading* variable is that of the first level that is searched; only constants stand before it.
Each atom whose key order begins with constants, the leading variable and the second one is narrowed
to a range of rows. That is said to the kernel by the state alone: the positions from which to which
the atom's part at the root is read. A run that has begun is *cut*: the ranges of its parts end with
the binding it stands at, and what comes behind goes to other parts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.plan import RulePlan
from lftj.join.run.assemble import Assembly
from lftj.join.run.log_buffer import Sink
from lftj.join.run.part_weights import PartWeights
from lftj.join.run.run import Run
from lftj.partition.split import KeyRange, SecondKeys, split
from lftj.program.normal_form import Value
from lftj.scantree import Tree
from lftj.scantree.bounds import after_prefix
from lftj.scantree.frozen import frozen

_LAST = 2**63 - 1


def leading_levels(plan: RulePlan) -> tuple[int, int | None] | None:
    """The level of the leading variable, and that of the second if it follows directly; None when
    something computed stands before them.
    """
    for number, level in enumerate(plan.levels):
        if level.value is None:
            following = number + 1
            searched = following < len(plan.levels) and plan.levels[following].value is None
            return number, following if searched else None
        if level.variable is not None or not isinstance(level.value, Value):
            return None
    return None


@frozen
class Narrowed:
    """An atom whose key order begins with constants (their codes are `prefix`) and then the leading
    or the second variable, or both.

    `root`, `leading` and `second` are where the state keeps the ranges of the parts of its first
    column and of those two variables.
    """

    tree: Tree
    prefix: tuple[int, ...]
    root: int
    leading: int | None
    second: int | None

    def bounds(self, part: KeyRange) -> tuple[int, int]:
        """The positions between which the rows of a part lie."""
        low: tuple[int, ...] | None = self.prefix
        high = after_prefix(self.prefix)
        if self.leading is not None:
            low, high = _narrowed(self.prefix, part.low, part.high)
        if self.second is not None and part.divides_key:
            assert part.low is not None
            low, high = _narrowed(
                (*self.prefix, part.low) if self.leading is not None else self.prefix,
                part.second_low,
                part.second_high,
            )
        first, last, _ = self.tree.positions(low or None, high)
        return first, last

    def end_of(self, *values: int) -> int:
        """The position behind the rows that have these values for the leading variable, the second
        one or both.
        """
        return self.tree.positions(None, after_prefix((*self.prefix, *values)))[1]


def _narrowed(
    prefix: tuple[int, ...], low: int | None, high: int | None
) -> tuple[tuple[int, ...], list[int] | None]:
    return prefix if low is None else (*prefix, low), after_prefix(prefix) if high is None else [
        *prefix,
        high,
    ]


class Division:
    """Division of one evaluation into about so many parts."""

    def __init__(
        self,
        assembly: Assembly,
        parts: int,
        leading: int,
        second: int | None,
        logged: bool = False,
    ):
        """The levels as `leading_levels` gives them.

        A part that is `logged` must reach the leading level: an atom that is narrowed at its root
        by what follows there would lack a value of a level before, and nothing would tell which
        values of the leading variable it lacks. So only ranges of that level are narrowed.
        """
        self.assembly = assembly
        self._most = parts
        self.leading = leading
        self._second = second
        plan = assembly.plan
        if logged or (not plan.count and plan.group_level <= leading + 1):
            # a search that stops at the first proof of each key has no use for pieces of keys
            self._second = None
        self._atoms = [self._narrowed(number, logged) for number in range(len(plan.atoms))]

    @property
    def possible(self) -> bool:
        """True when any atom can be narrowed."""
        return any(atom.leading is not None for atom in self._atoms)

    @property
    def _below(self) -> SecondKeys | None:
        return None if self._second is None else self.weights.below

    @cached_property
    def weights(self) -> PartWeights:
        """Estimated costs of the values of the leading variable."""
        return PartWeights(self.assembly, self.leading, self._second, self._most)

    def _narrowed(self, number: int, logged: bool) -> Narrowed:
        """One atom; one that is to be read whole is narrowed by nothing."""
        atom, prefix = self.assembly.plan.atoms[number], self.assembly.constants_of(number)
        words = [at.STATE_HEADER + at.PART_STATE * part for part in self.assembly.parts_of(number)]
        place = dict(zip(atom.levels, words, strict=True))
        if logged and prefix:
            return Narrowed(self.assembly.trees[number], (), words[0], None, None)
        second = None if self._second is None else place.get(self._second)
        return Narrowed(
            self.assembly.trees[number], prefix, words[0], place.get(self.leading), second
        )

    def worthwhile(self, run: Run, patience: int) -> bool:
        """Test for a run that is expected to take more than `patience` steps from its current
        key.
        """
        key = self._binding(run, self.leading)
        if key is None:
            return False
        done, left = self.weights.around(key)
        return left * run.steps > patience * done

    def ranges(self) -> list[KeyRange]:
        """The parts of a run from its beginning."""
        return split(*self.weights.behind(None), self._most, self._below)

    # ── dividing ──────────────────────────────────────────────────────────────────────────────────
    def cut(self, run: Run) -> list[KeyRange]:
        """Cut a run that has begun: the range it is left with and those of the parts behind it;
        nothing where it cannot be cut.
        """
        at_key = self._binding(run, self.leading)
        if at_key is None:
            return []
        key, rest = at_key, self._cut_below(run, at_key)
        for atom in self._atoms:
            if atom.leading is not None:
                run.state[atom.leading + at.LIMIT] = atom.end_of(key)
        run.keep_to_part()
        behind = after_prefix((key,))
        own = KeyRange(
            None, None if behind is None else behind[0], None, rest[0].second_low if rest else None
        )
        if behind is None:
            return [own, *rest]
        return [
            own,
            *rest,
            *split(*self.weights.behind(key), self._most, self._below, low=behind[0]),
        ]

    @staticmethod
    def _binding(run: Run, level: int) -> int | None:
        """The value of a level that a paused run stands at, if it has one and the level can be cut
        behind it.
        """
        state = run.state
        depth, phase = int(state[at.DEPTH]), int(state[at.PHASE])
        # a level that is just being searched stands behind its binding already
        if (
            run.status not in (at.PAUSED, at.FULL)
            or depth < level
            or (depth == level and phase != at.ADVANCE)
        ):
            return None
        return int(state[int(state[at.BINDINGS]) + level])

    def _cut_below(self, run: Run, key: int) -> list[KeyRange]:
        """Cut the run inside the key it stands at, when what is left of the key would outweigh a
        part: the pieces of that.
        """
        second = self._second
        # the tail may be done all at once, without bindings
        value = (
            None
            if second is None or second >= self.assembly.words[at.TAIL]
            else self._binding(run, second)
        )
        if value is None or value == _LAST:
            return []
        keys, weights = self.weights.below(key)
        keys, weights = keys[keys > value], weights[keys > value]
        fair = (self.weights.behind(key)[1].sum() + weights.sum()) / self._most
        if weights.sum() <= fair:
            return []
        for atom in self._atoms:
            if atom.second is not None:
                run.state[atom.second + at.LIMIT] = atom.end_of(
                    *((key, value) if atom.leading is not None else (value,))
                )
        pieces = split(keys, weights, int(-(-weights.sum() // fair)), low=value + 1)
        after = key + 1 if key < _LAST else None
        return [KeyRange(key, after, piece.low, piece.high, piece.weight) for piece in pieces]

    def state(self, part: KeyRange) -> np.ndarray:
        """The state at the beginning of a part."""
        state = self.assembly.fresh_state()
        for atom in self._atoms:
            first, last = atom.bounds(part)
            state[atom.root + at.START] = first
            state[atom.root + at.LIMIT] = last
        return state

    def within(self, part: KeyRange, sink: Sink) -> Sink:
        """A sink for a part's records: what the leading level depends on is cut to the part's own
        range.

        A part that has no further value depends on all up to +∞; but what lies outside its range
        other parts vouch for.
        """
        leading = np.array([channel.level == self.leading for channel in self.assembly.channels])

        def cut(records: np.ndarray) -> None:
            chosen = leading[records[at.LOG_CHANNEL]]
            if part.low is not None:
                np.maximum(records[at.LOG_LOW], part.low, out=records[at.LOG_LOW], where=chosen)
            if part.high is not None:
                np.minimum(
                    records[at.LOG_HIGH], part.high - 1, out=records[at.LOG_HIGH], where=chosen
                )
            sink(records)

        return cut
