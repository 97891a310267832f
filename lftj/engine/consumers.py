"""Consumers of changes: by name, the relation that each reads, and how far it has come."""

from __future__ import annotations

from typing import NamedTuple

from lftj.errors import ConsumerError


class Position(NamedTuple):
    """The relation of a consumer, and the last version whose change it has acknowledged."""

    relation: str
    version: int


def require_same(name: str, position: Position, relation: str) -> None:
    """Raise ConsumerError (E373) for a consumer that reads another relation."""
    if position.relation != relation:
        raise ConsumerError(
            f"consumer {name!r} reads `{position.relation}`, not `{relation}`",
            hint="choose another name, or end that one with drop()",
        )
