# SPDX-License-Identifier: Apache-2.0
"""One part: its share of all relations and what its views are maintained with, brought forward
commit by commit, step by step.

A part is an lftj database like any other, of local relations, and values in it are never changed:
the state before a commit is still there when the commit turns out not to happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.partitioning.part_plan import Feed, PartPlan
from lftj.distributed.partitioning.partials import verbs
from lftj.distributed.partitioning.steps import Move, Step
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.parts.host import Host, Rows
from lftj.distributed.parts.recursive_stage import Exchange
from lftj.distributed.parts.task import Settings
from lftj.engine.calls import Limits
from lftj.engine.commit import check_key
from lftj.join import Buffer, Context, Resources
from lftj.join.plan import Statistics
from lftj.maintenance.inputs import RuleWork
from lftj.program import Stratification, StratifiedProgram, Stratum
from lftj.scantree import frozen
from lftj.storage import Database, Delta, RelationVersion
from lftj.types import Role, in_role, without_role
from lftj.views import ViewStates, placed_in, refresh

VERBS = verbs()
"""The aggregates that parts' programs may have."""


@frozen
class PartState:
    """One part after the commit `token`; without one, base rows only, nothing derived yet."""

    token: str
    plan: PartPlan
    number: int
    parts: int
    database: Database
    view_states: ViewStates = field(default_factory=ViewStates)
    statistics: Statistics = field(default_factory=Statistics)
    caches: list[Buffer] = field(default_factory=list)
    outputs: list[Buffer] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)

    @staticmethod
    def loaded(
        plan: PartPlan,
        number: int,
        parts: int,
        host: Host,
        rows: Rows,
        commit: str,
        known: Mapping[Feed, RelationVersion],
    ) -> PartState:
        """Relations as their entries say, but for those that are `known`; `commit` is a name for
        the sum of these entries.
        """
        relations = {name: host.empty(schema) for name, schema in plan.local.items()}
        for feed in plan.feeds:
            name = feed.schema.name
            relations[name] = (
                known[feed] if feed in known else host.moved(feed, relations[name], commit, rows)[0]
            )
        return PartState("", plan, number, parts, Database(relations))

    @property
    def rows(self) -> int:
        """The number of rows of all its relations."""
        return sum([relation.count for relation in self.database.values()])

    def under(self, settings: Settings) -> PartState:
        """The same part for a workspace with these settings."""
        if settings == self.settings:
            return self
        statistics = Statistics(tuning=settings.tuning)
        return replace(self, settings=settings, statistics=statistics)

    def own_rows(self) -> dict[Feed, RelationVersion]:
        """Rows of base relations that parts are sent: the same under any rules."""
        feeds = (feed for feed in self.plan.feeds if in_role(feed.relation, Role.BASE))
        return {feed: self.database[feed.schema.name] for feed in feeds}

    def sharing(self, host: Host, below: tuple[str, str]) -> PartState:
        """The same state with the relations that all parts have whole from the first part of the
        host that had them after this commit; `below`: the path, and the program. One that was
        loaded has them so already, and is of no commit.
        """
        if not self.token:
            return self
        names = [feed.schema.name for feed in self.plan.feeds if feed.cut == ALL]
        own = {name: self.database[name] for name in names}
        found = host.one_for_all((*below, self.token), own)
        if all(found[name] is own[name] for name in names):
            return self
        return replace(self, database=self.database.replace(found))

    def carried(self, plan: PartPlan, host: Host) -> PartState | None:
        """State under a plan that has more relations but the same rules; None under any other."""
        old = self.plan
        if plan is old:
            return self
        if (
            plan.stages != old.stages
            or plan.outputs != old.outputs
            or not set(old.feeds) <= set(plan.feeds)
        ):
            return None
        new = {
            name: host.empty(schema)
            for name, schema in plan.local.items()
            if name not in self.database
        }
        return replace(self, plan=plan, database=self.database.replace(new))


@dataclass
class Advance:
    """A commit on its way through one part: the state before, the state now, what changed so far,
    and how many steps are done.

    `net`: the change of base rows, by relation. `exchange`: what there is besides while a stage is
    derived in supersteps.
    """

    before: PartState
    now: PartState
    token: str
    deltas: dict[str, Delta] = field(default_factory=dict)
    net: dict[str, Delta] = field(default_factory=dict)
    works: list[RuleWork] = field(default_factory=list)
    exchange: Exchange | None = None
    steps: int = 0
    limits: Limits = field(default_factory=Limits)
    deadline: float | None = None
    elastic: float = 0.2

    @staticmethod
    def begin(state: PartState, token: str) -> Advance:
        """Advance of a commit that has done nothing yet."""
        return Advance(state, state, token)

    def within(self, limits: Limits, elastic: float) -> Advance:
        """The same, for a task that begins now under these limits."""
        self.limits, self.deadline, self.elastic = limits, limits.deadline, elastic
        return self

    def take(self, step: Step, rows: Rows, host: Host) -> None:
        """Do the next step. Raises what a commit raises; then this is of no use any more."""
        plan, stage = self.before.plan, self.before.plan.stages[step.stage]
        if step.opens:
            self._read(
                [feed for feed in plan.feeds_of(step.stage) if not feed.standing], rows, host
            )
        if step.move is Move.WHOLE:
            self._refresh(stage.of(self.before.number), host)
        elif stage.supersteps is not None:
            self._superstep(stage.supersteps, step, rows, host)
        self.steps += 1

    def catch_up(self, rows: Rows, host: Host) -> None:
        """Do a commit, or several, that happened: what was derived in supersteps is read."""
        plan = self.before.plan
        self._read(plan.feeds, rows, host)
        self._refresh(
            tuple(stratum for stage in plan.stages for stratum in stage.of(self.before.number)),
            host,
        )

    # ── stages ────────────────────────────────────────────────────────────────────────────────────
    def _refresh(self, strata: tuple[Stratum, ...], host: Host) -> None:
        plan, context = self.before.plan, self._context(host)
        new = (
            frozenset[str]()
            if self.before.token
            else frozenset(name for stratum in strata for name in stratum.relations)
        )
        program = StratifiedProgram(dict(plan.local), Stratification.of(strata))
        done = refresh(
            program,
            self.before.database,
            self.now.database,
            self.deltas,
            self.now.view_states,
            context,
            changed_rules=new,
            apart=plan.stage_named,
        )
        self.deltas |= done.deltas
        self.works += done.works
        self.now = replace(self.now, database=done.database, view_states=done.states)

    def _read(self, feeds: Iterable[Feed], rows: Rows, host: Host) -> None:
        updates: dict[str, RelationVersion] = {}
        for feed in feeds:
            updates |= self._fed(feed, rows, host)
        self.now = replace(self.now, database=self.now.database.replace(updates))

    # ── supersteps
    # ────────────────────────────────────────────────────────────────────────────────────
    def _superstep(self, supersteps: Supersteps, step: Step, rows: Rows, host: Host) -> None:
        before, now, context = self.before, self.now, self._context(host)
        if self.exchange is None or self.exchange.supersteps is not supersteps:
            self.exchange = Exchange(supersteps, before.database, before.number, before.parts, host)
        with placed_in(lambda: supersteps.rules):
            if step.move is Move.TELL:
                updates, deltas = self.exchange.relations_after(now.database, context)
                self.exchange, self.deltas = None, self.deltas | deltas
            else:
                updates = self.exchange.step(step, now.database, self.deltas, rows, context)
                self.works.append(
                    RuleWork(
                        ", ".join(supersteps.cuts),
                        "",
                        "supersteps",
                        steps=context.budget.work,
                        outcome="supersteps",
                    )
                )
        self.now = replace(now, database=now.database.replace(updates))

    def _fed(self, feed: Feed, rows: Rows, host: Host) -> dict[str, RelationVersion]:
        """The local relation with what is new of what came."""
        name = feed.schema.name
        present = self.now.database[name]
        version, delta = host.moved(feed, present, self.token, rows)
        if not len(delta):
            return {}
        self.deltas[name] = delta
        if feed.checked:
            known = without_role(feed.relation, Role.BASE)
            self.net[known] = delta
            check_key(replace(feed.schema, name=known), present, version, delta, host.dictionary)
        return {name: version}

    def finished(self) -> PartState:
        """The state after the commit."""
        return replace(self.now, token=self.token)

    def _context(self, host: Host) -> Context:
        context = context_of(self.now, host)
        budget, limits = context.budget, self.limits
        budget.work_limit, budget.memory_limit = limits.work, limits.memory
        budget.deadline = self.deadline
        context.fraction = self.elastic
        return context


def context_of(state: PartState, host: Host) -> Context:
    """The surroundings of an evaluation in a part."""
    traced = state.view_states.traced
    resources = Resources(
        host.arena,
        host.dictionary,
        user_aggregates=VERBS,
        trace_budget=state.settings.trace_budget,
        traced=lambda: traced,
        plans=host.plans(state.settings),
        caches=state.caches,
        outputs=state.outputs,
    )
    return Context(resources, statistics=state.statistics)
