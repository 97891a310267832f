"""What the queries of an elastic update read, and which rules read what."""

from __future__ import annotations

from collections.abc import Iterable

from lftj.maintain.versions import OLD, Versions
from lftj.recursion.update.rule_queries import RuleQueries
from lftj.storage.relation import RelationVersion


class Readings(dict[str, RelationVersion]):
    """What the queries read, by the names in their bodies; relations below are looked up when first read."""

    def __init__(self, versions: Versions):
        super().__init__()
        self._versions = versions

    def __missing__(self, name: str) -> RelationVersion:
        plain = name.removesuffix(OLD)
        # a rule that goes may be the last to read a hidden relation, which goes with it
        self[name] = found = self._versions[name] if plain in self._versions else self._versions.old[plain]
        return found


def readers_of(rules: Iterable[RuleQueries], members: Iterable[str]) -> dict[str, list[RuleQueries]]:
    """The rules that read each relation of a stratum."""
    readers: dict[str, list[RuleQueries]] = {name: [] for name in members}
    for queries in rules:
        for name in {atom.relation for atom in queries.rule.atoms} & readers.keys():
            readers[name].append(queries)
    return readers
