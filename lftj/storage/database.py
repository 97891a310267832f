# SPDX-License-Identifier: Apache-2.0
"""A snapshot of all relations: what a reader holds and what a commit replaces as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lftj.program.normal_form import RelationSchema
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source, named_once


@named_once
def base_name(relation: str) -> Source:
    """The name of the relation that holds the base rows of one that has rules."""
    return Source(relation, Role.BASE)


class Database(dict[str, RelationVersion]):
    """A mapping from name to relation, which nobody changes once it is made, and a number that
    grows with every commit. A dictionary, since each commit reads it a hundred times.
    """

    __slots__ = ("version",)

    def __init__(self, relations: Mapping[str, RelationVersion] | None = None, version: int = 0):
        super().__init__(relations or {})
        self.version = version

    def schema(self, name: str) -> RelationSchema:
        """The schema of a relation."""
        return self[name].schema

    def replace(
        self,
        updates: Mapping[str, RelationVersion],
        *,
        drop: Iterable[str] = (),
        version: int | None = None,
    ) -> Database:
        """Replace or add some relations and drop others. O(number of relations), no row is
        touched.
        """
        if not updates and not drop and version in (None, self.version):
            return self
        made = Database(self, self.version if version is None else version)
        made.update(updates)
        for name in drop:
            made.pop(name, None)
        return made
