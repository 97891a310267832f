# SPDX-License-Identifier: Apache-2.0
"""Assembly of a plan and a database to the two int64 arrays that the kernel runs on
(`layout_kernels` has the layout).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain

import numpy as np

from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels.kept_count_kernels import HEAD
from lftj.join.plan import comparison_bounds
from lftj.join.plan.counted_levels import CountedLevels
from lftj.join.plan.expression_code import ExpressionCode
from lftj.join.plan.last_levels import LastLevels
from lftj.join.plan.plan import RulePlan
from lftj.join.run.log_buffer import NOTHING, Channel, Logged, number_channels
from lftj.program.arithmetic import may_fail
from lftj.program.normal_form import Apply, Filter, Ref, Value
from lftj.scantree import Tree
from lftj.storage.relation import RelationVersion
from lftj.types import encode_constant
from lftj.types.dictionary import Dictionary

_ROOM_FOR_STACK = 64


class Assembly:
    """The arrays of one plan over one database. Holds the trees it reads, so that their pages stay
    while a run lasts.
    """

    def __init__(
        self,
        plan: RulePlan,
        relations: Mapping[str, RelationVersion],
        dictionary: Dictionary,
        logged: Logged = NOTHING,
        *,
        keep_counts: bool = True,
    ):
        self.plan = plan
        self.dictionary = dictionary
        self._read(relations)
        self._code = ExpressionCode(plan, dictionary)
        self._parts = self._number_parts()
        self._part_number = {
            part: number for number, part in enumerate(chain.from_iterable(self._parts))
        }
        self._channels = number_channels(plan, self._parts, logged)
        self.channels: list[Channel] = [
            channel for channels in self._channels for channel in channels
        ]
        self._number = {
            (channel.kind, channel.atom, channel.column): i
            for i, channel in enumerate(self.channels)
        }
        self._last = LastLevels(
            plan, self._parts, [len(channels) > 0 for channels in self._channels]
        )
        self._counted = CountedLevels(
            plan, self._parts, self._last.searched if keep_counts and not self.channels else 0
        )
        self._log_from = logged.log_from if self.channels else len(plan.levels)
        self.words = self._assemble()

    def _read(self, relations: Mapping[str, RelationVersion]) -> None:
        self.trees: list[Tree] = [
            relations[atom.relation].tree(atom.order) for atom in self.plan.atoms
        ]
        self._probe_trees: list[Tree] = [
            relations[probe.relation].tree(probe.order) for probe in self.plan.probes
        ]
        self.empty = any(len(tree) == 0 for tree in self.trees)

    def without_trees(self) -> Assembly:
        """The same to be kept, without the pages of any version: only good for `over`."""
        kept = copy(self)
        kept.trees, kept._probe_trees = [], []
        return kept

    def over(self, relations: Mapping[str, RelationVersion]) -> Assembly:
        """The same plan over other versions of the relations: only the roots differ. A fifth of the
        time that assembling it takes.
        """
        other = copy(self)
        other.__dict__.pop("words_of_parts", None)
        other._read(relations)
        words = other.words = self.words.copy()
        record = int(words[at.PART_TABLE])
        for atom, _ in self._part_number:
            words[record + at.PART_ROOT], words[record + at.PART_HEIGHT] = (
                other.trees[atom].root,
                other.trees[atom].height,
            )
            record += at.PART_RECORD
        record = int(words[at.PROBE_TABLE])
        for tree in other._probe_trees:
            words[record + at.PROBE_ROOT], words[record + at.PROBE_HEIGHT] = tree.root, tree.height
            record += at.PROBE_RECORD
        return other

    def _number_parts(self) -> list[list[tuple[int, int]]]:
        """Per level its parts as (atom, column), the invariant ones first."""
        levels: list[list[tuple[int, int]]] = [[] for _ in self.plan.levels]
        for number, atom in enumerate(self.plan.atoms):
            for column, level in enumerate(atom.levels):
                levels[level].append((number, column))
        for parts in levels:
            if len(parts) > 1:
                parts.sort(key=lambda part: not self.plan.atoms[part[0]].invariant(part[1]))
        return levels

    def parts_of(self, atom: int) -> list[int]:
        """The numbers of an atom's parts."""
        return [number for (owner, _), number in self._part_number.items() if owner == atom]

    def constants_of(self, atom: int) -> tuple[int, ...]:
        """The codes of the constants that an atom's key order begins with."""
        codes: list[int] = []
        for level in self.plan.atoms[atom].levels:
            value = self.plan.levels[level].value
            if not isinstance(value, Value):
                break
            codes.append(encode_constant(value.type, value.value, self.dictionary))
        return tuple(codes)

    # ── the plan's words ──────────────────────────────────────────────────────────────────────────
    def _assemble(self) -> np.ndarray:
        plan, number = self.plan, self._part_number
        levels, filters = self._level_records()
        parts: list[int] = []
        for atom, column in number:
            tree = self.trees[atom]
            parts += (
                tree.root,
                tree.height,
                column,
                number.get((atom, column + 1), -1),
                self._number.get(("atom", atom, column), -1),
                int(column == 0 and plan.atoms[atom].valued),
            )
        probes, arguments = self._probe_records()
        channels = [word for channel in self.channels for word in (channel.mode, channel.level)]
        tables = [
            levels,
            parts,
            filters,
            probes,
            arguments,
            list(plan.outputs),
            channels,
            self._counted.key_levels,
            self._code.words,
        ]
        header = [0] * at.PLAN_HEADER
        header[at.LEVELS] = self._last.searched
        header[at.EMIT_LEVEL] = plan.emit_level
        header[at.SHORT_CIRCUIT] = 0 if plan.count else 2 if self._may_fail_below() else 1
        header[at.OUTPUTS] = len(plan.outputs)
        header[at.PARTS] = len(number)
        header[at.VALUED] = len(number) if any(atom.valued for atom in plan.atoms) else 0
        header[at.CHANNELS] = len(self.channels)
        header[at.LOG_FROM] = self._log_from
        header[at.GROUP_LEVEL] = plan.group_level
        header[at.TAIL], header[at.MERGED] = self._last.tail, self._last.merged
        header[at.COUNTED] = self._counted.first
        header[at.COUNT_WIDTH] = HEAD + self._counted.longest_key
        start = at.PLAN_HEADER
        for place, table in zip(range(at.LEVEL_TABLE, at.CODE_TABLE + 1), tables, strict=True):
            header[place] = start
            start += len(table)
        return np.array(header + list(chain.from_iterable(tables)), np.int64)

    def _may_fail_below(self) -> bool:
        """Test for arithmetic that may fail below a short circuit: failure must not depend on which
        proof comes first.
        """
        for level in self.plan.levels[self.plan.emit_level :]:
            if level.value is not None and may_fail(level.value):
                return True
            if any(
                may_fail(condition.left) or may_fail(condition.right) for condition in level.filters
            ):
                return True
        return False

    def _level_records(self) -> tuple[list[int], list[int]]:
        records: list[int] = []
        filters: list[int] = []
        first = channel = 0
        for number, level in enumerate(self.plan.levels):
            parts = self._parts[number]
            value = -1 if level.value is None else self._code.compute(level.value)
            reads = 0 if level.value is None else self._code.levels_read(level.value)
            filter_first = len(filters) // at.FILTER_RECORD
            # plain comparisons before arithmetic: a guard such as y != 0 spares a doubt about what
            # is divided by y
            for condition in sorted(
                level.filters, key=lambda f: isinstance(f.left, Apply) or isinstance(f.right, Apply)
            ):
                sides = self._code.levels_read(condition.left, condition.right)
                filters += [self._code.test(condition), -1, sides, *self._bounds(condition, number)]
            for probe in level.probes:
                filters += [-1, probe, self._code.levels_read(*self.plan.probes[probe].args), 0, -1]
            filter_last = len(filters) // at.FILTER_RECORD
            channel_last = channel + len(self._channels[number])
            fast = int(
                value < 0
                and filter_first == filter_last
                and len(parts) > 0
                and channel == channel_last
                and not self.plan.least
            )
            invariant = len(
                [column for atom, column in parts if self.plan.atoms[atom].invariant(column)]
            )
            leader = first + self._leader(parts)
            records += [
                first,
                first + len(parts),
                value,
                filter_first,
                filter_last,
                invariant,
                fast,
                channel,
                channel_last,
                leader,
                reads,
                0,
                *self._counted.keys[number],
                -1 if (passing := self._counted.passing[number]) is None else first + passing,
            ]
            first += len(parts)
            channel = channel_last
        if self._last.side_by_side:
            records[at.LEVEL_CROSS - 2 * at.LEVEL_RECORD] = 1
        return records, filters

    def _leader(self, parts: Sequence[tuple[int, int]]) -> int:
        """Choose the part that leads a level: one without a channel, or else the one with most
        columns before, as few contexts are logged for the same values of these. The beginning of a
        level is logged for its leader alone.
        """
        free = next(
            (i for i, part in enumerate(parts) if ("atom", *part) not in self._number), None
        )
        if not self._number or not parts or free is not None:
            return free or 0
        return max(range(len(parts)), key=lambda i: parts[i][1])

    def _bounds(self, condition: Filter, level: int) -> tuple[int, int]:
        """Bounds of a comparison: 1 if its failure ends the search of its level, else 0; and the
        code of the value from which on it holds, or −1.

        A level that is logged is searched so only where no other value could make arithmetic fail:
        a row with one has to be noticed.
        """
        variable = self.plan.levels[level].variable
        if variable is None or not self._parts[level] or self.plan.levels[level].value is not None:
            return 0, -1
        if self._channels[level] and not comparison_bounds.is_alone(condition, variable):
            return 0, -1
        least = comparison_bounds.least(condition, variable, self.plan.rule)
        ends = comparison_bounds.ends(condition, variable, self.plan.rule)
        return ends, -1 if least is None else self._code.compute(least)

    def _probe_records(self) -> tuple[list[int], list[int]]:
        place = {
            level.variable: i
            for i, level in enumerate(self.plan.levels)
            if level.variable is not None
        }
        records: list[int] = []
        arguments: list[int] = []
        channels = {
            channel.atom: i for i, channel in enumerate(self.channels) if channel.kind == "probe"
        }
        for number, (probe, tree) in enumerate(
            zip(self.plan.probes, self._probe_trees, strict=True)
        ):
            first = len(arguments) // at.ARGUMENT_RECORD
            for argument in probe.args:
                arguments += (
                    [place[argument.variable], 0]
                    if isinstance(argument, Ref)
                    else [-1, self._code.encode(argument)]
                )
            constant = int(not any(isinstance(argument, Ref) for argument in probe.args))
            records += [
                tree.root,
                tree.height,
                first,
                len(arguments) // at.ARGUMENT_RECORD,
                channels.get(number, -1),
                constant,
            ]
        return records, arguments

    @cached_property
    def words_of_parts(self) -> np.ndarray:
        """The plan for runs that read a part only: the kernel opens no roots, their ranges are
        those that the state begins with.
        """
        words = self.words.copy()
        words[at.PARTS] = 0
        return words

    # ── the state ─────────────────────────────────────────────────────────────────────────────────
    def fresh_state(self) -> np.ndarray:
        """A state at the beginning of a run."""
        bindings = at.STATE_HEADER + at.PART_STATE * int(self.words[at.PARTS])
        begun = bindings + len(self.plan.levels)
        running = begun + len(self.plan.levels) + 1
        stack = running + at.INTERVAL_STATE * len(self.channels)
        state = np.zeros(stack + self._code.stack + _ROOM_FOR_STACK, np.int64)
        state[at.PART_STATES] = at.STATE_HEADER
        state[at.BINDINGS] = bindings
        state[at.COUNTS_BEGUN] = begun
        state[at.RUNNING] = running
        state[at.STACK] = stack
        return state
