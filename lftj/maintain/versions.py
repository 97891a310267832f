"""What the rules read during a commit: each relation as it is now, as it was, and what changed of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.storage.database import Database
from lftj.storage.delta import Columns, Delta
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion
from scantree import Arena
from scantree.rows import sort_rows

OLD = "#old"
"""Behind a relation's name: the version before the commit."""
CHANGE = "#change"
"""The name under which a delta query reads the changed rows."""


class Versions(Mapping[str, RelationVersion]):
    """Relations by name, as they are now; with `OLD` behind the name, as they were before the commit; `CHANGE` inside `with_change`."""

    def __init__(self, old: Database, new: Database, deltas: dict[str, Delta], arena: Arena):
        self.old = old
        """All relations as they were before the commit."""
        self._new = new
        self._updates: dict[str, RelationVersion] = {}
        self._arena = arena
        self._changes: dict[tuple[str, tuple[int, ...] | None, int], RelationVersion] = {}
        self._presence: dict[tuple[str, tuple[int, ...]], Delta] = {}
        self._change: RelationVersion | None = None
        self.deltas = deltas
        """Net changes, of base relations and of the views that are done."""

    def __getitem__(self, name: str) -> RelationVersion:
        if name == CHANGE and self._change is not None:
            return self._change
        if name.endswith(OLD):
            return self.before(name[: -len(OLD)])
        found = self._updates.get(name)
        return self._new[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._updates or name in self._new

    def __iter__(self) -> Iterator[str]:
        return iter({*self._new, *self._updates})

    def __len__(self) -> int:
        return len({*self._new, *self._updates})

    def before(self, name: str) -> RelationVersion:
        """A relation before the commit; one that did not change is the same now, so that key orders are shared."""
        if name not in self.deltas:
            return self[name]
        return self.old[name] if name in self.old else RelationVersion.empty(self[name].schema, self._arena)

    def update(self, name: str, version: RelationVersion, delta: Delta) -> None:
        """Note that a view is done."""
        self._updates[name] = version
        if len(delta):
            self.deltas[name] = delta

    @property
    def updates(self) -> dict[str, RelationVersion]:
        """The views that are done."""
        return self._updates

    # ── what changed ──────────────────────────────────────────────────────────────────────────────────────────────────
    def with_change(self, relation: str, bound: tuple[int, ...] | None, rows: Columns) -> Versions:
        """This, with `CHANGE` standing for rows of a relation, or of its `bound` columns. Their trees are shared by all rules."""
        key = (relation, bound, id(rows))
        if key not in self._changes:
            self._changes[key] = LooseRows(self._change_schema(relation, bound), self._arena, rows)
        self._change = self._changes[key]
        return self

    def _change_schema(self, relation: str, bound: tuple[int, ...] | None) -> RelationSchema:
        columns = self[relation].schema.columns
        if bound is None:
            return RelationSchema(f"{relation}{CHANGE}", columns)
        return RelationSchema(f"{relation}{CHANGE}{bound}", tuple(columns[i] for i in bound))

    def presence(self, relation: str, bound: tuple[int, ...]) -> Delta:
        """The combinations of values of `bound` columns that appeared in a relation or vanished from it [LFTJ-IVM 4.2.1]."""
        key = (relation, bound)
        if key not in self._presence:
            self._presence[key] = self._find_presence(relation, bound)
        return self._presence[key]

    def _find_presence(self, relation: str, bound: tuple[int, ...]) -> Delta:
        delta = self.deltas[relation]
        width = len(delta.inserts)
        if len(bound) == width or (not bound and self[relation].schema.arity == 0):
            return delta.reordered(bound or (0,))
        order = (*bound, *(i for i in range(width) if i not in bound))
        return Delta(
            _absent([delta.inserts[i] for i in bound], self.before(relation), order, len(delta.inserts[0])),
            _absent([delta.erases[i] for i in bound], self[relation], order, len(delta.erases[0])),
        )


def _absent(prefixes: Columns, relation: RelationVersion, order: tuple[int, ...], rows: int) -> Columns:
    """The distinct prefixes under which a relation has no row; one column of zeros when prefixes have no column."""
    if not prefixes:
        return [np.zeros(int(rows > 0 and not relation.count), np.int64)]
    distinct = sort_rows(prefixes)
    tree = relation.tree(_existing(relation, order, len(prefixes)))
    rows_of = zip(*(column.tolist() for column in distinct), strict=True)
    found = np.array([tree.count_range(row, (*row[:-1], row[-1] + 1)) > 0 for row in rows_of], bool)
    return [column[~found] for column in distinct]


def _existing(relation: RelationVersion, order: tuple[int, ...], width: int) -> tuple[int, ...]:
    """A key order that exists and begins with exactly the columns of `order`'s prefix in the same order, or `order` itself."""
    return next((known for known in relation.orders() if known[:width] == order[:width]), order)
