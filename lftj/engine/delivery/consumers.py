# SPDX-License-Identifier: Apache-2.0
"""Consumers of changes: by name, the relation that each reads, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lftj.errors import ConsumerError


class Position(NamedTuple):
    """The relation of a consumer, and the last version whose change it has acknowledged."""

    relation: str
    version: int


def require_same(name: str, position: Position, relation: str) -> None:
    """Raise ConsumerError (E372) for a consumer that reads another relation."""
    if position.relation != relation:
        raise ConsumerError(
            f"consumer {name!r} reads `{position.relation}`, not `{relation}`",
            hint="choose another name, or end that one with drop()",
        )


def require_caught_up(positions: Mapping[str, Position], last: int) -> None:
    """Raise ConsumerError (E372) for a consumer that has not acknowledged the last version."""
    for name, position in positions.items():
        if position.version < last:
            raise ConsumerError(
                f"consumer {name!r} has acknowledged version {position.version}, and the last one "
                f"is {last}: files begin with that one",
                hint="acknowledge its changes, or end it with drop(), and save then",
            )
