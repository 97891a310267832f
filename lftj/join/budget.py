"""Budget of kernel steps: what the work that goes on now may still take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class AllowanceSpentError(Exception):
    """More steps than a budget allows. Never leaves the engine: the caller goes another way."""


@dataclass
class Grant:
    """Steps allowed to one block of work, and the steps it took, known when it ends."""

    allowed: int | None
    spent: int = 0


@dataclass
class Budget:
    """Steps left for the work that goes on now; `left` is None where nothing bounds it.

    `spent` counts every step and charge, bounded or not, and only grows.
    """

    left: int | None = None
    spent: int = 0

    @contextmanager
    def allow(self, steps: int | None) -> Iterator[Grant]:
        """Allow the block so many steps of its own; after it, however it ends, the budget from
        before holds again. The block raises AllowanceSpentError when it takes more.
        """
        outer, before = self.left, self.spent
        self.left, grant = steps, Grant(steps)
        try:
            yield grant
        finally:
            self.left, grant.spent = outer, self.spent - before

    def charge(self, steps: int) -> None:
        """Take steps from what is left. Raises AllowanceSpentError when they are more."""
        self.spent += steps
        if self.left is not None:
            self.left -= steps
            if self.left < 0:
                raise AllowanceSpentError

    def slice(self, steps: int) -> int:
        """Number of steps that a kernel may run between two charges: at most `steps`, and one more
        than is left.
        """
        return steps if self.left is None else max(1, min(steps, self.left + 1))

    def within(self, steps: int) -> int:
        """Number of `steps` to account, where the work of several threads is accounted: beyond the
        budget none, so that the count does not depend on timing.
        """
        return steps if self.left is None else min(steps, self.left + 1)
