"""Versions that the rules read during a commit: each relation as it is now, as it was, and its
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lftj.join.plan.index_upkeep import Upkeep
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.scantree.columns import Lines, as_matrix
from lftj.scantree.rows import sort_rows
from lftj.sensitivity import Surgeries, surgeries
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import Order, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from lftj.types import INT
from lftj.types.sources import Role, Source, in_role, without_role

CHANGE = Source("", Role.CHANGED)
"""The name under which a query reads changed rows."""
SIGNED = Source("", Role.SIGNED)
"""The name under which a delta query reads a whole change: a column of signs, 1 for a row won and
−1 for one lost, before the others.
"""


class Parts(NamedTuple):
    """Values of one column of a relation: of which it has no rows now (`gone`), and of which it had
    none before the commit (`new`).
    """

    column: int
    gone: tuple[int, ...]
    new: tuple[int, ...]


class Versions(Mapping[str, RelationVersion]):
    """Relations by name, as they are now; in the role `PREVIOUS`, as they were before the
    commit; `CHANGE` and `SIGNED` as last set.
    """

    def __init__(
        self,
        old: Mapping[str, RelationVersion],
        new: Mapping[str, RelationVersion],
        deltas: dict[str, Delta],
        arena: Arena,
        tuning: Tuning = DEFAULT,
    ):
        self.tuning = tuning
        self.old = old
        """All relations as they were before the commit."""
        self._new = new
        self._updates: dict[str, RelationVersion] = {}
        self._arena = arena
        self._changes: dict[tuple[str, tuple[int, ...] | None, int], RelationVersion] = {}
        self._reordered: dict[tuple[str, tuple[int, ...]], Delta] = {}
        self._surgeries: dict[tuple[str, tuple[int, ...]], Surgeries] = {}
        self._presence: dict[tuple[str, tuple[int, ...], int], Delta] = {}
        self._signed: dict[
            tuple[str, tuple[int, ...] | None, int], tuple[RelationVersion, Delta]
        ] = {}
        self._edits: dict[tuple[str, int, tuple[int, ...]], Delta] = {}
        self._present: dict[
            str, RelationVersion
        ] = {}  # the views that are done, and `CHANGE` and `SIGNED` as last set
        self.deltas = deltas
        """Net changes, of base relations and of the views that are done."""
        self.sizes = {name: len(delta) for name, delta in deltas.items()}
        """Number of rows that each of them changes."""
        self.parts: dict[str, Parts] = {}
        """Parts of relations that came or went as a whole, as far as someone has noticed; of a
        column that is the whole row, all.
        """
        for name, delta in deltas.items():
            if len(delta.erases) == 1:
                self._note_values(name, delta)

    def _note_values(self, name: str, delta: Delta) -> None:
        if len(delta) <= self.tuning.followed_parts and self[name].schema.arity == 1:
            self.parts[name] = Parts(
                0, tuple(delta.erases[0].tolist()), tuple(delta.inserts[0].tolist())
            )

    def __getitem__(self, name: str) -> RelationVersion:
        found = self._present.get(name)
        if found is not None:
            return found
        return self.before(name.name) if in_role(name, Role.PREVIOUS) else self._new[name]

    def __contains__(self, name: object) -> bool:
        return name in self._updates or name in self._new

    def __iter__(self) -> Iterator[str]:
        return iter({*self._new, *self._updates})

    def __len__(self) -> int:
        return len({*self._new, *self._updates})

    def before(self, name: str) -> RelationVersion:
        """A relation before the commit; one that did not change is the same now, so that key orders
        are shared. Some are there no more.
        """
        if name not in self.deltas and name in self:
            return self[name]
        return (
            self.old[name]
            if name in self.old
            else RelationVersion.empty(self[name].schema, self._arena)
        )

    @property
    def old_view(self) -> Mapping[str, RelationVersion]:
        """All relations as they were before the commit, the views that are done included."""
        return _Before(self)

    def update(self, name: str, version: RelationVersion, delta: Delta) -> None:
        """Note that a view is done."""
        self._updates[name] = self._present[name] = version
        if changed := len(delta):
            self.deltas[name] = delta
            self.sizes[name] = changed
            if len(delta.erases) == 1:
                self._note_values(name, delta)
        elif self.parts:
            self.parts.pop(name, None)

    def note_parts(self, name: str, parts: Parts) -> None:
        """Note that parts of a view come or go as a whole, before the view is done."""
        if 0 < len(parts.gone) + len(parts.new) <= self.tuning.followed_parts:
            self.parts[name] = parts

    @property
    def updates(self) -> dict[str, RelationVersion]:
        """The views that are done."""
        return self._updates

    def upkeep(self, read: Mapping[str, set[Order]], constant: Callable[[str], bool]) -> Upkeep:
        """Upkeep of key orders by commits like this one, when lasting plans read these orders of a
        relation besides the columns' own. `constant`: of a relation, true where no commit changes
        it.
        """

        def kept(name: str) -> Iterable[Order]:
            plain = without_role(name, Role.PREVIOUS)
            own = (
                [tuple(range(self[plain].schema.arity))] if plain in self or plain == CHANGE else []
            )
            return (*own, *read.get(plain, ()))

        def moved(name: str) -> int:
            if name == CHANGE:
                return self[name].count // 2  # sorted and built, not brought forward
            delta = self.deltas.get(without_role(name, Role.PREVIOUS))
            # of what was loaded just now nothing says how it will change
            return (
                min(len(delta), self.before(without_role(name, Role.PREVIOUS)).count)
                if delta is not None
                else 0
            )

        return Upkeep(kept, moved, constant)

    def reordered(self, relation: str, order: tuple[int, ...]) -> Delta:
        """The net change of a relation in another key order; shared by all rules."""
        key = (relation, order)
        if key not in self._reordered:
            self._reordered[key] = self.deltas[relation].reordered(order)
        return self._reordered[key]

    def surgeries(self, relation: str, order: tuple[int, ...]) -> Surgeries:
        """The tree surgeries of a relation that changed, in the trie of one key order [LFTJ-IVM
        4.2.1]; shared by all rules.
        """
        key = (relation, order)
        if key not in self._surgeries:
            delta = self.reordered(relation, order)
            old, new = self.before(relation).tree(order), self[relation].tree(order)
            self._surgeries[key] = surgeries(old, new, delta.inserts, delta.erases)
        return self._surgeries[key]

    # ── what changed ──────────────────────────────────────────────────────────────────────────────
    def with_change(self, relation: str, bound: tuple[int, ...] | None, rows: Columns) -> Versions:
        """Let `CHANGE` stand for rows of a relation, or of its `bound` columns. Their trees are
        shared by all rules.
        """
        key = (relation, bound, id(rows))
        if key not in self._changes:
            self._changes[key] = TransientRelation(
                self._change_schema(relation, bound), self._arena, rows
            )
        self._present[CHANGE] = self._changes[key]
        return self

    def with_signed(self, relation: str, bound: tuple[int, ...] | None, change: Delta) -> Versions:
        """Let `SIGNED` stand for a change of a relation, or of its `bound` columns. Its trees are
        shared by all rules.
        """
        key = (relation, bound, id(change))
        if key not in self._signed:
            schema = self._change_schema(relation, bound)
            rows = np.empty((1 + schema.arity, len(change)), np.int64)
            erased = change.erased
            for sign, some, place in (
                (-1, change.erases, slice(erased)),
                (1, change.inserts, slice(erased, None)),
            ):
                if len(some[0]):
                    rows[0, place] = sign
                    if schema.arity:
                        rows[1:, place] = as_matrix(some, schema.arity)
            signed = RelationSchema(schema.name, (("sign", INT), *schema.columns))
            self._signed[key] = TransientRelation(signed, self._arena, rows), change
        self._present[SIGNED] = self._signed[key][0]
        return self

    # ── what comes and goes as a whole ────────────────────────────────────────────────────────────
    def change(
        self,
        relation: str,
        bound: tuple[int, ...] | None,
        without: tuple[int, tuple[int, ...]] | None = None,
    ) -> Delta:
        """The change of a relation, or the `presence` of its `bound` columns. `without`: a column,
        and values whose rows are left out.
        """
        delta = self.deltas[relation] if without is None else self._without(relation, *without)
        return delta if bound is None else self._presence_in(delta, relation, bound)

    def _without(self, relation: str, column: int, values: tuple[int, ...]) -> Delta:
        key = (relation, column, values)
        if key not in self._edits:
            delta = self.deltas[relation]
            self._edits[key] = Delta(
                _without(delta.inserts, column, values), _without(delta.erases, column, values)
            )
        return self._edits[key]

    def _change_schema(self, relation: str, bound: tuple[int, ...] | None) -> RelationSchema:
        columns = self[relation].schema.columns
        name = Source(relation, Role.CHANGED, bound)
        return RelationSchema(name, columns if bound is None else tuple(columns[i] for i in bound))

    def presence(self, relation: str, bound: tuple[int, ...]) -> Delta:
        """The combinations of values of `bound` columns that appeared in a relation or vanished
        from it [LFTJ-IVM 4.2.1].
        """
        return self._presence_in(self.deltas[relation], relation, bound)

    def _presence_in(self, delta: Delta, relation: str, bound: tuple[int, ...]) -> Delta:
        """As `presence`, among the combinations in these rows of the change."""
        key = (relation, bound, id(delta))
        if key not in self._presence:
            self._presence[key] = self._find_presence(delta, relation, bound)
        return self._presence[key]

    def _find_presence(self, delta: Delta, relation: str, bound: tuple[int, ...]) -> Delta:
        width = len(delta.erases)
        if len(bound) == width or (not bound and self[relation].schema.arity == 0):
            return delta.reordered(bound or (0,))
        if not bound:
            was, now = self.before(relation).count > 0, self[relation].count > 0
            return Delta(
                [np.zeros(int(now and not was), np.int64)],
                [np.zeros(int(was and not now), np.int64)],
            )
        changed = sort_rows(
            [np.concatenate((delta.inserts[column], delta.erases[column])) for column in bound]
        )
        order = _order_from(self[relation], bound)
        prefixes = [changed[bound.index(column)] for column in order[: len(bound)]]
        was, now = (
            version.tree(order).edge_rows(prefixes)[0]
            for version in (self.before(relation), self[relation])
        )
        return Delta(*([column[there] for column in changed] for there in (now & ~was, was & ~now)))


def elsewhere(column: np.ndarray, values: tuple[int, ...]) -> np.ndarray:
    """Mark the places of a column that have none of these values."""
    kept = np.ones(len(column), np.bool_)
    for value in values:
        kept &= column != value
    return kept


def _without(rows: Columns, column: int, values: tuple[int, ...]) -> Columns:
    """The rows that have none of these values in a column."""
    kept = elsewhere(rows[column], values)
    return rows if kept.all() else Lines(as_matrix(rows, len(rows)).compress(kept, axis=1))


class _Before(Mapping[str, RelationVersion]):
    def __init__(self, versions: Versions):
        self._versions = versions

    def __getitem__(self, name: str) -> RelationVersion:
        return self._versions.before(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)


def _order_from(relation: RelationVersion, bound: tuple[int, ...]) -> tuple[int, ...]:
    """A key order that begins with these columns, in any order: one that exists, if
    there is one.
    """
    wanted = set(bound)
    rest = (column for column in range(relation.schema.arity) if column not in wanted)
    return next(
        (known for known in relation.orders() if set(known[: len(bound)]) == wanted),
        (*bound, *rest),
    )
