"""The inside of a workspace: what its snapshots, transactions and queries share.

`state` is the one thing that changes when a commit is published: a single assignment, so readers
see the old version or the new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from lftj.engine.commit import Outcome, Proposal, carry_out
from lftj.engine.limits import LimitStack, short_of_memory
from lftj.engine.question import Questions
from lftj.engine.result import Result
from lftj.engine.state import State
from lftj.engine.subscription import News, Subscriptions
from lftj.engine.writer import WriterLock
from lftj.heads.user import UserAggregate
from lftj.join.context import Buffer, Context
from lftj.join.plan.index_advisor import Rents
from lftj.join.plan.statistics import Statistics
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.program.program import Program
from lftj.storage.database import Database
from lftj.storage.delta import Columns, Delta
from lftj.syntax.attention import attending
from lftj.types.dictionary import Dictionary
from lftj.types.texts import Texts
from partition.executor import ThreadExecutor
from scantree import Arena
from scantree.interrupts import interrupts_as_such

REMEMBERED = 1000
"""Commits whose work `ws.profile()` can show."""


class Engine:
    """Memory, dictionary, writer lock, subscriptions and the committed state of one workspace."""

    def __init__(
        self,
        writer_timeout: float,
        progress: Callable[[str], None] | None,
        fraction: float = 0.2,
        trace_budget: int = 1 << 28,
        threads: ThreadExecutor | None = None,
    ):
        self.arena = Arena()
        self.dictionary = Dictionary()
        self.writer = WriterLock(writer_timeout)
        self.subscriptions = Subscriptions()
        self.limits = LimitStack()
        self.progress = progress
        self.statistics = Statistics()
        self.caches: list[Buffer] = []
        self.outputs: list[Buffer] = []
        self.plans: dict[Any, tuple[list[int], Any]] = {}
        self.questions = Questions()
        self.rents = Rents()
        self.prepared: dict[Any, Any] = {}
        self.kept_orders: dict[str, set[tuple[int, ...]]] = {}
        self.fraction = fraction
        self.trace_budget = trace_budget
        self.threads = threads
        self.trace_override: TraceOverride | None = None
        self.history: deque[tuple[int, Sequence[RuleWork]]] = deque(maxlen=REMEMBERED)
        self.orders: dict[int, tuple[str, ...]] = {}
        self.state = State(Program(), Database())

    def context(self, aggregates: Mapping[str, UserAggregate]) -> Context:
        """The surroundings of one evaluation, under the limits of this thread, with these
        user-defined aggregates.
        """
        limits = self.limits.current
        return Context(
            self.arena,
            self.dictionary,
            user_aggregates=aggregates,
            work_limit=limits.work,
            deadline=limits.deadline,
            memory_limit=limits.memory,
            progress=self.progress,
            orders=self.orders,
            statistics=self.statistics,
            fraction=self.fraction,
            trace_budget=self.trace_budget,
            traced=self._traced,
            trace_override=self.trace_override,
            threads=self.threads,
            caches=self.caches,
            outputs=self.outputs,
            plans=self.plans,
            rents=self.rents,
            prepared=self.prepared,
            kept_orders=self.kept_orders,
        )

    def _traced(self) -> int:
        return self.state.heads.traced

    def forget_strings(self) -> None:
        """Let go of strings that no version holds any more, once there may be many. With the writer
        lock held and nothing staged.

        O(all rows), when strings have doubled. Where memory is short for it, they stay.
        """
        if self.dictionary.overgrown:
            with suppress(MemoryError):
                self.dictionary.forget(self.arena.occurring)

    def carry_out(self, proposal: Proposal) -> tuple[Outcome, list[News]]:
        """What a proposal comes to, and whom to tell what when it is published. With the writer
        lock held.
        """
        with (
            interrupts_as_such(),
            short_of_memory("the transaction was rolled back", "commit less at a time"),
        ):
            context = self.context(proposal.aggregates)
            with attending(context.plan_on):
                outcome = carry_out(self.state, proposal, context)
            version, schema = outcome.state.version, outcome.state.schema
            changes = {
                name: partial(self.change_set, version, schema(name), delta)
                for name, delta in outcome.changes.items()
            }
            return outcome, self.subscriptions.addressed(changes)

    # ── rows for the user ─────────────────────────────────────────────────────────────────────────
    def result(self, state: State, schema: RelationSchema) -> Result:
        """All rows of a relation."""
        version = state.database[schema.name]
        return Result(
            schema.columns,
            version.columns,
            version.count,
            self.dictionary.texts(),
            version=state.version,
            name=schema.name,
        )

    def change_set(
        self, version: int, schema: RelationSchema, delta: Delta, texts: Texts | None = None
    ) -> Result:
        """A net change as rows with `__diff__` and `__version__`: the rows lost first, then the
        rows won.

        `texts`: as they were at the commit, where it was not just now.
        """
        read = partial(_signed_rows, schema.arity, delta, version)
        texts = self.dictionary.texts() if texts is None else texts
        columns = (*schema.columns, *CHANGE_COLUMNS)
        return Result(
            columns, read, len(delta), texts, version=version, name=f"changes of {schema.name}"
        )

    def all_as_change(self, state: State, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing."""
        rows = state.database[schema.name].columns()
        return self.change_set(state.version, schema, Delta(rows, [column[:0] for column in rows]))


def _signed_rows(arity: int, delta: Delta, version: int) -> Columns:
    rows = [np.concatenate(pair) for pair in zip(delta.erases, delta.inserts, strict=True)][:arity]
    signs = np.repeat(np.array([-1, 1], dtype=np.int64), [delta.erased, delta.inserted])
    return [*rows, signs, np.full(len(delta), version, dtype=np.int64)]
