# SPDX-License-Identifier: Apache-2.0
"""A transaction: changes to rows and rules that happen together or not at all.

Nothing is visible to anyone, the writer included, until the commit; `ws[...]` goes on showing the
last committed version. Operations on one row overwrite each other, the last one wins, and what
counts in the end is the difference between before and after.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn, overload

from lftj.api.backend import Backend, Draft
from lftj.engine.calls.options import with_named_options
from lftj.engine.commit.staging import RowPolicy, strict
from lftj.engine.programs.handles import Relation, RuleHandle, handles_of
from lftj.engine.programs.program_change import ProgramChange, between
from lftj.engine.transaction.bulk import Synced, require_one
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.transaction.requests import KEEP, Request
from lftj.engine.transaction.transaction_life import Committed, Writing
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import name_of
from lftj.errors import ArityError, FrameError, TransactionError
from lftj.frames import ColumnMap, NullPolicy, Parameters, read_options
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import RelationSchema
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.syntax import tree
from lftj.syntax.user_function import UserFunction

if TYPE_CHECKING:
    from lftj.api.change_stream import Consumer
    from lftj.proofs.change import ChangeExplanation


class Preview(Mapping[str, Result]):
    """Changes that a commit would make, by relation: `preview["reach"]` is a `Result` as
    `Transaction.changes` gives it. Only relations that would change are listed.
    """

    def __init__(self, changes: Committed, rules: Callable[[], ProgramChange]):
        """For the transaction."""
        self._changes, self._rules = changes, rules

    def __getitem__(self, relation: RelationOrName) -> Result:
        return self._changes.of(name_of(relation))

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes.names())

    def __len__(self) -> int:
        return len(self._changes.names())

    @property
    def rules(self) -> ProgramChange:
        """Rules that would come and go, and relations that would be declared and dropped."""
        return self._rules()

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError: changes are found by the names of relations."""
        raise AttributeError(
            f"a preview has no {name!r}: preview['edge'] has the changes of a relation, "
            f"preview.rules those of rules"
        )

    def __repr__(self) -> str:
        rules = self.rules
        counts = [f"{s}{len(each)}" for s, each in (("+", rules.came), ("-", rules.went)) if each]
        parts = [*self, *([f"rules {' '.join(counts)}"] if counts else [])]
        parts += [f"the schema of {each}" for each in rules.altered]
        return f"<Preview of changes to {', '.join(parts) or 'nothing'}>"


@with_named_options
class Transaction(Writing[Draft]):
    """A transaction, which `ws.transaction()` begins; it holds the workspace's writer lock until
    its end.

    As a context manager it commits at the end of the block and rolls back on any exception, Ctrl-C
    included. Afterwards `version` and `changes()` say what the commit did. Every other use after
    the end raises TransactionError (E320).
    """

    _backend: Backend

    def __init__(self, backend: Backend, message: str | None = None):
        """For the workspace; see `Workspace.transaction`."""
        super().__init__(backend)
        if message is not None:
            try:
                self._open().annotate(self._text(message))
            except BaseException:
                self.rollback()
                raise

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
        null: str | None = None,
    ) -> None:
        """Insert rows.

        `data`: list of tuples, dict or list of dicts, rows of `sqlite3` (by name where they are
        `sqlite3.Row`), pandas, Polars or Arrow table, path of a CSV, TSV, `.facts` or Parquet file,
        table of `deltalake` or `pyiceberg`; over parts also a Spark DataFrame, which like Parquet
        is read by the executors. `existing`: what a row that is already there means, `"ignore"` or
        `"error"` (MissingRowError E311); a row repeated within `data` is one row. `nulls`: what
        NULL and NaN mean, `"error"` or `"drop"` for leaving the row out. `columns={"relation
        column": "frame column"}` renames, and lets other columns be. `facts`: read the file as
        Soufflé's facts, with these parameters of `.input` (`{}`: none). `null`: the field of a file
        of text that is NULL, such as `""` or `"NA"`; None: an empty field, and of strings `\\N`.
        `nulls` says what NULL means then. O(rows) here, O(rows · log n) at commit, or here where
        the relation has no rows; over parts
        `"error"` takes a job, in which the parts that hold such rows answer at once.
        """
        self._open().insert(
            relation, data, strict("existing", existing), read_options(nulls, columns, facts, null)
        )

    @interrupts_as_such()
    def delete(
        self,
        relation: RelationOrName,
        data: object = None,
        *,
        keys: object = None,
        missing: RowPolicy = "ignore",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
        null: str | None = None,
    ) -> None:
        """Delete whole rows; `data` and the rest as for `insert`. Or, with `keys`, all rows that
        have these values in some columns: a table says by its names in which, other data are values
        of the relation's key (TransactionError E324 where it has none), for a key of one column
        also without tuples: `keys=[7, 8]`.

        `missing`: what a row that is not there means, `"ignore"` or `"error"` (MissingRowError
        E310). A row that a rule derives is not there in this sense unless it was inserted too, and
        deleting it leaves it derived.
        """
        draft, options = self._open(), read_options(nulls, columns, facts, null)
        if keys is not None:
            require_one(data)
            draft.delete_keys(
                relation, keys, missing != "ignore" and strict("missing", missing), options
            )
            return
        try:
            draft.delete(relation, data, strict("missing", missing), options)
        except (ArityError, FrameError) as error:
            if error.code in ("E120", "E230"):
                error.hint = (
                    f"{error.hint}; by some columns rows are deleted with tx.delete_where(…)"
                )
            raise

    @interrupts_as_such()
    def delete_where(self, relation: RelationOrName, **values: object) -> int:
        """Delete all rows that have these values in these columns, without any of them all rows;
        returns how many.

        O(m log n) for m rows where rules read the relation beginning with one of these columns, or
        it is the first; else O(n). Over parts a job at once, of one part where the column by which
        the relation is cut has a value, else of all; rows stay where they are.
        """
        return self._open().delete_where(relation, values)

    @interrupts_as_such()
    def sync(
        self,
        relation: RelationOrName,
        data: object,
        *,
        by: str | Sequence[str] | None = None,
        where: Mapping[str, object] | None = None,
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
        null: str | None = None,
    ) -> Synced:
        """Make a relation equal to a table: rows that are not in `data` go, those that are come;
        `data` and the rest as for `insert`. What is equal is no change, so views do work for what
        differs.

        `by`: the columns that tell rows apart, by default the key, else all; of rows of `data` with
        one identity the last counts. Returns how many rows were inserted, updated (one of their
        identity was there) and deleted. `where={"land": "FR"}`: only rows with these values are
        compared, and all of `data` have them: DeclarationError (E160). O(n), and O(n log n) for
        data in another order than the relation's. Not over parts: DistributedError (E400).
        """
        options = read_options(nulls, columns, facts, null)
        return self._open().sync(relation, data, by, dict(where or {}), options)

    @interrupts_as_such()
    def apply_changes(
        self,
        relation: RelationOrName,
        changes: object,
        *,
        feed: str | None = None,
        position: int | str | None = None,
    ) -> int:
        """Apply changes that were captured elsewhere, in the order of their positions where each
        has one, else as they are given; returns how many.

        `changes`: events of Debezium, as dicts, JSON texts or the path of a file with one a line:
        `op` (c, r, u, d, t) with images of the row `before` and `after`, whose other fields are
        passed over. Or a table with a column `op` (c, u, d; insert, update, delete) and the columns
        of the relation, of which a deletion needs the key. A relation without a key needs whole
        rows in both images.

        Exactly once: `feed` is a name, and `position` the position of the last of these changes, or
        the field that has the position of each (`"source.lsn"`; of a table a column). What is not
        after the position that was applied last is passed over, and the new one is a row of the
        relation `feed_position(feed, position)`, with the same commit. Not over parts:
        DistributedError (E400).

        Or a table of Delta or Iceberg, with a `feed`, whose position is the version: what changed
        since the version that was applied last; the first time all rows. FrameError (E234) where
        the table has that version not any more.
        """
        return self._open().apply_changes(relation, changes, feed, position)

    @interrupts_as_such()
    def upsert(
        self,
        relation: RelationOrName,
        data: object,
        *,
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
        null: str | None = None,
    ) -> None:
        """Insert rows, each in place of the row with the same key, if any; of rows with one key the
        last one wins. Rows are whole: nothing of the row before stays. What a row by name leaves
        out gets its default, or NULL in an optional column. To change one column write the others
        too: `tx.upsert("r", {**row, "price": 3})`, where `row` is the one before.

        Needs a relation with a key, or a function (whose arguments are its key): TransactionError
        E324 otherwise. Over parts the ones that hold the keys replace their rows at the commit: one
        job more for all upserts of a relation.
        """
        self._open().upsert(relation, data, read_options(nulls, columns, facts, null))

    # ── rules ─────────────────────────────────────────────────────────────────────────────────────
    def declare(self, schema: RelationSchema, *, view: bool = False) -> None:
        """For the workspace: declare a relation."""
        self._open().declare(schema, view=view)

    @interrupts_as_such()
    def alter(
        self,
        relation: RelationOrName,
        *,
        add: Mapping[str, object] | None = None,
        default: Mapping[str, object] | None = None,
        compute: Mapping[str, object] | None = None,
        drop: str | Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        retype: Mapping[str, object] | None = None,
        key: str | Sequence[str] | None = KEEP,
        to: str | None = None,
    ) -> Relation:
        """Change the schema of a relation; see `Workspace.alter`. The schema comes before the rows:
        what the transaction has inserted or deleted in the relation already is a DeclarationError
        (E172).
        """
        request = Request(
            drop, rename or {}, retype or {}, add or {}, default or {}, compute or {}, key, to
        )
        return Relation(self._open().alter(relation, request))

    @interrupts_as_such()
    def drop_relation(self, relation: RelationOrName) -> None:
        """Drop a relation; see `Workspace.drop_relation`."""
        self._open().drop_relation(relation)

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Let rules use an aggregate of your own; see `Workspace.add_aggregate`."""
        self._open().add_aggregate(aggregate)

    def add_function(self, function: UserFunction) -> None:
        """Let rules call a function of your own; see `Workspace.function`."""
        self._open().add_function(function)

    @interrupts_as_such()
    def program(
        self,
        text: str,
        *,
        name: str = "main",
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
        drop: bool = False,
        alter: bool = False,
    ) -> ProgramChange:
        """Have a text be the program of a name; see `Workspace.program`."""
        return self._open().set_program(name, text, file, facts, allow_paths, drop, alter)

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

    def ack(self, consumer: Consumer, change: Result | int | None = None) -> None:
        """Acknowledge a change that a consumer gave, and all before it, with the commit of this
        transaction or not at all: what the transaction writes is then written exactly once. See
        `Consumer.ack`.
        """
        self._open().acknowledge(consumer.name, consumer.position(change))

    @interrupts_as_such()
    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several; see `Workspace.remove_rule`."""
        self._open().remove_rules(handles_of(rule))

    # ── what it would do, and did ────────────────────────────────────────────────────────────────
    @interrupts_as_such()
    def preview(self) -> Preview:
        """Compute what the commit would change, views included, and publish nothing: no reader and
        no subscriber sees it. The transaction stays open; a commit without further operations
        computes nothing again.

        Raises what the commit would raise, such as KeyViolationError; the transaction then stays
        open too. Costs what the commit costs. Not over parts: DistributedError (E400).
        """
        draft = self._open()
        changes, before = self._backend.preview(draft), self._backend.current().program
        return Preview(changes, partial(between, before, draft.program))

    @property
    def work(self) -> int:
        """Kernel steps that the commit took, in all parts: a measure of work that is the same on
        every machine. 0 before the commit.
        """
        return 0 if self._committed is None else self._committed.work

    @overload
    def changes(self) -> list[str]: ...
    @overload
    def changes(self, relation: RelationOrName) -> Result: ...

    @interrupts_as_such()
    def changes(self, relation: RelationOrName | None = None) -> list[str] | Result:
        """Changes of the commit: without an argument the names of the relations that changed, with
        one a `Result` of exactly its difference.

        The result has the relation's columns, `__diff__` (+1 for a row won, −1 for one lost) and
        `__version__`. Raises TransactionError (E320) before the commit and after a rollback.
        """
        if self._committed is None:
            raise self._unfinished()
        if relation is None:
            return self._committed.names()
        return self._committed.of(name_of(relation))

    def explain_change(
        self, what: object, row: object = None, *, rows: int = 3
    ) -> ChangeExplanation:
        """Explain why a row came or went: `tx.explain_change("may", ("ann", "x"))`, or with an
        atom. After the commit; inside the transaction a dry run of it says what it would do.

        Of a row that came: its smallest proof, and what the commit changed of it, down to base
        changes. Of a row that went: up to `rows` proofs that it had, and what broke each. Raises
        ExplanationError for a row that the commit did not change (E361) and for what is not one
        row (E362); TransactionError (E320) after a rollback; DistributedError (E400) over parts.
        """
        draft = self._draft if self._ended is None else None
        if draft is None and self._committed is None:
            raise self._unfinished()
        backend: Backend = self._backend  # type: ignore[assignment]
        return backend.explain_change(draft, self._committed, what, row, rows)

    def inserted(self, relation: RelationOrName) -> int:
        """Give the number of base rows that the commit inserted into the relation."""
        return 0 if self._committed is None else self._committed.inserted(name_of(relation))

    def _unfinished(self) -> TransactionError:
        hint = "commit first: leave the `with` block, or call tx.commit()"
        return TransactionError(
            f"there are no changes to show: the transaction is {self._ended or 'still open'}",
            hint=hint,
        )
