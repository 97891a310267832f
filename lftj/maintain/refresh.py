"""Bringing views up to date at a commit: strata in order, each only when something it reads has changed.

A changed stratum is evaluated in full; what comes out is compared with what was there, and the difference goes on to the strata above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from lftj.heads.function import check_function
from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations
from lftj.maintain.full import derive
from lftj.program.normal_form import NormalRule, RelationSchema, StratifiedProgram, Stratum
from lftj.recursion.bootstrap import bootstrap
from lftj.storage.database import Database, base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types import decode_scalar
from scantree.rows import difference, union


def refresh(
    program: StratifiedProgram,
    database: Database,
    deltas: Mapping[str, Delta],
    context: Context,
    *,
    changed_rules: frozenset[str] = frozenset(),
) -> tuple[Database, dict[str, Delta]]:
    """The database with every affected view new, and the net change of each view that changed, hidden ones included.

    `database` already holds the new base rows, `deltas` their net changes; `changed_rules` names relations that won or lost a rule. Views
    that depend on none of these do no work. Raises KeyViolationError, ValueRangeError or LimitError and leaves the given database as it is.
    """
    changed = {name for name, delta in deltas.items() if len(delta)} | set(changed_rules)
    found: dict[str, Delta] = {}
    updates: dict[str, RelationVersion] = {}
    current = _Overlay(database, updates)
    for stratum in program.strata:
        if not _affected(stratum, changed):
            continue
        context.report(f"evaluating {', '.join(name for name in stratum.relations if '#' not in name) or stratum.relations[0]}")
        for name, rows in _evaluate(program, stratum, current, context).items():
            schema = program.relations[name]
            old = database[name] if name in database else RelationVersion.empty(schema, context.arena)
            delta = _change(old, rows)
            if len(delta):
                updates[name] = old.apply(delta)
                found[name] = delta
                changed.add(name)
            elif name not in database:
                updates[name] = old
    return database.replace(updates), found


class _Overlay(Mapping[str, RelationVersion]):
    """The database with the views already refreshed in place of the old ones."""

    def __init__(self, database: Database, updates: dict[str, RelationVersion]):
        self._database = database
        self._updates = updates

    def __getitem__(self, name: str) -> RelationVersion:
        found = self._updates.get(name)
        return self._database[name] if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter({*self._database, *self._updates})

    def __len__(self) -> int:
        return len({*self._database, *self._updates})


def _affected(stratum: Stratum, changed: set[str]) -> bool:
    if any(name in changed or base_name(name) in changed for name in stratum.relations):
        return True
    return not changed.isdisjoint(stratum.reads)


def _evaluate(program: StratifiedProgram, stratum: Stratum, relations: Relations, context: Context) -> dict[str, Columns]:
    """The rows of every relation of a stratum, base rows included."""
    if stratum.recursive:
        schemas = {name: program.relations[name] for name in stratum.relations}
        rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
        result = bootstrap(schemas, rules, relations, context)
    else:
        result = {}
        for name in stratum.relations:
            own = [rule for rule in stratum.rules if rule.relation == name]
            rows = derive(program.relations[name], own, relations, context)
            base = base_name(name)
            result[name] = union(rows, relations[base].columns()) if base in relations else rows
    for name, rows in result.items():
        check_functional(program.relations[name], rows, context)
    return result


def check_functional(schema: RelationSchema, rows: Columns, context: Context) -> None:
    """Raise KeyViolationError when rows of a view share a key; keys that are not a prefix of the columns are moved to the front."""
    if schema.key is None:
        return
    rest = [i for i in range(schema.arity) if i not in schema.key]
    order = [*schema.key, *rest]
    types = [schema.columns[i][1] for i in order]
    columns = rows if order == list(range(schema.arity)) else Delta.insertion([rows[i] for i in order]).inserts

    def decode(row: tuple[int, ...]) -> tuple[object, ...]:
        values = dict(zip(order, (decode_scalar(t, c, context.dictionary) for t, c in zip(types, row, strict=True)), strict=True))
        return tuple(values[i] for i in range(schema.arity))

    check_function(columns, len(schema.key), relation=schema.name, functional=schema.functional, decode=decode)


def _change(old: RelationVersion, rows: Columns) -> Delta:
    if not old.count:
        return Delta(rows, [np.empty(0, np.int64) for _ in rows])
    before = old.columns()
    return Delta(difference(rows, before), difference(before, rows))
