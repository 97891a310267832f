# SPDX-License-Identifier: Apache-2.0
"""One iteration of a fixpoint on several threads: its variants do not depend on one another, and a
large delta is divided into pieces.

An instantiation uses one row of the delta, so each is found in one piece. The thread that runs a
variant adds its results to the rows of the head; which of two equal candidates comes first makes no
difference. Pieces are ranges of one tree and depend only on the rows, so the counted work does not
depend on chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple

from lftj.errors import LftjError, LimitError
from lftj.join.budget import Divided
from lftj.join.context import Context
from lftj.join.run.division import leading_levels
from lftj.join.run.evaluate import Relations
from lftj.join.run.prepared import Ranges
from lftj.join.shared_work import SharedWork
from lftj.maintenance.semi_naive.variants import Variant, delta_name
from lftj.partition.executor import ThreadExecutor
from lftj.scantree.bounds import after_prefix
from lftj.storage.relation import Order
from lftj.storage.transient_relation import TransientRelation

_SHARED_PIECE = 16
"""Pieces of an iteration in the steps from which on one evaluation is divided."""
_SHARED_PARTS = 4
"""Parts of one evaluation for each piece of an iteration."""
_SHARED_ITERATION = 2
"""Part of the steps from which on one evaluation is divided that make threads worth starting for an
iteration.
"""


class Cut:
    """Cut of a variant's input in an iteration, into at most so many pieces: ranges of its leading
    variable.

    Pieces are made of equally many rows of one atom that has this variable first, the delta if it
    can be. An instantiation uses one of its rows, so it is found in one piece; of other atoms a
    piece reads the rows with the same leading values.
    """

    def __init__(self, variant: Variant, delta: TransientRelation, pieces: int):
        self.variant, self.delta = variant, delta
        assert variant.plan is not None
        levels = leading_levels(variant.plan)
        self._atoms = (
            []
            if levels is None
            else [n for n, atom in enumerate(variant.plan.atoms) if atom.levels[:1] == (levels[0],)]
        )
        self.pieces = max(1, min(pieces, delta.count)) if self._atoms else 1
        self._planned = variant.plan.atoms
        self._changes = delta_name(variant.source)
        self._lock = Lock()
        self._ranges: list[Ranges] = []

    def ranges(self, number: int, read: Relations) -> Ranges:
        """Ranges of each atom that piece `number` reads. The first call, on whichever thread, makes
        the cuts.
        """
        with self._lock:
            if not self._ranges:
                self._ranges = self._made(read)
        return self._ranges[number]

    def _made(self, read: Relations) -> list[Ranges]:
        trees = {
            atom: read[self._planned[atom].relation].tree(self._planned[atom].order)
            for atom in self._atoms
        }
        cut = min(
            trees,
            key=lambda atom: (self._planned[atom].relation != self._changes, trees[atom].count),
        )
        keys = [
            [int(word) for word in key] for key in zip(*trees[cut].sample(self.pieces), strict=True)
        ][1:]
        made: list[Ranges] = []
        for low, high in zip([None, *keys], [*keys, None], strict=True):
            first, last = low and low[:1], high and after_prefix(high[:1])
            made.append(
                {
                    n: tree.positions(*((low, high) if n == cut else (first, last)))[:2]
                    for n, tree in trees.items()
                }
            )
        return made + [{cut: (0, 0)}] * (self.pieces - len(made))


class Share(NamedTuple):
    """A variant and its delta: all there is to do, or a piece of a cut."""

    variant: Variant
    delta: TransientRelation
    cut: Cut | None = None
    number: int = 0

    def within(self, read: Relations) -> Ranges | None:
        """Ranges of these relations that the plan reads."""
        return (
            None if self.cut is None or self.cut.pieces == 1 else self.cut.ranges(self.number, read)
        )


class Outcome(NamedTuple):
    """Kernel steps, and rows that came out."""

    steps: int = 0
    found: int = 0


Do = Callable[[Share, Relations, Context], Outcome]


class SharedIteration:
    """An iteration of these variants over these deltas, by the relations' names; `whole`: the
    relations that are also read whole.
    """

    def __init__(
        self,
        variants: Sequence[Variant],
        deltas: Mapping[str, TransientRelation],
        whole: Sequence[str],
        threads: ThreadExecutor | None,
    ):
        self._variants = variants
        self._whole = whole
        self._deltas = deltas
        self._threads = threads

    @property
    def worthwhile(self) -> bool:
        """Test for enough work to start threads for."""
        if self._threads is None or self._threads.workers == 1 or not self._variants:
            return False
        expected = sum(
            variant.pace * self._deltas[variant.source].count for variant in self._variants
        )
        return expected * _SHARED_ITERATION >= self._threads.patience

    def run(self, do: Do, readable: Relations, context: Context) -> list[Outcome]:
        """Outcomes of `do` for each variant. Raises the error of the first variant that fails."""
        cuts = self._cuts()
        shares = [
            (i, Share(cut.variant, cut.delta, cut, n))
            for i, cut in enumerate(cuts)
            for n in range(cut.pieces)
        ]
        # what reads whole relations waits for them to be brought up to date, the rest need not; and
        # long ones first
        shares.sort(
            key=lambda share: (
                _reads_whole(share[1].variant, self._deltas),
                -share[1].variant.pace * share[1].delta.count,
            )
        )
        first = [partial(_apply, readable, name) for name in self._whole]
        first += [
            partial(_sort, *each)
            for each in dict.fromkeys((cut.delta, cut.variant.order) for cut in cuts)
        ]
        outcomes = _on_threads(
            [*first, *(partial(_share, do, share, readable) for _, share in shares)], context
        )[len(first) :]
        totals = [Outcome()] * len(self._variants)
        for (number, _), outcome in sorted(
            zip(shares, outcomes, strict=True), key=lambda pair: pair[0][0]
        ):
            if isinstance(outcome, LftjError):
                do(Share(self._variants[number], cuts[number].delta), readable, context)
                # where the whole delta fails too, it has failed with what one thread would have met
                # first
                raise outcome
            totals[number] = Outcome(*map(sum, zip(totals[number], outcome, strict=True)))
        return totals

    def _cuts(self) -> list[Cut]:
        """Cuts of each variant into pieces of about equal work."""
        assert self._threads is not None
        cuts = []
        for variant in self._variants:
            delta = self._deltas[variant.source]
            steps = int(variant.pace * delta.count * _SHARED_PIECE)
            wanted = steps // max(1, self._threads.patience)
            most = self._threads.parts // _SHARED_PARTS
            cuts.append(Cut(variant, delta, min(most, wanted)))
        return cuts


Task = Callable[[Context], Outcome]


def _reads_whole(variant: Variant, deltas: Mapping[str, TransientRelation]) -> bool:
    return any(atom.relation in deltas for atom in variant.rule.atoms)


def _apply(readable: Relations, name: str, context: Context) -> Outcome:
    """Have a relation brought up to date, as it is when it is looked up."""
    readable[name]
    return Outcome()


def _sort(delta: TransientRelation, order: Order, context: Context) -> Outcome:
    """Have the rows of a delta sorted, as they are when a variant first reads them."""
    delta.tree(order)
    return Outcome()


def _share(do: Do, share: Share, readable: Relations, context: Context) -> Outcome:
    return do(share, readable, context)


def _on_threads(tasks: Sequence[Task], context: Context) -> list[Outcome | LftjError]:
    """The outcomes of the tasks in their order, or how they failed."""
    work = SharedWork(context, len(tasks))

    def carry_out(number: int) -> Outcome | LftjError:
        try:
            return tasks[number](work.surroundings(number))
        except LimitError:
            raise
        except LftjError as failure:
            return failure

    outcomes = work.all(carry_out)
    context.budget.divided.append(Divided((), work.steps))
    return outcomes
