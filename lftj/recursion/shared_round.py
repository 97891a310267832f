"""One round of a fixpoint on several threads: its variants do not depend on one another, and a large delta falls into pieces.

An instantiation uses one row of the delta, so each is found in one piece. What a variant finds is added to the rows of its head by the
thread that found it; which of two equal candidates comes first makes no difference. Pieces depend on the rows alone,
so the work that is counted does not depend on chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from lftj.errors import LftjError
from lftj.join.context import Context, Divided
from lftj.join.evaluate import Relations
from lftj.join.shared_work import SharedWork
from lftj.recursion.variants import Variant
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import Order
from partition.executor import ThreadExecutor

_ROUND = 2  # threads are worth starting for this part of the steps after which one evaluation is divided
_PIECE = 16  # steps of a piece, as a part of the same
_PARTS = 8  # so many parts of one evaluation for each piece: a piece costs a tree and a plan


class Share(NamedTuple):
    """A variant and the rows of its delta, which are piece `number` of all."""

    variant: Variant
    number: int
    delta: LooseRows


class Outcome(NamedTuple):
    """Kernel steps, rows that came out, and rows of the delta that went in."""

    steps: int = 0
    found: int = 0
    read: int = 0


Do = Callable[[Share, Relations, Context], Outcome]


class SharedRound:
    """A round of these variants over these deltas, by the relations' names; `whole`: the relations that are also read whole."""

    def __init__(self, variants: Sequence[Variant], deltas: Mapping[str, LooseRows], whole: Sequence[str], threads: ThreadExecutor | None):
        self._variants = variants
        self._whole = whole
        self._deltas = deltas
        self._threads = threads

    @property
    def worthwhile(self) -> bool:
        """Whether there is enough to do for starting threads."""
        if self._threads is None or self._threads.workers == 1:
            return False
        expected = sum(variant.pace * self._deltas[variant.source].count for variant in self._variants)
        return expected * _ROUND >= self._threads.patience

    def run(self, do: Do, readable: Relations, context: Context) -> list[Outcome]:
        """What `do` has to tell of each variant. Raises what it raises for the first variant that fails."""
        cuts: dict[tuple[str, Order], list[LooseRows]] = {}
        shares: list[tuple[int, Share]] = []
        for i, variant in enumerate(self._variants):
            cut = variant.source, variant.order
            if cut not in cuts:
                cuts[cut] = self._pieces(*cut)
            shares += [(i, Share(variant, n, piece)) for n, piece in enumerate(cuts[cut])]
        # what reads whole relations waits for them to be brought up to date, the rest need not; and long ones first
        shares.sort(key=lambda share: (_reads_whole(share[1].variant, self._deltas), -share[1].variant.pace * share[1].delta.count))
        settling = [partial(_settle, readable, name) for name in self._whole]
        tasks = [*settling, *(partial(_share, do, share, readable) for _, share in shares)]
        outcomes = _on_threads(tasks, context)[len(settling) :]
        totals = [Outcome()] * len(self._variants)
        for (number, _), outcome in sorted(zip(shares, outcomes, strict=True), key=lambda pair: pair[0][0]):
            if isinstance(outcome, LftjError):
                do(Share(self._variants[number], 0, self._deltas[self._variants[number].source]), readable, context)
                raise outcome  # where the whole delta fails too, it has failed with what one thread would have met first
            totals[number] = Outcome(*map(sum, zip(totals[number], outcome, strict=True)))
        return totals

    def _pieces(self, source: str, order: Order) -> list[LooseRows]:
        """The delta of a relation in as many pieces as its most expensive variant asks for, which have different leading values."""
        assert self._threads is not None
        delta = self._deltas[source]
        expected = delta.count * max(variant.pace for variant in self._variants if variant.source == source)
        wanted = int(expected * _PIECE) // max(1, self._threads.patience)
        return delta.split(max(1, min(self._threads.parts // _PARTS, delta.count, wanted)), order)


Task = Callable[[Context], Outcome]


def _reads_whole(variant: Variant, deltas: Mapping[str, LooseRows]) -> bool:
    return any(atom.relation in deltas for atom in variant.rule.atoms)


def _settle(readable: Relations, name: str, context: Context) -> Outcome:
    """Have a relation brought up to date, as it is when it is looked up."""
    readable[name]
    return Outcome()


def _share(do: Do, share: Share, readable: Relations, context: Context) -> Outcome:
    return do(share, readable, context)


def _on_threads(tasks: Sequence[Task], context: Context) -> list[Outcome | LftjError]:
    """The outcomes of the tasks in their order, or how they failed."""
    work = SharedWork(context, len(tasks))

    def carry_out(number: int) -> Outcome | LftjError:
        try:
            return tasks[number](work.surroundings(number))
        except LftjError as failure:
            return failure

    outcomes = list(work.results(carry_out))
    context.divided.append(Divided((), work.steps))
    return outcomes
