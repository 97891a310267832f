# SPDX-License-Identifier: Apache-2.0
"""Recursive rules as semi-naïve evaluation runs them: once for each atom that may match a row of
the last iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.rent_or_buy import NOTHING_LOST, Rent
from lftj.join.run.evaluate import Relations
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.program.normal_form import NormalRule, PositiveAtom, RelationSchema
from lftj.scantree.frozen import record
from lftj.storage.relation import Order
from lftj.types.sources import Role, Source, named_once

_ROOM = 1 << 14  # rows of output that stay in the cache until they are taken


@named_once
def delta_name(relation: str) -> Source:
    """The name under which a rule reads the rows that were new in the last iteration."""
    return Source(relation, Role.DELTA)


@named_once
def older_name(relation: str) -> Source:
    """The name under which a rule reads the rows that were there before the last iteration."""
    return Source(relation, Role.OLDER)


@record
class Variant:
    """A recursive rule with one atom reading the delta. Column i of a head row is output `picks[i]`
    of the values `needed`.
    """

    rule: NormalRule
    source: str  # the relation whose delta it reads
    needed: tuple[int, ...]
    picks: np.ndarray
    plan: RulePlan | None = None
    idle_plans: list[PreparedPlan] = field(
        default_factory=list
    )  # prepared, and not in use by any thread
    planned_for: int = 0  # rows of the delta
    pace: float = 4.0  # kernel steps for a row of the delta, the last time
    idle: int = 0  # kernel steps that led to nothing, the last time
    rent: Rent = NOTHING_LOST  # the same since a better plan was last looked for

    def begin(self) -> None:
        """Forget what was found out in an earlier evaluation, but for the plan."""
        self.idle, self.rent = 0, NOTHING_LOST

    @property
    def order(self) -> Order:
        """The key order in which its plan reads the delta."""
        assert self.plan is not None
        return next(
            order for name, order in self.plan.key_orders() if name == delta_name(self.source)
        )

    @contextmanager
    def assembled(self, relations: Relations, context: Context) -> Iterator[PreparedPlan]:
        """The plan, assembled, for one thread. It stays so: where iterations are many and small,
        assembling is most of the work.
        """
        assert self.plan is not None
        try:
            prepared = self.idle_plans.pop()
        except IndexError:
            prepared = None
        if prepared is None or prepared.plan is not self.plan:
            prepared = PreparedPlan(self.plan, relations, context, room=_ROOM)
        yield prepared
        self.idle_plans.append(prepared)

    @cached_property
    def others(self) -> frozenset[str]:
        """The names of the relations that it reads beside the delta."""
        return frozenset(atom.relation for atom in (*self.rule.atoms, *self.rule.negated)) - {
            delta_name(self.source)
        }


def recursive_atoms(rule: NormalRule, schemas: Mapping[str, RelationSchema]) -> list[int]:
    """Numbers of a rule's atoms that read the stratum."""
    return [number for number, atom in enumerate(rule.atoms) if atom.relation in schemas]


def variants(rule: NormalRule, schemas: Mapping[str, RelationSchema]) -> list[Variant]:
    """The variants of a rule: atoms before the one that reads the delta read older rows, so that no
    instantiation is found by two.
    """
    needed, picks = head_picks(rule)
    recursive = recursive_atoms(rule, schemas)
    made = []
    for newest in recursive:
        atoms = list(rule.atoms)
        for number in recursive[: recursive.index(newest)]:
            atoms[number] = PositiveAtom(older_name(atoms[number].relation), atoms[number].args)
        atoms[newest] = PositiveAtom(delta_name(atoms[newest].relation), atoms[newest].args)
        made.append(
            Variant(replace(rule, atoms=tuple(atoms)), rule.atoms[newest].relation, needed, picks)
        )
    return made
