# SPDX-License-Identifier: Apache-2.0
"""One conjunction of atoms, negated atoms, equations and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import field

from lftj.program.bindings import Variables, bound_by
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.normal_form import Filter
from lftj.scantree.frozen import record


@record
class Conjunct:
    """`positive` are atoms and equations, which bind; `negated` and `filters` only reject. Atoms
    have variables and constants only.
    """

    positive: list[CheckedLiteral] = field(default_factory=list)
    negated: list[CheckedAtom] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)

    def copy(self) -> Conjunct:
        """One that can grow apart from this one."""
        return Conjunct(list(self.positive), list(self.negated), list(self.filters))

    @property
    def literals(self) -> list[CheckedLiteral]:
        """All of them."""
        return [*self.positive, *self.negated, *self.filters]

    def split(self, part: Callable[[CheckedLiteral], Hashable]) -> dict[Hashable, Conjunct]:
        """The literals by what `part` says of them, in the order in which it says so first."""
        found: dict[Hashable, Conjunct] = {}
        for literal in self.positive:
            found.setdefault(part(literal), Conjunct()).positive.append(literal)
        for atom in self.negated:
            found.setdefault(part(atom), Conjunct()).negated.append(atom)
        for test in self.filters:
            found.setdefault(part(test), Conjunct()).filters.append(test)
        return found

    def bound(self) -> Variables:
        """The variables that the conjunction binds."""
        return bound_by(self.positive)

    @staticmethod
    def union(conjuncts: Iterable[Conjunct]) -> Conjunct:
        """All literals of several."""
        whole = Conjunct()
        for each in conjuncts:
            whole.positive += each.positive
            whole.negated += each.negated
            whole.filters += each.filters
        return whole
