"""The joins of one round, done by `share_kernels`: each thread enters compiled code once for a round, not once for some thousand rows.

What threads of the interpreter lose is not the processor but the interpreter itself: who comes out of a kernel waits for whoever is in it.
So the arrays that joins and sets of rows work on are told to a kernel, and it is only left for what is rare, as a set without room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from typing import NamedTuple

import numpy as np

from lftj.join import layout_kernels as layout
from lftj.join.context import Buffer, Context, Divided
from lftj.join.evaluate import Relations
from lftj.join.prepared import PreparedPlan
from lftj.join.run import SLICE, borrow_cache, borrow_output
from lftj.join.shared_work import SLICE as SHARED_SLICE
from lftj.join.shared_work import SharedWork
from lftj.join.triejoin_kernels import run
from lftj.recursion import share_kernels as at
from lftj.recursion.row_set import RowSet
from lftj.recursion.shared_round import Cut, Outcome
from lftj.recursion.variants import Variant
from lftj.storage.loose_rows import LooseRows
from scantree import Tree
from scantree.jit import ADDRESSES, address, code_of

WORTH_IT = 10_000
"""Kernel steps of a round from which on the arrays are made in less time than they save: a long chain has rounds of a row."""


@cache
def _triejoin() -> int:
    return code_of(run)


class Join(NamedTuple):
    """A variant with what it reads in a round: some rows of its delta, all at once or cut to pieces."""

    variant: Variant
    delta: LooseRows
    read: Relations
    cut: Cut


def fits(variants: Iterable[Variant], sets: Mapping[str, object]) -> bool:
    """Whether the kernel can do their joins, when their heads have these sets."""
    heads = {variant.rule.relation: len(variant.picks) for variant in variants}
    tables = [sets[name] for name in heads]
    return ADDRESSES and all(heads.values()) and all(isinstance(table, RowSet) and table.is_packed for table in tables)


def run_joins(joins: Sequence[Join], sets: Mapping[str, RowSet], context: Context, threads: int) -> list[Outcome] | None:
    """Add what the joins derive to the sets of their heads. None where some expression failed: then what was added is not all.

    Raises what `Context.spend` raises.
    """
    with ExitStack() as stack:
        done = _Joins(joins, sets, context, threads, stack)
        return done.outcomes() if done.run() else None


class _Joins:
    """The arrays of one round."""

    def __init__(self, joins: Sequence[Join], sets: Mapping[str, RowSet], context: Context, threads: int, stack: ExitStack):
        self._joins = joins
        self._context = context
        names = list(dict.fromkeys(join.variant.rule.relation for join in joins))
        self._sets = [sets[name] for name in names]
        self._held: list[list[Tree]] = []
        self._states: list[np.ndarray | None] = []
        shares: list[tuple[int, ...]] = []
        picks: list[int] = []
        for join in joins:
            prepared = stack.enter_context(join.variant.assembled(join.read, context))
            states = self._begun(prepared, join)
            plan, log = prepared.addresses
            head = names.index(join.variant.rule.relation)
            shares += [(plan, address(state), log, head, len(picks), 0) for state in states]
            picks += join.variant.picks.tolist()
        self._arrays = at.Shares(
            np.zeros(at.CONTROL_WORDS, np.int64),
            np.array(shares, np.int64).reshape(-1, at.SHARE_WORDS),
            np.array(picks, np.int64),
            np.zeros((len(names), at.SET_WORDS), np.int64),
            np.zeros((sum(each.width for each in self._sets), at.COLUMN_WORDS), np.int64),
            np.zeros((threads, len(names), at.LANE_WORDS), np.int64),
            self._workers(threads),
        )
        self._arrays.control[at.SHARED] = threads > 1
        self._texts = context.dictionary.flat()
        self._around = [_triejoin(), *map(address, (context.arena.memory, *self._texts))]

    def _begun(self, prepared: PreparedPlan, join: Join) -> np.ndarray:
        """The states of a join's pieces; none where a relation is empty."""
        cut = join.cut
        ranges = [cut.ranges(number, join.read) for number in range(cut.pieces)] if cut.pieces > 1 else []
        begun = prepared.states(join.read, ranges)
        self._states.append(None if begun is None else begun[1])
        if begun is None:
            return np.empty((0, 0), np.int64)
        self._held.append(begun[0])
        return begun[1]

    def _workers(self, threads: int) -> np.ndarray:
        workers = np.zeros((threads, at.WORKER_WORDS), np.int64)
        self._caches = [borrow_cache(self._context) for _ in workers]
        self._outputs = [borrow_output(self._context) for _ in workers]
        workers[:, at.SHARE] = -1
        workers[:, at.CACHE] = [cache.address for cache in self._caches]
        workers[:, at.OUT] = [output.address for output in self._outputs]
        return workers

    def run(self) -> bool:
        """Do all of it; False when an expression failed."""
        arrays, going = self._arrays, len(self._arrays.shares) > 0
        while going:
            self._tell_sets()
            arrays.control[at.STOP] = 0
            if len(arrays.workers) == 1:
                self._alone()
            else:
                self._together()
            arrays.control[at.STOP] = 0
            self._note_rows()
            if (arrays.workers[:, at.STATUS] == at.BROKEN).any():
                return False
            going = sum(self._helped(number) for number in range(len(arrays.workers))) > 0
        self._context.caches += self._caches
        self._context.outputs += self._outputs
        return True

    def outcomes(self) -> list[Outcome]:
        """What came of each join."""
        found, first, outcomes = self._arrays.shares[:, at.FOUND], 0, []
        for join, states in zip(self._joins, self._states, strict=True):
            if states is None:
                outcomes.append(Outcome(0, 0, join.delta.count))
                continue
            rows = int(found[first : first + len(states)].sum())
            first += len(states)
            outcomes.append(Outcome(int(states[:, layout.STEPS].sum()), rows, join.delta.count))
        if len(self._arrays.workers) > 1 and self._held:
            steps = [int(step) for states in self._states if states is not None for step in states[:, layout.STEPS]]
            self._context.divided.append(Divided((), steps))
        return outcomes

    def _alone(self) -> None:
        context, worker = self._context, self._arrays.workers[0]
        self._arrays.control[at.MOST] = context.slice(SLICE)
        worker[at.SPENT] = 0
        self._enter(0)
        context.spend(int(worker[at.SPENT]))

    def _together(self) -> None:
        arrays = self._arrays
        arrays.control[at.MOST] = SHARED_SLICE
        shared = SharedWork(self._context, len(arrays.workers))

        def enter(number: int) -> None:
            worker, status = arrays.workers[number], at.SPELL
            while status == at.SPELL and not arrays.control[at.STOP]:
                worker[at.SPENT] = 0
                self._enter(number)
                status = worker[at.STATUS]
                shared.spend(number, int(worker[at.SPENT]))

        shared.all(enter)

    def _enter(self, number: int) -> None:
        code, memory, offsets, text = self._around
        at.work(code, memory, offsets, text, self._arrays, number)

    def _tell_sets(self) -> None:
        """Tell the kernel where the sets are now, and where there is room for new rows."""
        first = 0
        for number, each in enumerate(self._sets):
            lent = each.lend(len(self._arrays.workers))
            self._arrays.sets[number] = (lent.kind, address(lent.table), lent.shift, lent.room, first, each.width)
            columns = self._arrays.columns[first : first + each.width]
            columns[:, at.LOW], columns[:, at.SPAN], columns[:, at.PLACE] = lent.lows, lent.spans, lent.shifts
            first += each.width
            for record, lane in zip(self._arrays.lanes[:, number], lent.lanes, strict=True):
                record[:] = (address(lane.words), lane.count, lane.words.size)

    def _note_rows(self) -> None:
        """Note how many new rows there are."""
        for number, each in enumerate(self._sets):
            each.note(self._arrays.lanes[:, number, at.COUNT].tolist())

    def _helped(self, number: int) -> bool:
        """Do for a worker what it came back for; whether it has to go on."""
        worker = self._arrays.workers[number]
        status = worker[at.STATUS]
        if worker[at.SHARE] < 0 or status in (at.DRY, at.SPELL):
            return status == at.SPELL
        share = self._arrays.shares[worker[at.SHARE]]
        head, state = self._sets[share[at.HEAD]], self._state(int(worker[at.SHARE]))
        rows, taken = int(state[layout.ROWS]), int(worker[at.TAKEN])
        if status == at.FULL_SET:
            head.make_room(rows - taken, number)
            return True
        self._add(head, self._outputs[number], int(worker[at.SHARE]), taken)
        share[at.FOUND] += rows
        state[layout.ROWS] = worker[at.TAKEN] = 0
        return True

    def _add(self, head: RowSet, output: Buffer, share: int, taken: int) -> None:
        """Add rows that are out of the ranges of a set, which become wider."""
        state, record = self._state(share), self._arrays.shares[share]
        room, rows = int(state[layout.CAPACITY]), int(state[layout.ROWS])
        picks = self._arrays.picks[record[at.FIRST_PICK] : record[at.FIRST_PICK] + head.width]
        lines = output.array[: (len(output.array) // room) * room].reshape(-1, room)
        head.add(lines[:, taken:rows], picks)

    def _state(self, share: int) -> np.ndarray:
        states = [state for matrix in self._states if matrix is not None for state in matrix]
        return states[share]
