# SPDX-License-Identifier: Apache-2.0
"""Cost of keeping key orders at commits: each order of a changed relation is brought forward, once
even if several plans read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lftj.scantree.frozen import frozen
from lftj.storage.relation import Order

_BROUGHT_FORWARD = 4.0  # kernel steps in the time that one changed row takes in one key order


@frozen
class Upkeep:
    """Upkeep of key orders: the orders that lasting plans read already, the number of rows that
    commits change in a relation, as far as is known, and relations that no commit changes.
    """

    kept: Callable[[str], Iterable[Order]]
    moved: Callable[[str], int]
    constant: Callable[[str], bool] = lambda _: False

    def price(self, relation: str, order: Order) -> float:
        """Cost, at each commit, of a plan that reads this key order, in kernel steps."""
        return 0.0 if order in set(self.kept(relation)) else _BROUGHT_FORWARD * self.moved(relation)
