# SPDX-License-Identifier: Apache-2.0
"""Entries among changes of rows that tell what happened to a relation's schema between two
versions, and names of relations across versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lftj.engine.versions.result import Result
from lftj.program.alteration import Alteration, of_relation
from lftj.program.alterations_apart import since
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.program.schema import Catalog
from lftj.storage.delta import Columns, no_rows
from lftj.types import Type
from lftj.types.texts import Texts


class SchemaChange(Result):
    """The change of a relation's schema: an entry without rows, in the columns that the rows after
    it have, before the change of the rows by the same commit.

    `steps` tell it in words; `before` and `after` have the columns and their types, `after` None
    where the relation was dropped. Where another one was declared under its name, all rows of that
    one come after. `relation` is its name afterwards, `was` the name before. Rows
    that only gained a default, or were converted, are no changes: who keeps a copy does to it what
    the steps say.
    """

    kind = "schema"

    def __init__(
        self,
        steps: Sequence[Alteration],
        before: RelationSchema,
        after: RelationSchema | None,
        version: int,
        texts: Texts,
    ):
        columns = (before if after is None else after).columns
        name = before.name if after is None else after.name

        def nothing() -> Columns:
            return no_rows(len(columns) + len(CHANGE_COLUMNS))

        super().__init__(
            (*columns, *CHANGE_COLUMNS),
            nothing,
            0,
            texts,
            version=version,
            name=f"changes of {name}",
        )
        self.relation, self.was = name, before.name
        self.rows_follow = False
        """True where the change of the rows by the same commit is still to come."""
        self.before: Mapping[str, Type] = dict(before.columns)
        self.after: Mapping[str, Type] | None = None if after is None else dict(after.columns)
        anew = [] if after is None else [f"{name} is declared anew"]
        self.steps = (*map(str, steps),) or (f"{before.name} is dropped", *anew)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, which JSON can write: columns with the names of their types."""
        after = self.after
        return {
            "kind": self.kind,
            "version": self.version,
            "relation": self.relation,
            "was": self.was,
            "steps": list(self.steps),
            "before": {name: str(type) for name, type in self.before.items()},
            "after": after and {name: str(type) for name, type in after.items()},
        }

    def __repr__(self) -> str:
        return f"<SchemaChange at version {self.version}: {'; '.join(self.steps)}>"


def name_in(name: str, now: Catalog, then: Catalog) -> str:
    """The name in an earlier version, or a later one, of a relation by its name in this one."""
    if (steps := since(then.alterations, now.alterations)) is not None:
        return of_relation(steps, name, now.dropped.get(name, 0))[0]
    for each in since(now.alterations, then.alterations) or ():
        if each.relation == name:
            name = each.name
    return name


def schema_change(
    name: str, before: Catalog, after: Catalog, version: int, texts: Texts
) -> SchemaChange | None:
    """Changes between two versions of the schema of a relation, by its name in the earlier
    one; None for none.
    """
    old = before.relations.get(name)
    if old is None:
        return None
    later = name_in(name, before, after)
    new = after.relations.get(later)
    if new is None or another(name, before, later, after):
        return SchemaChange((), old, new, version, texts)
    alterations = since(before.alterations, after.alterations) or ()
    steps = of_relation(alterations, later, after.dropped.get(later, 0))[1]
    return SchemaChange(steps, old, new, version, texts) if steps else None


def another(name: str, before: Catalog, later: str, after: Catalog) -> bool:
    """Test for a relation that was dropped, and another one that has its name."""
    return after.dropped.get(later, 0) > 0 and (
        after.dropped.get(later) != before.dropped.get(name)
    )
