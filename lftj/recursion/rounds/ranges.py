"""The ranges of values of each type in relations, by which row sets are laid out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lftj.storage.relation import Bounds, RelationVersion
from lftj.types import Type


def ranges_of_types(relations: Iterable[RelationVersion], types: Collection[Type]) -> dict[Type, Bounds]:
    """Two codes for each of these types that all codes of it lie between. O(columns), once the relations know their bounds."""
    found: dict[Type, Bounds] = {}
    for relation in relations:
        columns = relation.schema.columns
        if not any(type in types for _, type in columns):
            continue
        for (_, type), (low, high) in zip(columns, relation.bounds(), strict=False):
            if type in types:
                known = found.get(type, (low, high))
                found[type] = (min(known[0], low), max(known[1], high))
    return found
