# SPDX-License-Identifier: Apache-2.0
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
from lftj.scantree.frozen import found_once
from lftj.scantree.rows import sort_rows
from lftj.sensitivity import Surgeries, surgeries
from lftj.storage.delta import Columns, Delta, paired
from lftj.storage.relation import Order, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from lftj.types import INT
from lftj.types.sources import Role, Source, without_role

CHANGE = Source("", Role.CHANGED)
"""The name under which a query reads changed rows."""
SIGNED = Source("", Role.SIGNED)
"""The name under which a delta query reads a whole change: a column of signs, 1 for a row won and
−1 for one lost, before the others.
"""


class Moves(NamedTuple):
    """Rows that others take the place of, each once as a move and, with the opposite sign, as the
    move back: the sign, the row that comes, and the values before in the columns that are not
    fixed; and the `rest` of the change.
    """

    rows: RelationVersion
    rest: Delta


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
        self._presence: dict[tuple[str, tuple[int, ...]], Delta] = {}
        self._moves: dict[tuple[str, tuple[int, ...]], Moves] = {}
        self._signed: dict[
            tuple[str, tuple[int, ...] | None, int], tuple[RelationVersion, Delta]
        ] = {}
        self._present: dict[
            str, RelationVersion
        ] = {}  # the views that are done, and `CHANGE` and `SIGNED` as last set
        self.deltas = deltas
        """Net changes, of base relations and of the views that are done."""
        self.sizes = {name: len(delta) for name, delta in deltas.items()}
        """Number of rows that each of them changes."""

    def __getitem__(self, name: str) -> RelationVersion:
        found = self._present.get(name)
        if found is not None:
            return found
        if isinstance(name, Source) and name.role is Role.PREVIOUS:
            return self.before(name.name)
        return self._new[name]

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

    def changed_rows(self, names: Iterable[str]) -> int:
        """Number of rows that changed of these relations, each as often as it is named."""
        sizes = self.sizes
        return sum([sizes.get(name, 0) for name in names])

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
                _change_schema(self[relation].schema, bound), self._arena, rows
            )
        self._present[CHANGE] = self._changes[key]
        return self

    def with_rows(self, name: str, relation: RelationVersion) -> Versions:
        """Let a name stand for a relation that is no part of the program."""
        self._present[name] = relation
        return self

    def with_signed(self, relation: str, bound: tuple[int, ...] | None, change: Delta) -> Versions:
        """Let `SIGNED` stand for a change of a relation, or of its `bound` columns. Its trees are
        shared by all rules.
        """
        key = (relation, bound, id(change))
        found = self._signed.get(key)
        if found is None:
            own = self[relation].schema
            signed = _signed(own) if bound is None else _with_sign(_change_schema(own, bound))
            rows = change.signed_matrix(len(signed.columns) - 1)
            found = self._signed[key] = TransientRelation(signed, self._arena, rows), change
        self._present[SIGNED] = found[0]
        return self

    def moves(self, relation: str, fixed: tuple[int, ...]) -> Moves:
        """The rows of a change that others take the place of which agree in the `fixed` columns;
        shared by all rules.
        """
        key = (relation, fixed)
        if key not in self._moves:
            gone, come, rest = paired(self.deltas[relation], fixed)
            columns = self[relation].schema.columns
            moving = [place for place in range(len(columns)) if place not in fixed]
            rows = np.array(
                [
                    np.repeat((1, -1), len(gone[0])),
                    *(np.concatenate(each) for each in zip(come, gone, strict=True)),
                    *(np.concatenate((gone[place], come[place])) for place in moving),
                ],
                np.int64,
            )
            name = Source(Source(relation, Role.CHANGED, fixed), Role.SIGNED)
            schema = RelationSchema(
                name, (("sign", INT), *columns, *(columns[place] for place in moving))
            )
            self._moves[key] = Moves(TransientRelation(schema, self._arena, rows), rest)
        return self._moves[key]

    def presence(self, relation: str, bound: tuple[int, ...]) -> Delta:
        """The combinations of values of `bound` columns that appeared in a relation or vanished
        from it [LFTJ-IVM 4.2.1].
        """
        key = (relation, bound)
        if key not in self._presence:
            self._presence[key] = self._find_presence(relation, bound)
        return self._presence[key]

    def _find_presence(self, relation: str, bound: tuple[int, ...]) -> Delta:
        delta = self.deltas[relation]
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


class _Before(Mapping[str, RelationVersion]):
    def __init__(self, versions: Versions):
        self._versions = versions

    def __getitem__(self, name: str) -> RelationVersion:
        return self._versions.before(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)


def _change_schema(schema: RelationSchema, bound: tuple[int, ...] | None) -> RelationSchema:
    columns = schema.columns if bound is None else tuple(schema.columns[i] for i in bound)
    return RelationSchema(Source(schema.name, Role.CHANGED, bound), columns)


@found_once
def _signed(schema: RelationSchema) -> RelationSchema:
    """The columns of a change of a relation, behind one of signs."""
    return _with_sign(_change_schema(schema, None))


def _with_sign(schema: RelationSchema) -> RelationSchema:
    return RelationSchema(schema.name, (("sign", INT), *schema.columns))


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
