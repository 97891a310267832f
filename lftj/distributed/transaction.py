"""A transaction on a distributed workspace: as `lftj.Transaction`, over all parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lftj.distributed.draft import DistributedDraft, RelationOrName, unsupported
from lftj.distributed.outcome import Outcome
from lftj.distributed.result import change_rows, relation_rows, replaced_rows
from lftj.distributed.store import Store
from lftj.handles import RuleHandle
from lftj.program.normal_form import RelationSchema
from lftj.state import name_of
from lftj.syntax import tree
from lftj.writer import Writing


class DistributedTransaction(Writing[DistributedDraft]):
    """Made by `ws.transaction()`. As a context manager it commits at the end of the block and rolls back on any exception."""

    def __init__(self, store: Store, batch: tuple[str, int] | None = None):
        """For the workspace. Raises TransactionError (E322) in a thread that has one open, (E323) when waiting took too long."""
        self._store = store
        self._batch = batch
        self._outcome: Outcome | None = None
        super().__init__(store.writer)

    def _begin(self) -> DistributedDraft:
        self._before, self._plan = self._store.manifest, self._store.plan
        return self._store.draft()

    # ── rows and rules ────────────────────────────────────────────────────────────────────────────────────────────────
    def insert(self, relation: RelationOrName, data: object, *, existing: str = "ignore", **options: Any) -> None:
        """Insert rows: tuples, a pandas, Polars or Arrow table, a CSV file, which go out from here; or a Spark DataFrame or Parquet path,
        which the executors read. A row that is there already is passed over."""
        if existing != "ignore":
            raise unsupported(f"existing={existing!r}", "leave it out; the number of new rows is tx.inserted(relation)")
        self._open().change(relation, data, 1, options)

    def delete(self, relation: RelationOrName, data: object, *, missing: str = "ignore", **options: Any) -> None:
        """Delete whole rows; `data` and `options` as for `insert`. A row that is not there is passed over."""
        if missing != "ignore":
            raise unsupported(f"missing={missing!r}", "leave it out; what was deleted is in tx.changes(relation)")
        self._open().change(relation, data, -1, options)

    def upsert(self, relation: RelationOrName, data: object, **options: Any) -> None:
        """Not on a distributed workspace yet: DistributedError (E400)."""
        raise unsupported("upsert", "delete the old rows and insert the new ones in one transaction")

    def delete_where(self, relation: RelationOrName, **values: object) -> int:
        """Not on a distributed workspace yet: DistributedError (E400)."""
        raise unsupported("delete_where", "select the rows with Spark and pass them to tx.delete(relation, frame)")

    def declare(self, schema: RelationSchema, *, view: bool = False) -> None:
        """For the workspace: declare a relation."""
        self._open().declare(schema, view=view)

    def add_rules(self, text: str | tree.ParsedProgram, *, file: str | None = None) -> list[RuleHandle]:
        """Add a program's declarations, rules and facts; every view is derived anew."""
        return self._open().add_rules(text, file)

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact; every view is derived anew."""
        return self._open().add_rule(rule)

    def remove_rule(self, rule: RuleHandle | Iterable[RuleHandle]) -> None:
        """Remove a rule or several; every view is derived anew."""
        self._open().remove_rules([rule] if isinstance(rule, RuleHandle) else list(rule))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def commit(self) -> int:
        """Make everything happen and return the version. On any error nothing has happened and the transaction is over."""
        draft = self._open()
        self._ended = "rolled back"
        try:
            self._outcome = self._store.commit(draft, self._batch)
            self._ended = "committed"
        finally:
            self._release()
        return self.version

    # ── what it did ───────────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def version(self) -> int:
        """The version this transaction made; before its commit, and when it changed nothing, the one it started from."""
        return self._before.version if self._outcome is None else self._outcome.manifest.version

    def changes(self, relation: RelationOrName | None = None) -> Any:
        """What the commit changed: without an argument the names of the relations, with one a `Result` of exactly its difference."""
        outcome = self._outcome
        if outcome is None:
            raise self._unfinished()
        known = outcome.plan.program.catalog.relations
        if relation is None:
            return sorted(name for name in known if name in self._changed(outcome))
        schema = outcome.plan.program.catalog.relation(name_of(relation))
        if schema.name in self._plan.program.catalog.relations and outcome.afresh and self._moved(schema.name, outcome):
            old = relation_rows(self._store.executor, self._before, self._plan, schema)
            new = relation_rows(self._store.executor, outcome.manifest, outcome.plan, schema)
            return replaced_rows(old, new, schema)
        found = outcome.changes.get(schema.name, [])
        return change_rows(self._store.executor, schema, outcome.plan.homes[schema.name], found, self.version)

    def _moved(self, name: str, outcome: Outcome) -> bool:
        """Whether a relation has or had rules, so that after a change of rules only comparing tells what changed."""
        return outcome.plan.derived(name) or self._plan.derived(name)

    def _changed(self, outcome: Outcome) -> set[str]:
        names = set(outcome.changes)
        if outcome.afresh:
            moved = [name for name in outcome.plan.program.catalog.relations if self._moved(name, outcome)]
            names = names.difference(moved) | {name for name in moved if len(self.changes(name))}
        return names

    def inserted(self, relation: RelationOrName) -> int:
        """How many rows of its own the relation won by the commit."""
        return 0 if self._outcome is None else self._outcome.inserted.get(name_of(relation), 0)
