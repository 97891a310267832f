# SPDX-License-Identifier: Apache-2.0
"""Questions over parts: asked where the rows are, stage by stage; few answers are gathered, many
stay where they were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.compiling_workers import Kernels
from lftj.distributed.files.deliveries import delivery_name, write_delivery
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.manifest import ROWS, files_from, remove_files, reported_by_the_system
from lftj.distributed.held_files import HeldFiles
from lftj.distributed.objects.mounts import sent
from lftj.distributed.partitioning.cuts import ONE, Cut
from lftj.distributed.partitioning.query_plan import QueryPlan, query_plan
from lftj.distributed.parts.transport import ReadTask
from lftj.distributed.result import gathered, rows_in_parts
from lftj.distributed.work.query_part import Answered, QueryTask, answer_part
from lftj.engine.questions import Question, asked, question_body, values_of
from lftj.engine.versions import ANSWERS, Result
from lftj.errors import DistributedError
from lftj.program import QUESTION, Catalog, RelationSchema
from lftj.syntax import attending, to_term, tree
from lftj.types import Dictionary

_ANSWER = "query"


def is_answer(file: str) -> bool:
    """Test for a row file of answers to a question, or of rows on the way to them."""
    return file.partition("-")[2].startswith(_ANSWER)


def bound_body(catalog: Catalog, question: object, values: Sequence[object]) -> tree.Body:
    """The body of a question with constants for its parameters, of the types that they have: parts
    find the rows of constants where they are. Raises what a question of one process raises.
    """
    read = (question if isinstance(question, Question) else Question(question)).parametrised
    read.require(values)
    if (schema := values_of(catalog, read)) is None:
        return read.body
    read.encoded(schema, values, Dictionary())
    return read.with_values([to_term(value) for value in values])


def answer(
    present: Present,
    question: object,
    bounds: Bounds,
    files: HeldFiles,
    kernels: Kernels,
    *,
    held: bool,
) -> Result:
    """The distinct bindings of the question's variables; see `lftj.engine.live.answers`. `held`:
    the version is the last one, whose rows parts hold. `files`: what keeps those of many answers;
    `kernels`: those that workers have.

    Raises what a rule with this body would raise, LimitError, and DistributedError (E401) when a
    job failed.
    """
    with attending(bounds.budget.read_on):
        program, schema, own = asked(present.plan.program, question_body(question))
    kernels.compile(program.catalog.relations.values(), own, bounds)
    counts = present.manifest.counts

    def asking(held: bool) -> _Asking:
        with attending(lambda steps: bounds.budget.look()):
            plan = query_plan(present.plan, program, own, counts, held=held)
        return _Asking(present, schema, plan, files, held)

    if held:
        try:
            return asking(True).ask(bounds)
        except DistributedError as error:
            if error.code not in ("E401", "E406"):
                raise  # else parts may be ahead by now, and have to be read as they were
    return asking(False).ask(bounds)


class _Asking:
    def __init__(
        self,
        present: Present,
        schema: RelationSchema,
        plan: QueryPlan,
        files: HeldFiles,
        held: bool,
    ):
        self.present, self.schema, self.plan, self.held = present, schema, plan, held
        self.files = files
        self.token = f"{_ANSWER}{uuid4().hex[:16]}"
        self.reads: dict[str, list[Cut]] = {}
        for feed in plan.feeds:
            self.reads.setdefault(feed.relation, []).append(feed.cut)
        self.log: dict[str, list[Entry]] = {
            name: list(present.manifest.log.get(name, ())) for name in self.reads
        }
        self.deliveries: set[str] = set()
        self.made: dict[str, list[Entry]] = {QUESTION: []}

    def ask(self, bounds: Bounds) -> Result:
        """All stages. Files that nobody will read are removed, whatever happens."""
        path = self.present.executor.path
        with reported_by_the_system(path):
            try:
                for stage in range(len(self.plan.stages)):
                    self._stage(stage, bounds)
                kept = self.made[QUESTION]
                most = self.present.settings.tuning.gathered_rows
                if sum(entry.rows for entry in kept) > most:
                    self.made[QUESTION] = []
                    return self._left(kept)
                return self._gathered(kept)
            except BaseException:
                remove_files(
                    path, files_from(path, f"{self.present.manifest.version}-{self.token}")
                )  # of parts that did not fail
                raise
            finally:
                remove_files(
                    path,
                    self.deliveries
                    | files_of(entry for entries in self.made.values() for entry in entries),
                )

    def _stage(self, stage: int, bounds: Bounds) -> None:
        executor, delivery, limits = self.present.executor, self._delivered(stage), bounds.left()
        tasks = [
            QueryTask(
                **self.present.on(part, limits),
                token=self.token,
                plan=self.plan,
                stage=stage,
                held=self.held,
                delivery=delivery,
            )
            for part in self.plan.asked(stage, executor.partitions)
        ]
        found: list[Answered] = bounds.run(executor, answer_part, tasks)
        for done in found:
            for name, entry in done.entries.items():
                self.made.setdefault(name, []).append(entry)
                if name in self.log:
                    self.log[name].append(entry)
        bounds.budget.spend(sum(done.steps for done in found))

    def _delivered(self, stage: int) -> str:
        """The name of a file that tells each part what it reads in a stage; none where no part
        reads anything.
        """
        if not any(self.log.values()):
            return ""
        executor = self.present.executor
        name = delivery_name(self.present.manifest.version, self.token, stage)
        write_delivery(executor.path / ROWS / name, self.log, self.reads, executor.partitions)
        self.deliveries.add(name)
        return name

    def _gathered(self, entries: list[Entry]) -> Result:
        dictionary = Dictionary()
        rows = gathered(self.present.executor, entries, self.schema, dictionary)
        version = self.present.manifest.version
        return Result(
            self.schema.columns,
            lambda: rows,
            len(rows[0]),
            dictionary,
            version=version,
            name=ANSWERS,
        )

    def _left(self, entries: list[Entry]) -> Result:
        executor, schema = self.present.executor, self.schema
        # Each entry has rows that no other has.
        tasks = [
            ReadTask(sent(executor.path), 0, executor.partitions, schema, ONE, (entry,))
            for entry in entries
        ]
        return rows_in_parts(
            lambda dictionary: gathered(executor, entries, schema, dictionary),
            tasks,
            self.present,
            sum(entry.rows for entry in entries),
            name=ANSWERS,
            held=self.files,
        )
