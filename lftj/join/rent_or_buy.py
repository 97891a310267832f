# SPDX-License-Identifier: Apache-2.0
"""Rent or buy (the ski rental problem): when to pay for what no single use is worth.

A use that does without something loses a little by it: a join without the key order that it would
read, a search that goes the worse way round. Nobody knows how many uses are still to come. So the
losses are added up, and once they exceed the price, it is paid: in all at most about twice what
would have been best, however many come [Karlin, Manasse, Rudolph and Sleator, Competitive Snoopy
Caching, 1988]. Where paying turned out to be of no use, the next price is twice as high.
"""

from __future__ import annotations

from typing import NamedTuple


class Rent(NamedTuple):
    """Losses since the last purchase, in the unit of the price, and the number of purchases."""

    lost: float = 0
    bought: int = 0

    def plus(self, loss: float) -> Rent:
        """The rent after one more loss; a gain does not count."""
        return self._replace(lost=self.lost + max(0, loss))

    def due(self, price: float) -> bool:
        """Tell whether the losses exceed the price, doubled by each purchase before."""
        return self.lost > price * (1 << self.bought)

    def paid(self) -> Rent:
        """The rent after a purchase: nothing lost yet."""
        return Rent(0, self.bought + 1)

    def ended(self) -> Rent:
        """The rent after what it was paid for has ended: nothing lost, the next price the same."""
        return self._replace(lost=0)


NOTHING_LOST = Rent()
