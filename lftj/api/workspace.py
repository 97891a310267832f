# SPDX-License-Identifier: Apache-2.0
"""The workspace: relations, rules and transactions over one set of data.

One thread at a time writes (a transaction holds the writer lock from its start to its end, other
threads wait); any number of threads read at the same time, each a committed version.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, overload

from lftj.api.backend import Backend, Version
from lftj.api.branching import Branching
from lftj.api.files import Files
from lftj.api.history import History
from lftj.api.inspection import Inspection
from lftj.api.reading import Reading
from lftj.api.schemas import Schemas
from lftj.api.snapshot import Snapshot
from lftj.api.transaction import Transaction
from lftj.engine.calls.limits import Limits
from lftj.engine.calls.options import with_named_options
from lftj.engine.calls.uncopied import Uncopied
from lftj.engine.commit.staging import RowPolicy
from lftj.engine.delivery.subscription import Callback, Subscription
from lftj.engine.programs.declared import (
    ChoiceDomains,
    function_schema,
    is_news,
    named_columns,
    relation_schema,
    view_schema,
)
from lftj.engine.programs.handles import Relation, RuleHandle
from lftj.engine.programs.program_change import ProgramChange
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import name_of
from lftj.errors import DeclarationError, LftjError
from lftj.frames import ColumnMap, NullPolicy, Parameters, read_options
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import RelationSchema
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.syntax.user_function import Carrier, UserFunction

if TYPE_CHECKING:
    import pyspark.sql


@with_named_options
class Workspace(Schemas, Files, History, Branching, Inspection, Reading, Uncopied):
    """A workspace, which `lftj.connect()` begins or opens: in memory, in files at a path or, with
    an executor, over parts on Spark. Use it as a context manager, or call `close()`, to give the
    memory back at once, or let others open the path.

    With a path, and below that of an executor, data, versions and rules are files: opening the path
    again goes on where the last commit ended. What one of the three cannot do raises
    DistributedError (E400).
    """

    kind = "workspace"

    def __init__(self, backend: Backend):
        """For `lftj.connect`."""
        self._live: Backend | None = backend
        self._reopened_by = backend.reopened_by
        self.instead = backend.instead_of_copies

    @property
    def _backend(self) -> Backend:
        if self._live is None:
            raise LftjError(
                "the workspace is closed",
                code="E341",
                hint=f"open another one with {self._reopened_by}",
            )
        return self._live

    # ── declarations ──────────────────────────────────────────────────────────────────────────────
    def relation(
        self,
        name: str,
        columns: Mapping[str, object] | object,
        key: str | Sequence[str] | None = None,
        choice: ChoiceDomains = (),
        default: Mapping[str, object] | None = None,
    ) -> Relation:
        """Declare a relation: `ws.relation("acct", {"id": int, "country": str}, key="id")`, or with
        names and types of a table or file: `ws.relation("acct", frame)`, which loads no rows.

        Types: int, float, str, bool, datetime.date, datetime.datetime, "decimal(10,2)". `key`: the
        column or columns that determine the rest, checked at every commit. `choice=["a", ("b",
        "c")]`: of rows that agree on a, or on b and c, one is chosen. `default`: what rows by name
        have in columns that they leave out. The same declaration again gives the same relation;
        another one is a DeclarationError (E160). Rows of one key always lie in one part.
        """
        named = named_columns(columns)
        return self._declare(relation_schema(name, named, key, choice, default), view=False)

    def view(self, name: str, columns: Mapping[str, object]) -> Relation:
        """Declare a relation whose rows come from rules only: inserting into it is an error."""
        return self._declare(view_schema(name, columns), view=True)

    @overload
    def function(self, name: str, arguments: Mapping[str, object], value: object) -> Relation: ...
    @overload
    def function(
        self,
        name: Callable[..., Any] | UserFunction,
        /,
        *,
        argument_types: Sequence[object] = (),
        result_type: object = None,
        columns: Carrier | None = None,
        version: str = "",
    ) -> UserFunction: ...
    @overload
    def function(
        self,
        *,
        name: str = "",
        argument_types: Sequence[object] = (),
        result_type: object = None,
        columns: Carrier | None = None,
        version: str = "",
    ) -> Callable[[Callable[..., Any]], UserFunction]: ...
    def function(
        self,
        name: Any = "",
        arguments: Any = None,
        value: Any = None,
        *,
        argument_types: Any = (),
        result_type: Any = None,
        columns: Any = None,
        version: str = "",
    ) -> Any:
        """Declare a function by its rows, `ws.function("F", {"x": int}, float)`, in rules `F[x] ==
        y`: a relation with one more column, `value`, which the arguments determine.

        Or let rules call a function of your own, with `@ws.function` above its definition: `y ==
        slug(x)`, in text `y = slug(x)`. It is called once for all arguments that occur, and its
        results are kept with the views, so it has to be pure. `argument_types` and `result_type`:
        by default as annotated. `columns="arrow"` or `"numpy"`: it takes whole columns.
        `version`: what tells it from other code of its name; registered with another one, whatever
        calls it is derived anew. Not over parts: DistributedError (E400).
        """
        if arguments is not None:
            return self._declare(function_schema(name, arguments, value), view=False)
        if isinstance(name, UserFunction):
            return self._registered(name)
        made = partial(
            UserFunction,
            name=name if isinstance(name, str) else "",
            argument_types=argument_types,
            result_type=result_type,
            columns=columns,
            version=version,
        )

        def registered(function: Callable[..., Any]) -> UserFunction:
            return self._registered(made(function))

        return registered if isinstance(name, str) else registered(name)

    def _registered(self, made: UserFunction) -> UserFunction:
        if not self._backend.bind(made):
            with self.transaction() as tx:
                tx.add_function(made)
        return made

    def _declare(self, schema: RelationSchema, *, view: bool) -> Relation:
        relation = Relation(schema)  # checks the name
        version = self._backend.current()
        if is_news(schema, version.program.catalog.relations, version.views, view=view):
            with self.transaction() as tx:
                tx.declare(schema, view=view)
        return relation

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Let rules use an aggregate of your own, by its name: `total(x, times(v)) :- …`. Needs
        `argument_types` and `result_type`. Not over parts: DistributedError (E400).
        """
        with self.transaction() as tx:
            tx.add_aggregate(aggregate)

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    def transaction(self, *, message: str | None = None) -> Transaction:
        """Start a transaction; `with ws.transaction() as tx:` commits at the end of the block and
        rolls back on any exception. `message`: for `log`; not over parts.
        """
        return Transaction(self._backend, message)

    def load(
        self,
        relation: RelationOrName,
        data: object,
        *,
        existing: RowPolicy = "ignore",
        nulls: NullPolicy = "error",
        columns: ColumnMap | None = None,
        facts: Parameters | None = None,
        null: str | None = None,
    ) -> int:
        """Insert rows in a transaction of their own; returns how many were new. `data` and the rest
        as in `Transaction.insert`.
        """
        with self.transaction() as tx:
            tx.insert(
                relation,
                data,
                existing=existing,
                nulls=nulls,
                columns=columns,
                facts=facts,
                null=null,
            )
        return tx.inserted(relation)

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
        """Have a text be the program of a name, in one transaction: what is new comes, what is gone
        goes, what is equal stays with its state, so a script may be run again. Returns the rules
        and declarations that came and went; `programs` has the texts, `at(version)` earlier ones.

        Layout, comments, names of variables and order say nothing. A program owns its rules,
        declarations and the facts in its text; rows that came by `load`, `insert` or `.input` never
        go with it. A rule or fact of two programs stays until both let it go, and what was there
        before without a program stays. An empty text ends the program.

        A declaration that is gone, or is another one, and is needed by rules of others or by rows
        that came otherwise is refused with the list (StillNeededError E327), unless `drop`: then
        these go with it, or `alter`: then the relation is altered first, in the same transaction,
        as by the call that the error names, and no value goes. With both, columns go that are not
        declared, and rows stay; no text renames. `file`, `facts` and `allow_paths` as for
        `add_rules`. The same text costs next to nothing, another one what the clauses cost that
        differ. Raises ProgramErrors, and with `alter` what `alter` raises. Not over parts:
        DistributedError (E400).
        """
        with self.transaction() as tx:
            return tx.program(
                text,
                name=name,
                file=file,
                facts=facts,
                allow_paths=allow_paths,
                drop=drop,
                alter=alter,
            )

    def add_rules(
        self,
        text: str,
        *,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program in Soufflé's syntax, in one transaction: declarations, rules and facts, all
        or nothing.

        Returns a handle per rule in the order of the text, then one per relation with facts in the
        text. `.input` is obeyed only when `facts` names the folder of the files, and without
        `allow_paths` reads none outside it (PathOutsideError E233); `.output` and the like are for
        `lftj run`. `file` names the text in messages. Raises ProgramErrors with every error found.
        """
        with self.transaction() as tx:
            return tx.add_rules(text, file=file, facts=facts, allow_paths=allow_paths)

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact, as text or Python expression: `ws.add_rule(reach(x, z) <= reach(x,
        y) & edge(y, z))`.

        Views that do not depend on its head do no work; over parts every view is derived anew.
        """
        with self.transaction() as tx:
            return tx.add_rule(rule)

    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several. For a handle of facts: delete these facts, also if they were
        inserted in another way too.
        """
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
        """Commit the micro-batches of Structured Streaming:
        `frame.writeStream.foreachBatch(ws.feed("edge", "edges")).start()`. Over parts only.

        Every micro-batch is one commit, exactly once, also when Spark gives it again after a
        failure: the last one is noted by the name `stream` and its checkpoint. With a new
        checkpoint Spark gives all that the source has, and it is taken again. Rows whose column
        `sign` is negative are deleted first, then rows whose `sign` is positive are inserted; NULL
        is an error (E200). With `sign=None` all come. The rest as for `insert`.
        """
        options = read_options(nulls, columns, facts)
        return self._backend.feed(relation, stream, sign, options)

    @interrupts_as_such()
    def prepare(self) -> None:
        """Make ready what first changes need: plans, key orders, and states that follow changes,
        which commits otherwise make when a change first asks for them. For after a load, or after
        opening a path. No row, no version and no change set comes of it.

        Rows of each relation that rules read go and come back, one from the middle and one for
        each of some constants of rules, unseen: costs twice what such a commit costs the first
        time. A relation without rows is not prepared. What it makes is kept as what commits make
        is: key orders and states with the next checkpoint of a path, plans in this process. Raises
        LimitError, TransactionError (E322) inside a transaction, DurableError (E350) where the path
        was opened to read; not over parts: DistributedError (E400).
        """
        backend = self._backend
        with backend.writer.held():
            backend.prepare()

    @interrupts_as_such()
    def rebalance(self) -> bool:
        """Count again which values outweigh a part, as adding or removing a rule does, and derive
        all views anew if others do now; True if they were. For a path that had its rules before
        its rows.
        """
        backend = self._backend
        with backend.writer.held():
            moved = backend.rebalance()
        backend.subscriptions.deliver()
        return moved

    @interrupts_as_such()
    def repartition(self, partitions: int) -> bool:
        """Keep all rows in another number of parts, as after executors came or went; True if it was
        another number. One commit, in which each part sends its base rows to the new parts, which
        derive all views; rows and views are as before, and snapshots that are held can be read. The
        path is opened with an executor of so many `partitions` from then on. In one process nothing
        changes, and it is False. Raises DeclarationError (E160) for what is no number of parts,
        TransactionError (E322) inside a transaction, and what commits raise; then the parts are
        those that were.
        """
        if not isinstance(partitions, Integral) or isinstance(partitions, bool) or partitions < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"partitions is a number of at least 1, found {partitions!r}"
            raise DeclarationError(message, code="E160", hint="say how many parts there are to be")
        backend = self._backend
        with backend.writer.held():
            return backend.repartition(int(partitions))

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def snapshot(self) -> Snapshot:
        """The committed version of this moment, to read for as long as you like; over parts, for
        as long as the workspace is open. O(1).
        """
        return Snapshot(self._backend.current())

    def __getitem__(self, relation: RelationOrName) -> Result:
        """All rows of a relation or view, as of the last commit: `ws["reach"].df()`."""
        return self.snapshot()[relation]

    def query(self, question: object, *values: object) -> Result:
        """The answers to an atom or a body: `ws.query(reach(1, y))`, `ws.query("reach(1, y), y !=
        3")`; with parameters `ws.query("reach(?, y)", 1)`, `ws.query(reach(lftj.parameter, y), 1)`.

        A question in text with parameters is read, checked and planned once for all their `values`;
        one as an expression if it is prepared: `prepare_query`. Values have the types of the
        columns whose place they take, or of what they are compared with: ValueTypeError,
        NullValueError, ValueRangeError; ArityError for more or fewer values than parameters.

        One column per variable in order of appearance, distinct rows; without variables
        `bool(result)` is the answer. Bound arguments are pushed down: stored rows that do not match
        are not visited.

        Over parts answers are found where the rows are: a constant in the column by which a
        relation is cut asks only one part. Up to 100,000 answers come to this process; more stay in
        parts, to be read as long as the result is held and the workspace is open.
        """
        return self._backend.current().query(question, values)

    @property
    def version(self) -> int:
        """Number of the last commit that changed rows or rules; 0 before the first."""
        return self._backend.version

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return self.snapshot().relations

    @property
    def rules(self) -> list[RuleHandle]:
        """The rules in the order they were added."""
        return self.snapshot().rules

    @interrupts_as_such()
    def subscribe(
        self, relation: RelationOrName, callback: Callback, snapshot: bool = False
    ) -> Subscription:
        """Call `callback(changes)` after every commit that changes the relation, with a `Result` as
        `Transaction.changes` gives it.

        With `snapshot` the first call comes at once, with all present rows as inserted. Calls come
        in the order of the commits, in the thread that committed; what a callback raises is logged
        and does not undo the commit.
        """
        backend = self._backend
        with backend.writer.held():
            version = backend.current()
            schema = version.program.catalog.relation(name_of(relation))
            rows = version.rows_as_change(schema) if snapshot else None
            subscription = backend.subscriptions.add(schema.name, callback, rows)
        try:
            backend.subscriptions.deliver()
        except BaseException:  # Ctrl-C: nobody has the subscription to cancel it
            subscription.cancel()
            raise
        return subscription

    def _read(self) -> Version:
        return self._backend.current()

    def limits(
        self, *, work: int | None = None, seconds: float | None = None, memory: int | None = None
    ) -> AbstractContextManager[None]:
        """Bound every commit and query of this thread inside a `with` block; reaching a bound
        raises LimitError, and nothing has happened.

        `work`: kernel steps of all parts, the same on every machine; `seconds`: of time; `memory`:
        bytes of all pages in use and of all strings, in each process. They are looked at about ten
        times a second. Raises DeclarationError (E160) for what is no number.
        """
        return self._backend.limits.set(Limits(work, seconds, memory))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def close(self) -> None:
        """Let go of everything, and let others open the path. Harmless when repeated.

        Snapshots and results that are still held stay readable; in parts, until files that they
        read are removed. Waits for pages that are being written; over parts, half a minute at most.
        """
        if self._live is not None and self._live.writer.mine:
            raise LftjError(
                "a transaction is open", code="E342", hint="commit or roll it back, then close"
            )
        if self._live is not None:
            self._reopened_by = self._live.reopened_by
            self._live.close()
        self._live = None

    def __enter__(self) -> Workspace:
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
            return "<Workspace, closed>"
        where = f", {self._live.where}" if self._live.where else ""
        return (
            f"<Workspace, version {self.version}, relations: {len(self.relations)}, rules: "
            f"{len(self.rules)}{where}>"
        )

    if not TYPE_CHECKING:  # a type checker is to go on finding attributes that are not there

        def __getattr__(self, name: str) -> NoReturn:
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and callable(getattr(Transaction, name, None)):
                problem += f"; transactions have: with ws.transaction() as tx: tx.{name}(…)"
            raise AttributeError(problem, name=name, obj=self)
