"""A transaction: changes to rows and rules that happen together or not at all.

Nothing is visible to anyone, the writer included, until the commit; `ws[...]` goes on showing the
last committed version. Operations on one row overwrite each other, the last one wins, and what
counts in the end is the difference between before and after.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, overload

from lftj.engine.draft import Draft
from lftj.engine.handles import RuleHandle, handles_of
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.engine.staging import RowPolicy, strict
from lftj.engine.state import name_of
from lftj.engine.writer import Writing
from lftj.frames import ColumnMap, NullPolicy, Parameters, read_options
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.syntax import tree
from lftj.syntax.builder import Predicate
from scantree.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

RelationOrName = str | Predicate


@with_named_options
class Transaction(Writing[Draft]):
    """Made by `ws.transaction()`; holds the workspace's writer lock until its end.

    As a context manager it commits at the end of the block and rolls back on any exception, Ctrl-C
    included. Afterwards `version` and `changes()` say what the commit did. Every other use after
    the end raises TransactionError (E320).
    """

    def __init__(self, engine: Engine):
        """For the engine. Raises TransactionError (E322) inside another transaction of this thread,
        (E323) when waiting took too long.
        """
        self._engine = engine
        self._changes: dict[str, Delta] | None = None
        self._base_changes: dict[str, Delta] = {}
        self.work = 0
        """Kernel steps that the commit took: a measure of work that is the same on
        every machine.
        """
        super().__init__(engine.writer)

    def _begin(self) -> Draft:
        self._catalog = self._engine.state.program.catalog
        self._version = self._engine.state.version
        return Draft(self._engine)

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────
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
        """Insert rows.

        `data`: list of tuples, dict or list of dicts, pandas, Polars or Arrow table, path of a CSV,
        TSV, `.facts` or Parquet file. `existing`: what a row that is already there means,
        `"ignore"` or `"error"` (MissingRowError E311); a row repeated within `data` is one row.
        `nulls`: what NULL and NaN mean, `"error"` or `"drop"` for leaving the row out.
        `columns={"relation column": "frame column"}` renames, and lets other columns be. `facts`:
        read the file as Soufflé's facts, with these parameters of `.input` (`{}`: none). O(rows)
        here, O(rows · log n) at commit.
        """
        self._open().insert(
            relation, data, strict("existing", existing), read_options(nulls, columns, facts)
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
        """Delete whole rows; `data` and the rest as for `insert`.

        `missing`: what a row that is not there means, `"ignore"` or `"error"` (MissingRowError
        E310). A row that a rule derives is not there in this sense unless it was inserted too, and
        deleting it leaves it derived.
        """
        self._open().delete(
            relation, data, strict("missing", missing), read_options(nulls, columns, facts)
        )

    @interrupts_as_such()
    def delete_where(self, relation: RelationOrName, **values: object) -> int:
        """Delete all rows that have these values in these columns, without any of them all rows;
        returns how many.

        O(m log n) for m rows where rules read the relation beginning with one of these columns, or
        it is the first; else O(n).
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
        """Insert rows, each in place of the row with the same key, if any. Whole rows; of rows with
        one key the last one wins.

        Needs a relation with a key, or a function (whose arguments are its key): TransactionError
        E324 otherwise.
        """
        self._open().upsert(relation, data, read_options(nulls, columns, facts))

    # ── rules ─────────────────────────────────────────────────────────────────────────────────────
    def declare(self, schema: RelationSchema, *, view: bool = False) -> None:
        """For the workspace: declare a relation."""
        self._open().declare(schema, view=view)

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Let rules use an aggregate of your own; see `Workspace.add_aggregate`."""
        self._open().add_aggregate(aggregate)

    @interrupts_as_such()
    def add_rules(
        self,
        text: str | tree.ParsedProgram,
        *,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program's declarations, rules and facts, as text or parsed already; see
        `Workspace.add_rules`.
        """
        return self._open().add_rules(text, file, facts, allow_paths)

    @interrupts_as_such()
    def add_rule(self, rule: str | tree.Rule | object) -> RuleHandle:
        """Add one rule or fact; see `Workspace.add_rule`."""
        return self._open().add_rule(rule)

    @interrupts_as_such()
    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several; see `Workspace.remove_rule`."""
        self._open().remove_rules(handles_of(rule))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def commit(self) -> int:
        """Make everything happen and return the version. On any error nothing has happened and the
        transaction is over.

        Raises KeyViolationError, ValueRangeError, LimitError … Afterwards subscribers have been
        called.
        """
        draft, engine = self._open(), self._engine
        self._ended = "rolled back"
        try:
            outcome, news = engine.carry_out(draft.proposal())
            tell, catalog, version = (
                engine.subscriptions.waiting.extend,
                outcome.state.program.catalog,
                outcome.state.version,
            )
            texts = engine.dictionary.texts()
            # Python handles no interrupt from here until `tell`, which is C's, has returned: all of
            # this happens, or nothing.
            engine.state, self._ended, self._texts = outcome.state, "committed", texts
            self._catalog, self._version = catalog, version
            self._changes, self._base_changes, self.work = (
                outcome.changes,
                outcome.base_changes,
                outcome.work,
            )
            tell(news)
            engine.history.append((version, (*draft.compilations(), *outcome.works)))
            engine.forget_strings()
        finally:  # as `_release`, at whose beginning an interrupt might be handled
            self._draft, self._writer.owner = None, None
            self._writer.lock.release()
        engine.subscriptions.deliver()
        return version

    # ── what it did ───────────────────────────────────────────────────────────────────────────────
    @property
    def version(self) -> int:
        """The version this transaction made; before its commit, and when it changed nothing, the
        one it started from.
        """
        return self._version

    @overload
    def changes(self) -> list[str]: ...
    @overload
    def changes(self, relation: RelationOrName) -> Result: ...

    def changes(self, relation: RelationOrName | None = None) -> list[str] | Result:
        """What the commit changed: without an argument the names of the relations, with one a
        `Result` of exactly its difference.

        The result has the relation's columns, `__diff__` (+1 for a row won, −1 for one lost) and
        `__version__`. Raises TransactionError (E320) before the commit and after a rollback.
        """
        if self._changes is None:
            raise self._unfinished()
        if relation is None:
            return sorted(self._changes)
        schema = self._catalog.relation(name_of(relation))
        delta = self._changes.get(schema.name) or Delta.empty(schema.arity)
        return self._engine.change_set(self._version, schema, delta, self._texts)

    def inserted(self, relation: RelationOrName) -> int:
        """How many rows of its own the relation won by the commit."""
        delta = self._base_changes.get(name_of(relation))
        return delta.inserted if delta else 0
