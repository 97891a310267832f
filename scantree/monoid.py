# SPDX-License-Identifier: Apache-2.0
"""Monoids for scans: count, sum, min and max of columns, or any associative operation of your own.

The former are kept by the tree itself, in its index pages (`aggregates=` of `Tree.build`). A
`Monoid` remembers what it made of each page, so a scan after a small change combines only new pages
again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from lftj.scantree.arena import Arena, Words
from lftj.scantree.frozen import frozen
from lftj.scantree.page_kernels import BIRTH, REFERENCES

Row = tuple[int, ...]
A = TypeVar("A")

_FEW_PAGES = 1024


@frozen
class Aggregate:
    """An operator over one column (numbered over keys, then values). Make one with `sum_of`,
    `min_of` or `max_of`, or take `COUNT`.
    """

    operator: str
    column: int = -1


COUNT = Aggregate("count")


def sum_of(column: int) -> Aggregate:
    """The sum of a column modulo 2⁶⁴, as int64 arithmetic wraps: for columns whose sums are known
    to fit. 0 over no rows.
    """
    return Aggregate("sum", column)


def min_of(column: int) -> Aggregate:
    """The least value of a column; None over no rows."""
    return Aggregate("min", column)


def max_of(column: int) -> Aggregate:
    """The greatest value of a column; None over no rows."""
    return Aggregate("max", column)


class PageCache(Generic[A]):
    """One aggregate for each page of an arena. The words of a dead page may be used again, but
    under another birth number.
    """

    def __init__(self, arena: Arena) -> None:
        self._memory = arena.memory
        self._kept: dict[int, tuple[int, A]] = {}
        self._limit = _FEW_PAGES

    def get(self, page: int) -> tuple[int, A] | None:
        """(birth, aggregate) of a living page, or None."""
        kept = self._kept.get(page)
        return kept if kept is not None and kept[0] == self._memory[page + BIRTH] else None

    def put(self, page: int, aggregate: A) -> None:
        """Keep the aggregate of a living page. Entries of dead pages go when they may be half of
        all: O(1) amortised.
        """
        self._kept[page] = (int(self._memory[page + BIRTH]), aggregate)
        if len(self._kept) > self._limit:
            self._drop_dead()

    def _drop_dead(self) -> None:
        memory = self._memory
        # A list first: another thread may add entries meanwhile. One that is lost in the exchange
        # is only computed again.
        entries = list(self._kept.items())
        living = {
            page: kept
            for page, kept in entries
            if kept[0] == memory[page + BIRTH] and memory[page + REFERENCES] > 0
        }
        self._limit = max(_FEW_PAGES, 2 * len(living))
        self._kept = living

    def __len__(self) -> int:
        return len(self._kept)


@frozen(eq=False)
class Monoid(Generic[A]):
    """`lift` makes an element of each row (its keys and values), `combine` is associative with
    `zero` neutral; it need not commute.

    `lift_rows`, where given, is used in place of `lift`: it makes a₁ ⊕ … ⊕ aₘ of all rows of a page
    (m ≥ 1) at once, given its columns. All must be pure functions: their results are kept, per
    page, as long as the arena and this object live.
    """

    zero: A
    lift: Callable[[Row], A]
    combine: Callable[[A, A], A]
    lift_rows: Callable[[list[Words]], A] | None = None
    _caches: WeakKeyDictionary[Arena, PageCache[A]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

    @staticmethod
    def of_rows(
        zero: A, lift_rows: Callable[[list[Words]], A], combine: Callable[[A, A], A]
    ) -> Monoid[A]:
        """A monoid that lifts whole pages."""
        return Monoid(
            zero, lambda row: lift_rows([np.array([word]) for word in row]), combine, lift_rows
        )

    def cache(self, arena: Arena) -> PageCache[A]:
        """The combined values of an arena's pages, as far as they are known."""
        cache = self._caches.get(arena)
        if cache is None:
            cache = self._caches.setdefault(arena, PageCache(arena))
        return cache

    def fold(self, elements: list[A]) -> A:
        """a₁ ⊕ … ⊕ aₘ in order, m − 1 combinations, in pairs of equal depth so that elements that
        grow are copied log m times only.
        """
        if not elements:
            return self.zero
        while len(elements) > 1:
            paired = [
                self.combine(a, b) for a, b in zip(elements[::2], elements[1::2], strict=False)
            ]
            elements = paired if len(elements) % 2 == 0 else [*paired, elements[-1]]
        return elements[0]
