# SPDX-License-Identifier: Apache-2.0
"""The task of a question: one part does a stage of it, over what it holds, and writes what it
found. The part stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from lftj.distributed.files.deliveries import Log, read_delivery
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.files.row_files import write_entry
from lftj.distributed.partitioning.query_plan import QueryPlan
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.part import PartState, context_of
from lftj.distributed.parts.task import OnPart
from lftj.distributed.work.worker import Holding, Worker, carefully
from lftj.program import Stratification, StratifiedProgram
from lftj.scantree import frozen
from lftj.storage import Database, Delta
from lftj.views import NO_STATES, refresh


@frozen
class QueryTask(OnPart):
    """One stage of a question `token` in one part. `held`: the part is asked at the version of the
    task; else all is read from entries. `delivery`: the file that tells what feeds are read from,
    stages before included; none where there are none.
    """

    token: str
    plan: QueryPlan
    stage: int
    held: bool
    delivery: str


@frozen
class Answered:
    """Answer of a part, by relation, and the kernel steps and rows read for it."""

    part: int
    entries: Mapping[str, Entry] = field(default_factory=dict)
    steps: int = 0
    read: int = 0


def answer_part(task: QueryTask) -> Answered | Failure:
    """Do it. Raises what has to be tried again."""
    return carefully(task, lambda worker: _answered(task, worker))


def _answered(task: QueryTask, worker: Worker) -> Answered:
    holding = Holding(task, worker)
    state = (
        holding.state()
        if task.held
        else PartState("", holding.plan, task.part, task.parts, Database()).under(task.settings)
    )
    run = _Run(holding, state)
    for stage in range(task.stage + 1):
        run.stage(stage)
    entries = run.written()
    worker.checkpoints.check()
    holding.tidy()
    return Answered(task.part, entries, run.context.budget.work, holding.read)


class _Run:
    def __init__(self, holding: Holding[QueryTask], state: PartState):
        self.holding, self.task, self.plan = holding, holding.task, holding.task.plan
        self.context = context_of(state, holding.host)
        self.context.keep = False
        budget, limits = self.context.budget, self.task.limits
        budget.work_limit, budget.memory_limit = limits.work, limits.memory
        budget.deadline = limits.deadline
        self.database = state.database.replace(
            {name: holding.host.empty(schema) for name, schema in self.plan.local.items()}
        )

        self.needed = self._needed()
        file = self.task.folder / ROWS / self.task.delivery
        self.log: Log = read_delivery(file, self.task.part) if self.task.delivery else {}

    def _needed(self) -> set[str]:
        """The relations that the task's stage looks at. What stages before derived is not kept: it
        is derived again where it is needed.
        """
        needed = {output.local for output in self.plan.outputs if output.stage == self.task.stage}
        for stage in reversed(self.plan.stages[: self.task.stage + 1]):
            for stratum in reversed(stage.strata):
                if not needed.isdisjoint(stratum.relations):
                    needed |= stratum.reads
        return needed

    def stage(self, number: int) -> None:
        """Read what comes before a stage, and derive what it derives, as far as it is needed."""
        rows = self.holding.rows(self.log)
        fed = {
            feed.schema.name: rows(feed)
            for feed in self.plan.feeds
            if feed.stage == number and feed.schema.name in self.needed
        }
        self.database = self.database.replace(
            {name: self.database[name].apply(delta) for name, delta in fed.items()}
        )
        strata = [
            each
            for each in self.plan.stages[number].of(self.task.part)
            if not self.needed.isdisjoint(each.relations)
        ]
        new = frozenset(name for stratum in strata for name in stratum.relations)
        schemas = {name: relation.schema for name, relation in self.database.items()}
        program = StratifiedProgram(schemas, Stratification.of(strata))
        self.database = refresh(
            program, self.database, self.database, {}, NO_STATES, self.context, changed_rules=new
        ).database
        self.context.budget.spend(0)

    def written(self) -> dict[str, Entry]:
        """Entries of the last stage that others read."""
        task, found = self.task, dict[str, Entry]()
        for number, output in enumerate(self.plan.outputs):
            rows = self.database[output.local].columns()
            if output.stage != task.stage or not len(rows[0]):
                continue
            if output.shares:  # with the number of the part in front
                rows = [np.full(len(rows[0]), task.part, np.int64), *rows]
            delta = Delta(rows, [column[:0] for column in rows])
            stem, dictionary = (
                f"{task.base[1]}-{task.token}-{task.part}-{number}",
                self.holding.host.dictionary,
            )
            folder = task.folder / ROWS
            found[output.relation] = write_entry(
                folder,
                stem,
                task.base[1],
                output.schema,
                delta,
                output.cuts,
                task.parts,
                dictionary,
            )
        return found
