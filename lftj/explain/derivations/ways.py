# SPDX-License-Identifier: Apache-2.0
"""Ways to satisfy a body, as steps from the values that are given to its assignments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

from lftj.explain.derivations.conjunction_search import Rows
from lftj.explain.derivations.version import Version
from lftj.program import CheckedAggregate, CheckedAtom, CheckedLiteral, RuleVariable

Branches = tuple[int, ...]
"""A branch of each disjunction of a body, in the order of the text, outer ones first."""


class Step(Protocol):
    """One step."""

    def through(self, pieces: Iterator[Rows], version: Version) -> Iterator[Rows]:
        """The assignments that are admitted, longer by what the step binds."""
        ...


class Way(ABC):
    """One way to satisfy a body, as steps. `bound`: the variables of its assignments, those given
    first; `atoms`: the positive atoms in the order of the text.
    """

    def __init__(
        self,
        literals: Sequence[CheckedLiteral],
        variables: list[RuleVariable],
        given: tuple[int, ...],
        branches: Branches,
    ):
        self.branches, self.variables = branches, variables
        self.atoms = tuple(each for each in literals if isinstance(each, CheckedAtom))
        self.aggregates = tuple(each for each in literals if isinstance(each, CheckedAggregate))
        self.given = self.bound = given
        self._steps: list[Step] = []

    def run(self, version: Version, rows: Rows) -> Iterator[Rows]:
        """The assignments for distinct rows of given values, in pieces."""
        pieces: Iterator[Rows] = iter((rows,))
        for step in self._steps:
            pieces = step.through(pieces, version)
        return pieces

    @abstractmethod
    def of_aggregate(self, literal: CheckedAggregate) -> Sequence[Way]:
        """The ways to satisfy the body of an aggregate, with what is aggregated as a variable."""
