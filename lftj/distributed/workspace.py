"""The distributed workspace: the calls of `lftj.Workspace`, over data that lives with an executor's
workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from lftj.distributed.bounds import Bounds
from lftj.distributed.draft import NOT_YET, RelationOrName, unsupported
from lftj.distributed.memory import memory_report
from lftj.distributed.plan_report import plan_report
from lftj.distributed.result import DistributedResult, all_as_change, relation_rows
from lftj.distributed.snapshot import DistributedSnapshot
from lftj.distributed.store import Store
from lftj.distributed.stream import batch_writer
from lftj.distributed.transaction import DistributedTransaction
from lftj.distributed.verify import discrepancies
from lftj.engine.declared import (
    ChoiceDomains,
    function_schema,
    is_news,
    relation_schema,
    view_schema,
)
from lftj.engine.handles import Relation, RuleHandle
from lftj.engine.limits import Limits
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.engine.staging import RowPolicy
from lftj.engine.state import name_of
from lftj.engine.subscription import Callback, Subscription
from lftj.engine.uncopied import Uncopied
from lftj.engine.verify import Discrepancy
from lftj.engine.writer import no_attribute
from lftj.errors import LftjError
from lftj.explain.profile import last_commits
from lftj.frames import ColumnMap, NullPolicy, Parameters, read_options
from lftj.program.normal_form import RelationSchema
from lftj.syntax.builder import Predicate
from scantree.interrupts import interrupts_as_such

if TYPE_CHECKING:
    import pandas  # pyright: ignore[reportMissingTypeStubs]
    import pyspark.sql


@with_named_options
class DistributedWorkspace(Uncopied):
    """Made by `lftj.connect(executor=SparkExecutor(…))`. What it cannot do yet raises
    DistributedError (E400).

    Data, versions and rules are kept as files below the executor's path: opening the path again
    goes on where the last commit ended.
    """

    kind, instead = (
        "workspace",
        "hand on what it holds, ws[name].arrow(), or open the path there once it is closed here",
    )

    def __init__(self, store: Store):
        """For `lftj.connect`."""
        self._live: Store | None = store

    @property
    def _store(self) -> Store:
        if self._live is None:
            raise LftjError(
                "the workspace is closed",
                code="E341",
                hint="open another one with lftj.connect(executor=…)",
            )
        return self._live

    # ── declarations ──────────────────────────────────────────────────────────────────────────────
    def relation(
        self,
        name: str,
        columns: Mapping[str, object],
        key: str | Sequence[str] | None = None,
        choice: ChoiceDomains = (),
    ) -> Relation:
        """Declare a relation, as `Workspace.relation`; rows of one key always lie in one part,
        which checks the key.
        """
        return self._declare(relation_schema(name, columns, key, choice), view=False)

    def view(self, name: str, columns: Mapping[str, object]) -> Relation:
        """Declare a relation whose rows come from rules only."""
        return self._declare(view_schema(name, columns), view=True)

    def function(self, name: str, arguments: Mapping[str, object], value: object) -> Relation:
        """Declare a function, in rules `F[x] == y`."""
        return self._declare(function_schema(name, arguments, value), view=False)

    def _declare(self, schema: RelationSchema, *, view: bool) -> Relation:
        relation = Relation(schema)  # checks the name
        if is_news(schema, self._store.program.catalog.relations, self._store.views, view=view):
            with self.transaction() as tx:
                tx.declare(schema, view=view)
        return relation

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    def transaction(self) -> DistributedTransaction:
        """Start a transaction; `with ws.transaction() as tx:` commits at the end of the block and
        rolls back on any exception.
        """
        return DistributedTransaction(self._store)

    def load(
        self,
        relation: RelationOrName,
        data: object,
        *,
        existing: RowPolicy = "ignore",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
    ) -> int:
        """Insert rows in a transaction of their own; returns how many were new. Spark DataFrames
        and Parquet are read by the executors.
        """
        with self.transaction() as tx:
            tx.insert(relation, data, existing=existing, nulls=nulls, columns=columns, facts=facts)
        return tx.inserted(relation)

    def add_rules(
        self,
        text: str,
        *,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program in one transaction, as `Workspace.add_rules`; every view is
        derived anew.
        """
        with self.transaction() as tx:
            return tx.add_rules(text, file=file, facts=facts, allow_paths=allow_paths)

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact; every view is derived anew."""
        with self.transaction() as tx:
            return tx.add_rule(rule)

    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several; every view is derived anew."""
        with self.transaction() as tx:
            tx.remove_rule(rule)

    def feed(
        self,
        relation: RelationOrName,
        stream: str,
        *,
        sign: str | None = "__diff__",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
    ) -> Callable[[pyspark.sql.DataFrame, int], None]:
        """For Structured Streaming: `frame.writeStream.foreachBatch(ws.feed("edge",
        "edges")).start()`.

        Every micro-batch is one commit, exactly once, also when Spark gives it again after a
        failure: the last one is noted by the name `stream` and its checkpoint. With a new
        checkpoint Spark gives all that the source has, and it is taken again. Rows whose column
        `sign` is negative go, positive ones come, those that go first; NULL is an error (E200).
        With `sign=None` all come. The rest as for `insert`.
        """
        return batch_writer(
            self._store, relation, stream, sign, read_options(nulls, columns, facts)
        )

    @interrupts_as_such()
    def compact(self) -> int:
        """Write the many small files of past commits as one per part and relation, and remove them;
        how many there were.

        What results, snapshots and DataFrames read that are still held stays. Commits do this by
        themselves when a relation has a thousand entries, or eight per part if that is more.
        """
        with (store := self._store).writer.held():
            return store.compact()

    @interrupts_as_such()
    def rebalance(self) -> bool:
        """Count again which values outweigh a part, as adding or removing a rule does, and derive
        all views anew if others do now; says whether. For a path that had its rules before its
        rows.
        """
        with (store := self._store).writer.held():
            before = store.manifest.version
            store.commit(store.draft(), count=True)
            store.tidy()
        store.subscriptions.deliver()
        return store.manifest.version > before

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def __getitem__(self, relation: RelationOrName) -> DistributedResult:
        """All rows of a relation or view, as of the last commit: `ws["reach"].to_spark()`, or
        `.df()` when it fits this process.
        """
        return self.snapshot()[relation]

    def snapshot(self) -> DistributedSnapshot:
        """The committed version of this moment, to read as long as it is held and the workspace is
        open.
        """
        return DistributedSnapshot(self._store)

    def __contains__(self, relation: object) -> bool:
        name = relation.name if isinstance(relation, Predicate) else relation
        return name in self._store.program.catalog.relations

    def query(self, question: object) -> Result:
        """The answers to an atom or a body, as `Workspace.query`, found where the rows are.

        A constant in the column by which a relation is cut asks one part alone: `ws.query("acct(7,
        who)")`. What parts hold is not read again; a relation in a cut that no rule needs is. Up to
        100,000 answers come to this process, of more a `DistributedResult`, to be read as long as
        it is held and the workspace is open.
        """
        return self.snapshot().query(question)

    @property
    def version(self) -> int:
        """Number of the last commit that changed rows or rules; 0 before the first."""
        return self._store.manifest.version

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return {
            name: Relation(schema) for name, schema in self._store.program.catalog.relations.items()
        }

    @property
    def rules(self) -> list[RuleHandle]:
        """The rules in the order they were added."""
        return self.snapshot().rules

    @interrupts_as_such()
    def subscribe(
        self, relation: RelationOrName, callback: Callback, snapshot: bool = False
    ) -> Subscription:
        """Call `callback(changes)` after every commit of this process that changes the relation, as
        `Workspace.subscribe`.

        What the relation won and lost comes to this process. With `snapshot` all rows come first,
        so it must be one that fits.
        """
        store = self._store
        with store.writer.held():
            schema = store.program.catalog.relation(name_of(relation))
            rows = (
                all_as_change(
                    relation_rows(store.executor, store.manifest, store.plan, schema), schema
                )
                if snapshot
                else None
            )
            subscription = store.subscriptions.add(schema.name, callback, rows)
        store.subscriptions.deliver()
        return subscription

    # ── looking inside ────────────────────────────────────────────────────────────────────────────
    def plan(self, rule: RuleHandle | None = None) -> Result:
        """Where relations live and what parts are sent: one row per local relation, with its stage
        and the rule's relation it stands for.

        `how`: `sliced` by a column, `whole in every part`, or `in the first part`; `rows` of the
        relation in all. The joins of one `rule` are not shown: DistributedError (E400).
        """
        if rule is not None:
            raise unsupported(
                "plan of a rule",
                "print(ws.plan()) shows where relations live; lftj.connect() plans the joins of "
                "rules",
            )
        return plan_report(self._store.present)

    def memory(self) -> Result:
        """Rows and bytes per relation, cut and key order, of head states and sensitivity indices,
        summed over the parts that workers keep now; then what all workers have in pages and
        strings, and what is on disk. One job, which opens no part.
        """
        return memory_report(self._store.present, Bounds(self._store.limits.current))

    @interrupts_as_such()
    def verify(self) -> list[Discrepancy]:
        """Derive every view anew from the base rows and compare: the views that differ, so `assert
        not ws.verify()`.

        Costs as much as deriving every view from nothing, on the executors and below the path, as
        long as it takes; nobody commits meanwhile. Only rows that differ come to this process.
        """
        with (store := self._store).writer.held(), store.described("verification"):
            return discrepancies(store.executor, store.manifest, store.plan)

    def profile(self, last: int | None = None) -> pandas.DataFrame:
        """What the last commits of this process cost, the oldest first, a row each; the columns are
        those of `outcome.Report`.
        """
        import pandas  # heavy, and only here

        return pandas.DataFrame(
            [vars(report) for report in last_commits(self._store.reports, last)]
        )

    def limits(
        self, *, work: int | None = None, seconds: float | None = None, memory: int | None = None
    ) -> AbstractContextManager[None]:
        """Bound every commit and query of this thread inside a `with` block; reaching a bound
        raises LimitError, and nothing has happened.

        `work`: kernel steps of all parts; `seconds`: of time, after which what still runs is
        cancelled; `memory`: bytes of all pages in use in a worker.
        """
        return self._store.limits.set(Limits(work, seconds, memory))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def close(self) -> None:
        """Let others open the path, below which nothing changes any more. Harmless when repeated.

        Waits for workers that are just storing a part, half a minute at most.
        """
        if self._live is not None and self._live.writer.mine:
            raise LftjError(
                "a transaction is open", code="E342", hint="commit or roll it back, then close"
            )
        if self._live is not None:
            self._live.close()
        self._live = None

    def __enter__(self) -> DistributedWorkspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._live is None:
            return "<DistributedWorkspace, closed>"
        store = self._live
        return (
            f"<DistributedWorkspace, version {self.version}, {store.manifest.parts} parts, "
            f"{os.fspath(store.executor.path)}>"
        )

    # ── what it cannot do yet ─────────────────────────────────────────────────────────────────────
    def __getattr__(self, name: str) -> NoReturn:
        if name in NOT_YET:
            raise unsupported(name, NOT_YET[name])
        raise no_attribute(self, DistributedTransaction, name)
