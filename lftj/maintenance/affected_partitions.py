# SPDX-License-Identifier: Apache-2.0
"""Affected partitions of a recursive stratum that falls apart by a value which every rule keeps: a
change evaluates only these anew [Elastic 5].

In reach(d, y) :- reach(d, x), leg(d, x, y). the rows of one d do not depend on the rows of another
d. If all changed rows name their d (legs of today), only the part of today is evaluated from
nothing, and compared with its rows before. The stratum keeps no counts for this. If a changed row
does not name its part, the rows that join it do: if reach(x, z) :- reach(x, y), edge(y, z). loses
an edge, it affects the parts of all x that reached y. Where parts are large, because there is a
small number of values, a small change is first tried by over-deletion and re-derivation (`dred`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.scantree import after_prefix
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.storage.database import base_name
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, Source

TOUCHED = Source("", Role.AFFECTED)
"""The name under which rules read the values whose parts are evaluated."""
_REMEMBERED = 256  # strata whose rules are kept

PassedOn = Mapping[str, int]
"""Columns that the rules pass on unchanged, by relation of the stratum."""
_AFFECTED_VALUES = 1000
"""Values affected beyond which looking up their rows one by one costs more than reading all rows;
that many are no longer found by joins.
"""
_AFFECTED_PLANNED = 64
"""Values affected up to which plans of earlier commits serve, and no threads help."""
_AFFECTED_CHANGES = 16
"""Changed rows that do not tell their partitions, up to which these are looked up."""
_AFFECTED_JOINED = 20_000
"""Rows that may join those changes for it."""
_AFFECTED_SHARE = 0.5
"""Share of the rows in affected partitions beyond which one evaluation of all is simpler."""


class _Known(NamedTuple):
    """The ways in which a stratum of these rules falls apart, each with the rules for its touched
    parts.
    """

    rules: list[NormalRule]
    ways: list[tuple[PassedOn, PreparedRules]]


@frozen
class AffectedParts:
    """The parts of a stratum that a commit can touch: the column that tells them in each relation,
    their values, their share of rows.

    `direct`: whether all changed rows have such a value themselves. There are no values where no
    row joins what changed.
    """

    schemas: Mapping[str, RelationSchema]
    kept: PassedOn
    prepared: PreparedRules
    values: np.ndarray
    share: float
    direct: bool

    def rows(self, versions: Versions) -> dict[str, Columns]:
        """The rows in these parts, by relation, sorted."""
        return {
            name: _rows_of(versions[name], column, self.values)
            for name, column in self.kept.items()
        }

    def closure(
        self,
        versions: Versions,
        context: Context,
        trail: list[Iteration] | None = None,
    ) -> Closure:
        """The rules for these parts alone, over what they read; `trail` as of `Closure`."""
        name, column = next(iter(self.kept.items()))
        schema = RelationSchema(TOUCHED, (self.schemas[name].columns[column],))
        rules = self.prepared.rules
        read = {relation for rule in rules for relation in rule.reads}
        below = {each: versions[each] for each in read - self.schemas.keys() - {TOUCHED}}
        below[TOUCHED] = TransientRelation(schema, context.resources.arena, [self.values])
        for name, column in self.kept.items():
            base = base_name(name)
            if base in versions and versions[base].count:
                rows = _rows_of(versions[base], column, self.values)
                below[base] = TransientRelation(
                    versions[base].schema, context.resources.arena, rows
                )
        few = len(self.values) <= _AFFECTED_PLANNED
        return Closure(
            self.schemas, rules, below, context, self.prepared if few else None, trail=trail
        )


def find_affected(
    schemas: Mapping[str, RelationSchema],
    rules: list[NormalRule],
    versions: Versions,
    context: Context,
) -> AffectedParts | None:
    """The parts of a stratum that what changed can touch; None when it does not fall apart so, or
    too much changed.
    """
    known = _known_for(schemas, rules, context)
    for kept, prepared in known.ways:
        touched = _touched(schemas, kept, rules, versions, context)
        if touched is None or (len(touched[0]) > _AFFECTED_VALUES and not touched[1]):
            continue
        values, direct = touched
        if _most_of(versions, kept, len(values), context):
            return None
        rows = sum(_count_of(versions[name], column, values) for name, column in kept.items())
        share = rows / max(1, sum(versions[name].count for name in schemas))
        if share > _AFFECTED_SHARE:
            return None
        return AffectedParts(schemas, kept, prepared, values, share, direct)
    return None


def _known_for(
    schemas: Mapping[str, RelationSchema], rules: list[NormalRule], context: Context
) -> _Known:
    """The ways in which a stratum of these very rules falls apart: found out once, and kept with
    their plans.
    """
    key = (TOUCHED, *map(id, rules))
    known = context.resources.prepared.get(key)
    if known is None or list(map(id, known.rules)) != list(map(id, rules)):
        ways = [
            (kept, PreparedRules(schemas, _restricted(kept, rules)))
            for kept in _kept_columns(schemas, rules)
        ]
        if len(context.resources.prepared) >= _REMEMBERED:
            context.resources.prepared.clear()
        known = context.resources.prepared[key] = _Known(rules, ways)
    return known


def _restricted(kept: PassedOn, rules: list[NormalRule]) -> list[NormalRule]:
    """The rules, for touched values alone."""
    restricted: list[NormalRule] = []
    for rule in rules:
        value = rule.head[kept[rule.relation]]
        assert isinstance(value, Ref)
        restricted.append(replace(rule, atoms=(PositiveAtom(TOUCHED, (value,)), *rule.atoms)))
    return restricted


def _kept_columns(
    schemas: Mapping[str, RelationSchema], rules: list[NormalRule]
) -> Iterable[PassedOn]:
    """The choices of one column per relation such that every rule finds in its head what its
    recursive atoms have there.
    """
    first = next(iter(schemas))
    for column in range(schemas[first].arity):
        kept = {first: column}
        while (more := _follow(kept, schemas, rules)) is not None and len(more) > len(kept):
            kept = more
        if more is not None and len(kept) == len(schemas):
            yield kept


def _follow(
    kept: dict[str, int], schemas: Mapping[str, RelationSchema], rules: list[NormalRule]
) -> dict[str, int] | None:
    """`kept` with what it means for the other relations of rules that join known ones; None when a
    rule contradicts.
    """
    found = dict(kept)
    for rule in rules:
        own = [(atom.relation, atom.args) for atom in rule.atoms if atom.relation in schemas]
        places = [(rule.relation, rule.head), *own]
        values = {args[found[name]] for name, args in places if name in found}
        if not values:
            continue
        value = next(iter(values))
        if len(values) > 1 or not isinstance(value, Ref):
            return None
        for name, args in places:
            if name not in found and value in args:
                found[name] = args.index(value)
            if name not in found or args[found[name]] != value:
                return None
    return found


def _touched(
    schemas: Mapping[str, RelationSchema],
    kept: PassedOn,
    rules: list[NormalRule],
    versions: Versions,
    context: Context,
) -> tuple[np.ndarray, bool] | None:
    """The values whose parts a change can touch, ascending, and whether it tells them all itself,
    or joins do, too; None when nothing does.
    """
    by_joins = not math.isinf(context.fraction)
    pieces: list[np.ndarray] = []
    joined: list[np.ndarray] = []
    for name, column in kept.items():
        if base_name(name) in versions.deltas:
            delta = versions.deltas[base_name(name)]
            pieces += [delta.inserts[column], delta.erases[column]]
    for rule in rules:
        value = rule.head[kept[rule.relation]]
        for atom in (*rule.atoms, *rule.negated):
            if atom.relation in versions.deltas and atom.relation not in schemas:
                if value in atom.args:
                    pieces += _direct(atom, value, versions)
                    continue
                values = _joined(rule, atom, kept, versions, context) if by_joins else None
                if values is None:
                    return None
                joined.append(values)
    return (
        (sort_rows([np.concatenate(pieces + joined)])[0], not joined) if pieces or joined else None
    )


def _direct(
    atom: PositiveAtom | NegatedAtom, value: object, versions: Versions
) -> list[np.ndarray]:
    """The values of parts in changed rows."""
    delta, column = versions.deltas[atom.relation], _place(atom, value)
    return [delta.inserts[column], delta.erases[column]]


def _joined(
    rule: NormalRule,
    atom: PositiveAtom | NegatedAtom,
    kept: PassedOn,
    versions: Versions,
    context: Context,
) -> np.ndarray | None:
    """The values of parts that have rows which join changed ones; None where these are many, or
    nothing joins them, or rows are only won: then what is won is found sooner than all that there
    is in these parts.

    Rows as they were suffice: what a change does with a row that is new does it to a part in which
    something else did change.
    """
    delta = versions.deltas[atom.relation]
    takes = delta.erased if isinstance(atom, PositiveAtom) else delta.inserted
    if not takes or len(delta) > _AFFECTED_CHANGES:
        return None
    for own in rule.atoms:
        places = [
            (column, atom.args.index(term))
            for column, term in enumerate(own.args)
            if isinstance(term, Ref) and term in atom.args
        ]
        if own.relation in kept and places:
            (column, place), relation = places[0], versions[own.relation]
            values = sort_rows([np.append(delta.inserts[place], delta.erases[place])])[0]
            if _too_many(relation, column, kept[own.relation], len(values), context):
                return None
            if _count_of(relation, column, values) > _AFFECTED_JOINED:
                return None
            return _rows_of(relation, column, values)[kept[own.relation]]
    return None


def _too_many(
    relation: RelationVersion, column: int, kept: int, values: int, context: Context
) -> bool:
    """Test if so many values of a column are expected to lie in too many parts, by the value in
    column `kept`, where it takes work to find that out.
    """
    if relation.count <= _AFFECTED_JOINED or relation.at_hand(_order_from(relation, column)):
        return False
    distinct = context.statistics.of(relation).distinct
    parts = min(values * relation.count / max(1, distinct[column]), distinct[kept])
    return parts > min(2 * _AFFECTED_VALUES, _AFFECTED_SHARE * distinct[kept])


def _most_of(versions: Versions, kept: PassedOn, values: int, context: Context) -> bool:
    """Test if so many parts are expected to have too large a share of the rows, where it takes work
    to find that out.
    """
    for name, column in kept.items():
        relation = versions[name]
        soon = relation.count <= _AFFECTED_JOINED or values > _AFFECTED_VALUES
        if not soon and not relation.at_hand(_order_from(relation, column)):
            return values > _AFFECTED_SHARE * context.statistics.of(relation).distinct[column]
    return False


def _place(atom: PositiveAtom | NegatedAtom, value: object) -> int:
    return next(column for column, argument in enumerate(atom.args) if argument == value)


def _rows_of(relation: RelationVersion, column: int, values: np.ndarray) -> Columns:
    """The sorted rows with one of these values in a column. O(values · log n + rows found), once a
    key order begins with the column; O(n) for many values.
    """
    if len(values) > _AFFECTED_VALUES:
        rows = relation.columns()
        some = np.isin(rows[column], values)
        return [each[some] for each in rows]
    order = _order_from(relation, column)
    tree = relation.tree(order)
    pieces = [tree.range((value,), after_prefix((value,))) for value in values.tolist()]
    back = [order.index(place) for place in range(len(order))]
    return sort_rows([np.concatenate([piece[place] for piece in pieces]) for place in back])


def _count_of(relation: RelationVersion, column: int, values: np.ndarray) -> int:
    """Count the rows of `_rows_of`. O(values · log n), once a key order begins with the column;
    O(n) for many values.
    """
    if len(values) > _AFFECTED_VALUES:
        return int(np.count_nonzero(np.isin(relation.columns([column])[0], values)))
    tree = relation.tree(_order_from(relation, column))
    return sum(tree.positions((value,), after_prefix((value,)))[2] for value in values.tolist())


def _order_from(relation: RelationVersion, column: int) -> tuple[int, ...]:
    """The key order with this column before the others."""
    return (column, *(other for other in range(relation.schema.arity) if other != column))
