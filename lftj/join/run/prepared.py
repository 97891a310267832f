# SPDX-License-Identifier: Apache-2.0
"""A plan that runs again and again on other trees: its words are assembled once, and each run only
puts the new roots into them.

A commit of one row runs a handful of plans that take microseconds each; assembling them anew would
take longer than running them. One thread at a time may use a prepared plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from weakref import ref

import numpy as np

from lftj.join.context import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels.triejoin_kernels import run
from lftj.join.plan.plan import RulePlan
from lftj.join.run.assemble import Assembly
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.run.log_buffer import LogBuffer
from lftj.join.run.run import (
    OUTPUT_WORDS,
    borrow_cache,
    borrow_output,
    evaluation_failure,
    return_cache,
)
from lftj.scantree import Tree
from lftj.scantree.jit import address
from lftj.scantree.seek_kernels import END
from lftj.types.texts import Flat

_ROOM = 1024  # rows of the output buffer


Ranges = Mapping[int, tuple[int, int]]
"""Ranges of an atom's rows, by its number: the positions of its key order that bound them. Other
atoms are read whole.
"""


class PreparedPlan:
    """One plan with its arrays. `run` may be called with the trees of any version. Nothing is
    logged.

    `room`: rows of the output buffer, after which a run comes back to hand them over.
    """

    def __init__(self, plan: RulePlan, relations: Relations, context: Context, room: int = _ROOM):
        self.plan = plan
        assembly = Assembly(
            plan,
            relations,
            context.resources.dictionary,
            keep_counts=context.keep_counts,
        )
        log = LogBuffer(len(plan.levels), 0, _ROOM)
        self._log_words = log.words
        self._words = assembly.words
        self._fresh = assembly.fresh_state()
        self._columns = len(plan.outputs) + 1
        self._room = self._fresh[at.CAPACITY] = min(room, OUTPUT_WORDS // self._columns)
        log.attach(self._fresh)
        self._state = self._fresh.copy()
        parts = [assembly.parts_of(atom) for atom in range(len(plan.atoms))]
        first = int(self._words[at.PART_TABLE])
        self._parts = [[first + part * at.PART_RECORD for part in its] for its in parts]
        self._atoms = [
            (atom.relation, atom.order, records)
            for atom, records in zip(plan.atoms, self._parts, strict=True)
        ]
        first = int(self._words[at.PROBE_TABLE])
        self._probes = [first + probe * at.PROBE_RECORD for probe in range(len(plan.probes))]
        # where the state has the range of each atom's first column, and how many parts the plan has
        self._ranges = [at.STATE_HEADER + at.PART_STATE * its[0] for its in parts]
        self._part_count = int(self._words[at.PARTS])
        self._addresses = [address(array) for array in (self._words, self._state, self._log_words)]
        self._memory = address(context.resources.arena.memory)
        self._keep_addresses(context.resources.dictionary.flat())

    def run(self, relations: Relations, context: Context) -> tuple[Columns, np.ndarray, int]:
        """All output rows over these relations, their numbers of proofs, and the kernel steps it
        took; as `pieces` gives them.
        """
        self._state[at.STEPS] = 0
        *columns, proofs = self.rows(relations, context)
        return columns, proofs, self._state.item(at.STEPS)

    def rows(self, relations: Relations, context: Context) -> np.ndarray:
        """All output rows over these relations as a matrix of its own, of shape (outputs + 1) × n;
        as `pieces` gives them.
        """
        pieces = [piece.copy() for piece in self.pieces(relations, context)]
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return np.empty((self._columns, 0), np.int64)
        return np.concatenate(pieces, axis=1)

    def pieces(
        self, relations: Relations, context: Context, within: Ranges | None = None
    ) -> Iterator[np.ndarray]:
        """The output rows over these relations as arrays of shape (outputs + 1) × n, the last line
        the number of proofs.

        Spends the steps as it goes. A piece is overwritten by the next. Only rows `within` these
        ranges are read.

        ValueRangeError when an expression has no value; whatever `Context.spend` raises at a limit.
        """
        trees = self._bind(relations)
        if trees is None:
            return
        state = self._state
        state[:] = self._fresh
        self._keep_to(within)
        words, at_state, log_words = self._addresses
        flat = context.resources.dictionary.flat()
        if flat[0] is not self._offsets() or flat[1] is not self._text():
            self._keep_addresses(flat)
        status = at.PAUSED
        cache, output = borrow_cache(context), borrow_output(context)
        out = self._output(output.array)
        offsets, text = self._flat_addresses
        while status != at.DONE:
            before = state.item(at.STEPS)
            state[at.BUDGET] = before + context.budget.slice(context.tuning.run_steps)
            status = run(
                self._memory,
                words,
                at_state,
                offsets,
                text,
                cache.address,
                output.address,
                log_words,
            )
            context.budget.spend(state.item(at.STEPS) - before)
            if status == at.FAILED:
                raise evaluation_failure(self.plan, state, context)
            if status != at.PAUSED and (rows := state.item(at.ROWS)):
                yield out[:, :rows]
                state[at.ROWS] = 0
        return_cache(context, cache, state)
        context.resources.outputs.append(output)

    def _keep_addresses(self, flat: Flat) -> None:
        """Keep the addresses of the strings, without keeping these: a plan may wait long for its
        next run, while the dictionary grows and forgets.
        """
        self._offsets, self._text = map(ref, flat)
        self._flat_addresses = [address(array) for array in flat]

    def _output(self, words: np.ndarray) -> np.ndarray:
        """The rows of the output in these words, by columns; rows that are written a window at a
        time have one proof each.
        """
        out = words[: self._columns * self._room].reshape(self._columns, self._room)
        out[-1] = 1
        return out

    def _keep_to(self, within: Ranges | None) -> None:
        """Read whole trees, or have the state say which ranges: the kernel gives a plan without
        parts no ranges of its own.
        """
        self._words[at.PARTS] = self._part_count if within is None else 0
        if within is not None:
            for atom, place in enumerate(self._ranges):
                self._state[place + at.START], self._state[place + at.LIMIT] = within.get(
                    atom, (0, END)
                )

    def bind(self, relations: Relations) -> tuple[list[Tree], list[Tree]]:
        """Put the roots of these relations' trees into the plan, of empty ones too. The atoms'
        trees and the others, to be held as long.

        They are read whole, whatever the last of `pieces` kept to.
        """
        self._keep_to(None)
        trees = [relations[atom.relation].tree(atom.order) for atom in self.plan.atoms]
        for tree, records in zip(trees, self._parts, strict=True):
            for record in records:
                self._words[record + at.PART_ROOT] = tree.root
                self._words[record + at.PART_HEIGHT] = tree.height
        return trees, self._bind_probes(relations)

    @cached_property
    def _own_output(self) -> np.ndarray:
        return self._output(np.empty(self._columns * self._room, np.int64))

    @property
    def parts(self) -> list[list[int]]:
        """Per atom, where the records of its parts begin in the plan's words."""
        return self._parts

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Arrays that a kernel runs this plan on: the plan, a state, the state it begins with, the
        output by columns, and the log.
        """
        return self._words, self._state, self._fresh, self._own_output, self._log_words

    def _bind(self, relations: Relations) -> list[Tree] | None:
        """Put the roots of these relations' trees into the plan; the trees, to be held while it
        runs, or None when one is empty.
        """
        words = self._words
        trees: list[Tree] = []
        for relation, order, records in self._atoms:
            tree = relations[relation].tree(order)
            if not tree.count:
                return None
            for record in records:
                words[record + at.PART_ROOT] = tree.root
                words[record + at.PART_HEIGHT] = tree.height
            trees.append(tree)
        return trees + self._bind_probes(relations) if self._probes else trees

    def _bind_probes(self, relations: Relations) -> list[Tree]:
        trees = [relations[probe.relation].tree(probe.order) for probe in self.plan.probes]
        for tree, record in zip(trees, self._probes, strict=True):
            self._words[record + at.PROBE_ROOT] = tree.root
            self._words[record + at.PROBE_HEIGHT] = tree.height
        return trees
