"""A transaction on a distributed workspace: as `lftj.Transaction`, over all parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn, overload

from lftj.distributed.changes import Changes
from lftj.distributed.draft import NOT_YET, DistributedDraft, RelationOrName, unsupported
from lftj.distributed.store import Store
from lftj.engine.handles import RuleHandle, handles_of
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.engine.staging import RowPolicy, strict
from lftj.engine.state import name_of
from lftj.engine.writer import Writing
from lftj.frames import ColumnMap, NullPolicy, Parameters, read_options
from lftj.program.normal_form import RelationSchema
from lftj.syntax import tree
from scantree.interrupts import interrupts_as_such


@with_named_options
class DistributedTransaction(Writing[DistributedDraft]):
    """Made by `ws.transaction()`. As a context manager it commits at the end of the block and rolls
    back on any exception.
    """

    def __init__(self, store: Store, batch: tuple[str, int] | None = None):
        """For the workspace. Raises TransactionError (E322) in a thread that has one open, (E323)
        when waiting took too long.
        """
        self._store = store
        self._batch = batch
        self._changes: Changes | None = None
        super().__init__(store.writer)

    def _begin(self) -> DistributedDraft:
        self._before = self._store.present
        return self._store.draft()

    # ── rows and rules ────────────────────────────────────────────────────────────────────────────
    @interrupts_as_such()
    def insert(
        self,
        relation: RelationOrName,
        data: object,
        *,
        existing: RowPolicy = "ignore",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
    ) -> None:
        """Insert rows: tuples, a pandas, Polars or Arrow table, a CSV file, which go out from here;
        or a Spark DataFrame or Parquet path, which the executors read. `existing`: what a row that
        is already there means, `"ignore"` or `"error"` (MissingRowError E311), which asks the parts
        that hold such rows, at once: a job.
        """
        self._open().change(
            relation, data, 1, strict("existing", existing), read_options(nulls, columns, facts)
        )

    @interrupts_as_such()
    def delete(
        self,
        relation: RelationOrName,
        data: object,
        *,
        missing: RowPolicy = "ignore",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
    ) -> None:
        """Delete whole rows; `data` and the rest as for `insert`. `missing`: what a row that is not
        there means, `"ignore"` or `"error"` (MissingRowError E310).
        """
        self._open().change(
            relation, data, -1, strict("missing", missing), read_options(nulls, columns, facts)
        )

    @interrupts_as_such()
    def delete_where(self, relation: RelationOrName, **values: object) -> int:
        """Delete all rows that have these values in these columns, where they are; returns how
        many.

        A job at once, of one part where the column by which the relation is cut has a value, else
        of all; rows do not pass through here.
        """
        return self._open().delete_where(relation, values)

    @interrupts_as_such()
    def upsert(
        self,
        relation: RelationOrName,
        data: object,
        *,
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
    ) -> None:
        """Insert rows, each in place of the row with the same key, if any; `data` as for `insert`.
        Of rows with one key the last one wins.

        Needs a relation with a key, or a function: TransactionError E324 otherwise. The parts that
        hold the keys replace their rows when the transaction is committed: one job more for all
        upserts of a relation.
        """
        self._open().upsert(relation, data, read_options(nulls, columns, facts))

    def declare(self, schema: RelationSchema, *, view: bool = False) -> None:
        """For the workspace: declare a relation."""
        self._open().declare(schema, view=view)

    @interrupts_as_such()
    def add_rules(
        self,
        text: str | tree.ParsedProgram,
        *,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program's declarations, rules and facts; every view is derived anew."""
        return self._open().add_rules(text, file, facts, allow_paths)

    @interrupts_as_such()
    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact; every view is derived anew."""
        return self._open().add_rule(rule)

    @interrupts_as_such()
    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several; every view is derived anew."""
        self._open().remove_rules(handles_of(rule))

    def _release(self) -> None:
        self._forget_files()
        super()._release()

    def _forget_files(self) -> None:
        """Remove those of rows that went out already, unless they are part of what happened, or a
        parent's whose transaction goes on.
        """
        if self._draft is not None and self._ended != "committed" and self._store.ours:
            with suppress(OSError):  # where the path is gone or read-only
                self._draft.discard()

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    @interrupts_as_such()
    def commit(self) -> int:
        """Make everything happen and return the version. On any error nothing has happened and the
        transaction is over.

        Raises KeyViolationError, ValueRangeError, LimitError … Afterwards subscribers have been
        called.
        """
        draft, store = self._open(), self._store
        self._ended, before = "rolled back", store.changed
        try:
            store.commit(draft, self._batch)
            store.tidy()
        finally:
            if store.changed is not before:  # an interrupt may have come after that
                self._changes, self._ended = store.changed, "committed"
            try:
                self._forget_files()
            finally:  # as `_release`, at whose beginning an interrupt might be handled
                self._draft, self._writer.owner = None, None
                self._writer.lock.release()
        store.subscriptions.deliver()
        return self.version

    # ── what it did ───────────────────────────────────────────────────────────────────────────────
    @property
    def version(self) -> int:
        """The version this transaction made; before its commit, and when it changed nothing, the
        one it started from.
        """
        return (
            self._before.manifest.version
            if self._changes is None
            else self._changes.outcome.manifest.version
        )

    @overload
    def changes(self) -> list[str]: ...
    @overload
    def changes(self, relation: RelationOrName) -> Result: ...

    @interrupts_as_such()
    def changes(self, relation: RelationOrName | None = None) -> list[str] | Result:
        """What the commit changed: without an argument the names of the relations, with one a
        `Result` of exactly its difference.
        """
        if self._changes is None:
            raise self._unfinished()
        return (
            self._changes.names()
            if relation is None
            else self._changes.of(self._changes.schema(name_of(relation)).name)
        )

    @property
    def work(self) -> int:
        """Kernel steps that the commit took, in all parts; 0 before it."""
        report = None if self._changes is None else self._changes.outcome.report
        return 0 if report is None else report.steps

    def inserted(self, relation: RelationOrName) -> int:
        """How many rows of its own the relation won by the commit."""
        return (
            0 if self._changes is None else self._changes.outcome.inserted.get(name_of(relation), 0)
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name in NOT_YET:
            raise unsupported(name, NOT_YET[name])
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
        )
