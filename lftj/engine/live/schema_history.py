# SPDX-License-Identifier: Apache-2.0
"""Rows of relations across changes of their schemas: those of an earlier version in the columns of
a later one.
"""

from __future__ import annotations

from lftj.engine.live.altered_state import Evaluating, in_later_columns, in_order
from lftj.engine.versions.schema_entry import another
from lftj.engine.versions.state import State
from lftj.program.alteration import of_relation
from lftj.program.alterations_apart import since
from lftj.program.normal_form import RelationSchema
from lftj.program.schema import Catalog
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion


def rows_then(
    engine: Evaluating, state: State, schema: RelationSchema, catalog: Catalog
) -> RelationVersion | None:
    """The rows that an earlier state has of a relation, in the columns that it has in a catalog;
    None where it has none, or another relation.
    """
    alterations = since(state.program.catalog.alterations, catalog.alterations)
    first = catalog.dropped.get(schema.name, 0)
    name, steps = of_relation(alterations or (), schema.name, first)
    found = state.database.get(name)
    if found is None or alterations is None:
        return None
    if another(name, state.program.catalog, schema.name, catalog):
        return None
    found = in_later_columns(engine, found, steps)
    if set(found.schema.columns) == set(schema.columns):  # both branches may have added some
        found = in_order(engine, found, schema)
    return found if found.schema.columns == schema.columns else None


def delta_between(engine: Evaluating, schema: RelationSchema, before: State, after: State) -> Delta:
    """The change of one relation, as the later of two versions has it, from the other to it. Pages
    that both have are skipped. A version from before it was declared has none of its rows.
    """
    catalog = after.program.catalog
    old, new = (rows_then(engine, state, schema, catalog) for state in (before, after))
    if old is not None and new is not None:
        return new.difference(old)
    if new is not None:
        return Delta(new.columns(), no_rows(schema.arity))
    if old is not None:
        return Delta(no_rows(schema.arity), old.columns())
    return Delta.empty(schema.arity)
