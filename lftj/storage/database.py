"""A snapshot of all relations: what a reader holds and what a commit replaces as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lftj.program.normal_form import RelationSchema
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source, named_once


@named_once
def base_name(relation: str) -> Source:
    """The name of the relation that holds the base rows of one that has rules."""
    return Source(relation, Role.BASE)


class Database(Mapping[str, RelationVersion]):
    """An immutable mapping from name to relation, and a number that grows with every commit."""

    __slots__ = ("_relations", "version")

    def __init__(self, relations: Mapping[str, RelationVersion] | None = None, version: int = 0):
        self._relations = dict(relations or {})
        self.version = version

    def __getitem__(self, name: str) -> RelationVersion:
        return self._relations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._relations)

    def __len__(self) -> int:
        return len(self._relations)

    def __contains__(self, name: object) -> bool:
        return name in self._relations

    def schema(self, name: str) -> RelationSchema:
        """The schema of a relation."""
        return self._relations[name].schema

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
        dropped = drop and [name for name in drop if name in self._relations or name in updates]
        made = Database(version=self.version if version is None else version)
        made._relations = {**self._relations, **updates} if updates or dropped else self._relations
        for name in dropped:
            del made._relations[name]
        return made
