"""Questions over parts: asked where the rows are, stage by stage; few answers are gathered, many
stay where they were found.
"""

from __future__ import annotations

from uuid import uuid4

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.manifest import files_from, remove_files, told_by_the_system
from lftj.distributed.partitioning.cuts import ONE
from lftj.distributed.partitioning.query_plan import QueryPlan, query_plan
from lftj.distributed.parts.transport import ReadTask
from lftj.distributed.result import DistributedResult, gathered
from lftj.distributed.work.query_part import Answered, QueryTask, answer_part
from lftj.engine.question import asked, question_body
from lftj.engine.result import Result
from lftj.errors import DistributedError
from lftj.program.normal_form import QUESTION, RelationSchema
from lftj.types.dictionary import Dictionary

GATHERED = 100_000
"""Answers up to which they come to this process at once; more stay below the path until it is
compacted or opened again.
"""

_ANSWER = "query"


def is_answer(file: str) -> bool:
    """Whether a row file is of answers to a question, or on the way to them."""
    return file.partition("-")[2].startswith(_ANSWER)


def answer(present: Present, question: object, bounds: Bounds, *, held: bool) -> Result:
    """The distinct bindings of the question's variables; see `lftj.api.snapshot.answer`. `held`:
    the version is the last one.

    Raises what a rule with this body would raise, LimitError, and DistributedError (E401) when a
    job failed.
    """
    program, schema, own = asked(present.plan.program, question_body(question))
    if held:
        try:
            return _Asking(
                present,
                schema,
                query_plan(present.plan, program, own, present.manifest.counts, held=True),
                True,
            ).ask(bounds)
        except DistributedError as error:
            if error.code not in ("E401", "E406"):
                raise  # else parts may be ahead by now, and have to be read as they were
    return _Asking(
        present,
        schema,
        query_plan(present.plan, program, own, present.manifest.counts, held=False),
        False,
    ).ask(bounds)


class _Asking:
    def __init__(self, present: Present, schema: RelationSchema, plan: QueryPlan, held: bool):
        self.present, self.schema, self.plan, self.held = present, schema, plan, held
        self.token = f"{_ANSWER}{uuid4().hex[:16]}"
        read = {feed.relation for feed in plan.feeds}
        self.log: dict[str, list[Entry]] = {
            name: list(present.manifest.log.get(name, ())) for name in read
        }
        self.made: dict[str, list[Entry]] = {QUESTION: []}

    def ask(self, bounds: Bounds) -> Result:
        """All stages. Files that nobody will read are removed, whatever happens."""
        path = self.present.executor.path
        with told_by_the_system(path):
            try:
                for stage in range(len(self.plan.stages)):
                    self._stage(stage, bounds)
                kept = self.made[QUESTION]
                if sum(entry.rows for entry in kept) > GATHERED:
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
                    path, files_of(entry for entries in self.made.values() for entry in entries)
                )

    def _stage(self, stage: int, bounds: Bounds) -> None:
        executor, limits = self.present.executor, bounds.left()
        tasks = [
            QueryTask(
                **self.present.on(part, limits),
                token=self.token,
                plan=self.plan,
                stage=stage,
                held=self.held,
                log=self.log,
            )
            for part in self.plan.asked(stage, executor.partitions)
        ]
        found: list[Answered] = bounds.run(executor, answer_part, tasks)
        for done in found:
            for name, entry in done.entries.items():
                self.made.setdefault(name, []).append(entry)
                self.log.setdefault(name, []).append(entry)
        bounds.spent(sum(done.steps for done in found))

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
            name="answers",
        )

    def _left(self, entries: list[Entry]) -> DistributedResult:
        executor, version = self.present.executor, self.present.manifest.version
        # Each entry has rows that no other has.
        tasks = [
            ReadTask(str(executor.path), 0, executor.partitions, self.schema, ONE, (entry,))
            for entry in entries
        ]
        rows = sum(entry.rows for entry in entries)
        result = DistributedResult(
            lambda dictionary: gathered(executor, entries, self.schema, dictionary),
            tasks,
            executor,
            rows,
            version,
        )
        result.name = "answers"
        return result
