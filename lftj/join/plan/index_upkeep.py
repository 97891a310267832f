"""What commits do to keep key orders: each of a relation that changes is brought forward, and one
that several plans read is so once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lftj.storage.relation import Order

_BROUGHT_FORWARD = 4.0  # kernel steps in the time that one changed row takes in one key order


@dataclass(frozen=True)
class Upkeep:
    """Which key orders plans that last read already, and how many rows of a relation commits
    change, as far as is known.
    """

    kept: Callable[[str], Iterable[Order]]
    moved: Callable[[str], int]

    def price(self, relation: str, order: Order) -> float:
        """What it costs at each commit that a plan reads this key order, in kernel steps."""
        return 0.0 if order in set(self.kept(relation)) else _BROUGHT_FORWARD * self.moved(relation)
