# SPDX-License-Identifier: Apache-2.0
"""The inside of a workspace: what its snapshots, transactions and queries share.

`state` is the one thing that changes when a commit is published: a single assignment, so readers
see the old version or the new one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from typing import Self

from lftj import frames
from lftj.engine.calls.limits import LimitStack, short_of_memory
from lftj.engine.calls.progress import teller
from lftj.engine.commit.commit import Outcome, Proposal, carry_out
from lftj.engine.delivery.consumers import Position
from lftj.engine.delivery.subscription import News, Subscriptions
from lftj.engine.delivery.waking import Waking
from lftj.engine.delivery.writer_lock import WriterLock
from lftj.engine.live.beside import Files, OtherBranches
from lftj.engine.programs.program_change import summary
from lftj.engine.questions.question import Questions
from lftj.engine.versions.ancestry import MAIN
from lftj.engine.versions.noted_work import NOTED_STEPS, Spent, noted
from lftj.engine.versions.past import Entry, Keep, Past, keep_of
from lftj.engine.versions.result import Result, change_result
from lftj.engine.versions.schema_entry import schema_change
from lftj.engine.versions.state import State
from lftj.heads.user import UserAggregate
from lftj.join.budget import Budget
from lftj.join.context import Context, Forced
from lftj.join.plan.cardinality import Statistics
from lftj.join.resources import Resources
from lftj.maintenance.inputs.rule_work import WorkHistory
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.partition.executor import ThreadExecutor
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.scantree import Arena
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.scantree.sharing import ALONE
from lftj.storage.database import Database
from lftj.storage.delta import Columns, Delta
from lftj.syntax.attention import attending
from lftj.syntax.user_function import UserFunction
from lftj.tuning import DEFAULT, Tuning
from lftj.types.dictionary import Dictionary, PassingNames
from lftj.types.texts import Texts

_LOOK, _LONG_LOOK = 0.001, 0.05
"""Seconds between two looks at the log of another process, at first and later."""
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
        tuning: Tuning = DEFAULT,
        reserve: int | None = None,
        keep: Keep | None = None,
    ):
        """`reserve`: bytes of address space; see `Arena`. `keep`: of the past; None: what is
        cheap.
        """
        self.writer = WriterLock(writer_timeout)
        self.subscriptions = Subscriptions()
        self.limits = LimitStack()
        self.progress = progress
        self.fraction = fraction
        self.trace_budget = trace_budget
        self.threads = threads
        self.trace_override: TraceOverride | None = None
        self.history = WorkHistory(REMEMBERED)
        self.spent = Spent()
        self.orders: dict[int, tuple[str, ...]] = {}
        self.tuning = tuning
        self.functions: dict[tuple[str, str], UserFunction] = {}
        """Functions of users by name and version, which all branches share."""
        self._reserve = reserve
        self.published = Waking()
        self.positions: dict[str, Position] = {}
        """Consumers by name."""
        self.past = Past(keep or keep_of(None, files=False))
        self.durable: Files[Engine] | None = None
        """The files of a durable workspace; None for one in memory."""
        self.shown: Engine | None = None
        """The engine as readers see it, where a refresh may give this one another memory and
        dictionary; None where they see this one.
        """
        self.name, self.number = MAIN, 0
        """Name of the branch, and a number that no other branch of the workspace ever had."""
        self.branches: OtherBranches[Engine] | None = None
        """All branches; None as long as there is only main."""
        self.begin_anew()

    def begin_anew(self) -> None:
        """Have an empty state, with memory and a dictionary of its own; results and snapshots keep
        those that they were read from.
        """
        self._begin_aids(
            Arena(self._reserve, self.threads or ALONE),
            Dictionary(self.threads or ALONE),
            Statistics(tuning=self.tuning),
            {},
        )
        self.state = self.blank()
        self.pages = 0
        """Bytes of pages that were in use after the last commit."""
        self.past.begin(self.state)

    def _begin_aids(
        self,
        arena: Arena,
        dictionary: Dictionary,
        statistics: Statistics,
        kept_orders: dict[str, set[tuple[int, ...]]],
    ) -> None:
        """Have this memory and dictionary, and what evaluations use again beside states, anew and
        for this engine alone.
        """
        self.resources = Resources(
            arena, dictionary, kept_orders=kept_orders, functions=self.functions
        )
        self.statistics = statistics
        self.questions = Questions()

    @property
    def arena(self) -> Arena:
        """Memory of all pages."""
        return self.resources.arena

    @property
    def dictionary(self) -> Dictionary:
        """Strings and their codes."""
        return self.resources.dictionary

    def sibling(self) -> Self:
        """Another engine over the same memory and dictionary, which begins with this state and goes
        a way of its own: a branch, or one that follows old commits. O(1).
        """
        other = copy(self)
        other.subscriptions, other.published = Subscriptions(), Waking()
        other.history, other.positions = WorkHistory(REMEMBERED), {}
        other.spent = Spent()
        other.shown = other.durable = None
        other.orders = dict(self.orders)
        other.past = self.past.branched(self.state)
        other.beside(self)
        return other

    def beside(self, other: Engine) -> None:
        """Use the memory and dictionary of another engine from now on. The state is to be set."""
        self.tuning, self.pages = other.tuning, other.pages
        orders = {name: set(each) for name, each in [*other.resources.kept_orders.items()]}
        statistics = Statistics(other.statistics.known, self.tuning)
        self._begin_aids(other.arena, other.dictionary, statistics, orders)

    def family(self) -> list[Engine]:
        """The engines of all branches of the workspace, this one among them."""
        return [self] if self.branches is None else [*self.branches.engines.values()]

    @property
    def tip(self) -> State:
        """The state that the next commit begins with: the committed one, or one that waits to be
        durable and shown.
        """
        durable = self.durable
        return self.state if durable is None else durable.group.state(self.number, self.state)

    def blank(self) -> State:
        """The state before the first commit."""
        return State(Program(), Database())

    def pin(self) -> None:
        """Keep the versions that consumers have not gone beyond."""
        positions = [*self.positions.values()]
        self.past.pinned = min(each.version for each in positions) if positions else None

    def context(self, aggregates: Mapping[str, UserAggregate]) -> Context:
        """The surroundings of one evaluation, under the limits of this thread, with these
        user-defined aggregates.
        """
        limits = self.limits.current
        return Context(
            self.resources.with_(
                user_aggregates=aggregates,
                threads=self.threads,
                progress=teller(self.progress),
                trace_budget=self.trace_budget,
                traced=self._traced,
            ),
            Budget(work_limit=limits.work, deadline=limits.deadline, memory_limit=limits.memory),
            self.statistics,
            fraction=self.fraction,
            forced=Forced(self.orders, self.trace_override),
        )

    def passing_context(self, aggregates: Mapping[str, UserAggregate]) -> Context:
        """The surroundings of an evaluation of which nothing is kept: no plans, no states, no
        strings.
        """
        context = self.context(aggregates)
        context.keep, context.resources.prepared = False, {}
        context.resources.dictionary = PassingNames(self.dictionary)
        return context

    def _traced(self) -> int:
        return self.state.view_states.traced

    def forget_strings(self) -> None:
        """Let go of strings that no version holds any more, once there may be many. With the writer
        lock held and nothing staged.

        O(all rows), when strings have doubled. Where memory is short for it, they stay; in durable
        workspaces too, whose files have them.
        """
        if self.durable is None and self.dictionary.overgrown:
            for engine in self.family():
                engine.past.let_go()
            with suppress(MemoryError):
                self.dictionary.forget(self.arena.occurring)

    def carry_out(
        self, proposal: Proposal, before: State | None = None, tuning: Tuning | None = None
    ) -> Outcome:
        """Carry out a proposal, on the tip or on the state `before`; nothing is published. The
        caller holds the writer lock. `tuning`: another one than the workspace's.
        """
        if self.limits.current.memory is not None:
            self.past.let_go()
        with (
            interrupts_as_such(),
            short_of_memory("the transaction was rolled back", "commit less at a time"),
        ):
            context = self.context(proposal.aggregates)
            if tuning is not None:
                context.statistics = copy(self.statistics)  # what is estimated is known to both
                context.statistics.tuning = tuning
            with attending(context.budget.plan_on):
                return carry_out(before or self.tip, proposal, context)

    def entry(self, outcome: Outcome, message: str | None, seconds: float) -> Entry:
        """The record of a commit of this moment."""
        won: dict[str, int] = {}
        lost: dict[str, int] = {}
        for name, delta in outcome.changes.items():
            if rows := delta.inserted:  # a load does not read its columns for that
                won[name] = rows
            if rows := delta.erased:
                lost[name] = rows
        version = outcome.state.database.version
        before, after = self.tip.program, outcome.state.program
        program = "" if after is before else summary(before, after)
        works = noted(outcome.works) if outcome.work >= NOTED_STEPS else ()
        return Entry(version, round(time.time(), 6), message, won, lost, seconds, program, works)

    def news(self, outcome: Outcome) -> list[News]:
        """The change sets of an outcome for those who subscribed, those of schemas first."""
        state, changes = outcome.state, outcome.changes
        catalog = state.program.catalog
        names: dict[str, str] = {}
        entries: list[News] = []
        if outcome.was is not None and outcome.was is not catalog:
            texts = self.dictionary.texts()
            for name in self.subscriptions.relations():
                entry = schema_change(name, outcome.was, catalog, state.version, texts)
                if entry is not None:
                    names[entry.relation] = name
                    entries += self.subscriptions.addressed([name], lambda _, e=entry: e)

        def made(name: str) -> Result:
            return self.change_set(state.version, state.schema(name), changes[name])

        return [*entries, *self.subscriptions.addressed(changes, made, names)]

    def refresh(self) -> None:
        """Go on to the last commit of the process that writes, and tell subscribers, where the
        workspace was opened to read; else there is nothing that is not known here.
        """
        if self.durable is None or self.durable.write:
            return
        with self.writer.held():
            changed = self.durable.refresh()
            for engine in self.family():
                engine.show()
            for engine, outcome in changed:
                engine.past.begin(outcome.state)
                engine.subscriptions.waiting.extend(engine.news(outcome))
                engine.subscriptions.follow(outcome.alterations)
                engine.history.append((outcome.state.version, outcome.works))
        for engine in self.family():
            engine.subscriptions.deliver()

    def show(self) -> None:
        """Have readers see the state of this moment until the next call."""
        shown = copy(self)
        shown.shown = None
        self.shown = shown

    def wait_for(self, version: int, timeout: float | None) -> bool:
        """Refresh once a version is committed; False where it took more than `timeout` seconds."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        pause = _LOOK
        while self.state.version < version:
            if self.durable is not None and self.durable.last_version(self) >= version:
                self.refresh()
                continue
            if (left := end - time.monotonic()) <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONG_LOOK)
        return True

    # ── rows for the user ─────────────────────────────────────────────────────────────────────────
    def result(self, state: State, schema: RelationSchema) -> Result:
        """All rows of a relation."""
        version, texts = state.database[schema.name], self.dictionary.texts()
        return Result(
            schema.columns,
            self.whole(version.columns, schema, texts),
            version.count,
            texts,
            version=state.version,
            name=schema.name,
        )

    def base_result(self, state: State, schema: RelationSchema) -> Result:
        """The rows of a relation that are not derived."""
        version, texts = state.base(schema.name), self.dictionary.texts()
        read = self.whole(version.columns, schema, texts)
        return Result(
            schema.columns,
            read,
            version.count,
            texts,
            version=state.version,
            name=schema.name,
        )

    @contextmanager
    def looking(self) -> Iterator[None]:
        """For the length of a block that looks at rows by itself: DurableError (E353) where mapped
        pages that were looked at are not what was written, whatever else came of them.
        """
        try:
            yield
        except Exception:
            self._require_whole()
            raise
        self._require_whole()

    def _require_whole(self) -> None:
        if self.durable is not None:
            self.durable.require_whole(self.arena.watch)

    def whole(
        self, read: Callable[[], Columns], schema: RelationSchema, texts: Texts
    ) -> Callable[[], Columns]:
        """`read`, with an error in the place of rows from mapped files that are not what was
        written: DurableError (E353).
        """
        durable, watch = self.durable, self.arena.watch
        if durable is None or not watch.files:
            return read

        def checked() -> Columns:
            columns = read()
            for (_, type), codes in zip(schema.columns, columns, strict=False):
                if type.name == "str":
                    frames.decode_column(type, codes, texts)  # looks at their letters
            durable.require_whole(watch)
            return columns

        return checked

    def change_set(
        self, version: int, schema: RelationSchema, delta: Delta, texts: Texts | None = None
    ) -> Result:
        """A net change as `change_result` gives it.

        `texts`: as they were at the commit, where it was not just now.
        """
        texts = self.dictionary.texts() if texts is None else texts
        return change_result(
            schema, delta, version, texts, lambda read: self.whole(read, schema, texts)
        )

    def all_as_change(self, state: State, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing."""
        rows = state.database[schema.name].columns()
        return self.change_set(state.version, schema, Delta(rows, [column[:0] for column in rows]))
