# SPDX-License-Identifier: Apache-2.0
"""Bounds of group columns, within which each combination of values has a slot of its own."""

from __future__ import annotations

from collections.abc import Sequence

from lftj.join.access.gathering import slots
from lftj.storage.relation import Bounds

_CODED = 1 << 20
"""Combinations of values that may lie between the least and the greatest of each group column for a
group to be found by its own slot of a table: 4 MiB.
"""
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def has_slots(bounds: Sequence[Bounds]) -> bool:
    """Test for combinations that are few enough to have a slot each."""
    return slots(bounds) <= _CODED


def with_room(bounds: Sequence[Bounds], before: Sequence[Bounds]) -> list[Bounds]:
    """Bounds that grew, wider on the sides where they did, twice as wide where a table allows it:
    rows may come in the order of their groups, and each table is made anew.
    """
    if not before:
        return list(bounds)
    sides = sum(
        (low < least) + (high > most)
        for (low, high), (least, most) in zip(bounds, before, strict=True)
    )
    share = min(1.0, (_CODED / slots(bounds)) ** (1 / max(1, sides)) - 1)
    wider: list[Bounds] = []
    for (low, high), (least, most) in zip(bounds, before, strict=True):
        more = int(share * (high - low))
        wider.append(
            (
                max(low - more, _INT64_MIN) if low < least else low,
                min(high + more, _INT64_MAX) if high > most else high,
            )
        )
    return wider if has_slots(wider) else list(bounds)
