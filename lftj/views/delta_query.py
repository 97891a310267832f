# SPDX-License-Identifier: Apache-2.0
"""Delta queries: what a change of one atom's relation does to a rule, found from the changed rows.

The region of a surgery whose atom keeps no sensitivity index is a box: the atom's variables are
pinned and all others free. Evaluated in a variable order that begins with the pinned ones, a box of
all changed rows is the rule with that atom reading the change [LFTJ-IVM 4.2, granularity `none`].
An assignment that two changed atoms find counts once because the atoms are taken in turn: those
before the changed one read the new version, those behind it the old one, so the sum over the atoms
is exactly new − old. Rows lost and rows won are one relation with a sign before its columns, and
one run.

A negated atom changes where a row under its bound columns appears and none was there before, or the
last one vanishes: the tree surgeries at the depth of these columns, with the sign reversed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.order_choice import Choice
from lftj.join.plan.order_costs import Crowds
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import choose_order, lay_out
from lftj.join.run.evaluate import Columns
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.cost.cost_model import SEEN_CHANGES
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Versions
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, Ref, RuleVariable
from lftj.scantree.frozen import record
from lftj.storage.delta import Delta
from lftj.tuning.aids import MOVED_BOUNDS
from lftj.types import INT
from lftj.types.sources import Role, Source, without_role
from lftj.views.lasting_plans import STALE, STALE_ROWS, keep_orders, outgrown
from lftj.views.moved_bounds import Moving

_MOVE_STEPS = 1 << 12
"""Kernel steps for a row that takes another's place which nobody compares with another way."""
_DEARER_MOVE = 2
"""Times the estimated cost of both rows that a move may take."""


@record
class DeltaQuery:
    """One rule with one of its atoms reading the change of its relation."""

    rule: NormalRule
    relation: str
    bound: tuple[int, ...] | None
    """The bound columns of a negated atom; None for a positive one."""
    needed: tuple[int, ...]
    steps: int = 0
    """Kernel steps of all runs with the present plan, and the changed rows they were for."""
    rows: int = 0
    _prepared: PreparedPlan | None = None
    _sizes: Sequence[int] = ()
    _changed: int = 0

    @property
    def sign(self) -> int:
        """+1 when a row won wins assignments, −1 when it loses them."""
        return 1 if self.bound is None else -1

    @property
    def _changed_atom(self) -> PositiveAtom:
        return next(atom for atom in self.rule.atoms if atom.relation == CHANGE)

    @cached_property
    def _reads(self) -> frozenset[str]:
        """The relations that it reads, and the one whose change it reads."""
        return frozenset(
            (self.relation, *(without_role(name, Role.PREVIOUS) for name in self.rule.reads))
        )

    @cached_property
    def _moves(self) -> Moving | None:
        """The way in which moves of the changed atom are followed, if there is one."""
        return Moving.of(self.rule, self.needed) if self.bound is None else None

    @cached_property
    def _columns(self) -> list[int] | None:
        """The columns of `needed` in the changed rows, where these are the assignments: of a body
        of one atom without constants, whose variables differ. None of a negated one, to which only
        the first and the last row under its bound columns matter.
        """
        if self.bound is not None:
            return None
        rule, args = self.rule, self._changed_atom.args
        places = {arg.variable: place for place, arg in enumerate(args) if isinstance(arg, Ref)}
        more = rule.negated or rule.filters or rule.assignments or len(rule.atoms) > 1
        return None if more or len(places) < len(args) else [places[v] for v in self.needed]

    def changes(
        self, versions: Versions, change: Delta, context: Context
    ) -> list[tuple[Columns, np.ndarray]]:
        """As `run`, in pieces: of rows that others take the place of by what lies between their
        values, where that does not take longer.
        """
        moving = change.inserted and change.erased and MOVED_BOUNDS not in context.tuning.without
        if not moving or self._moves is None:
            return [self.run(versions, change, context)]
        moves = versions.moves(self.relation, self._moves.fixed)
        if moves.rows.count:
            pieces = self._moves.run(moves, versions, context, _MOVE_STEPS * moves.rows.count)
            if pieces is None:
                cost = int(self._choice(versions, change, context)[0].cost)
                pieces = self._moves.run(moves, versions, context, _DEARER_MOVE * cost)
            if pieces is not None:
                more = [self.run(versions, moves.rest, context)] if len(moves.rest) else []
                return [*pieces, *more]
        return [self.run(versions, change, context)]

    def run(
        self, versions: Versions, change: Delta, context: Context
    ) -> tuple[Columns, np.ndarray]:
        """The values of `needed` of the assignments that use the changed rows, and how many each
        stands for: negative ones are lost.
        """
        if self._columns is not None:
            rows, signs = change.signed()
            context.budget.spend(len(change))
            self.steps += len(change)
            self.rows += len(change)
            return [rows[column] for column in self._columns], signs
        prepared = self._plan(versions, change, context)
        (*columns, signs), proofs, steps = prepared.run(
            versions.with_signed(self.relation, self.bound, change), context
        )
        self.steps += steps
        self.rows += len(change)
        return columns, signs * proofs if self.sign > 0 else -signs * proofs

    def expected(self, versions: Versions) -> float:
        """Kernel steps that the changed rows will take, going by those seen so far; 0 when too few
        were seen to tell.
        """
        changed = versions.sizes.get(self.relation, 0)
        return self.steps / self.rows * changed if self.rows >= SEEN_CHANGES else 0.0

    def _plan(self, versions: Versions, change: Delta, context: Context) -> PreparedPlan:
        sizes = [versions[name].count for name in self._others]
        if self._prepared is None or self._stale(versions, sizes):
            choice, readable = self._choice(versions, change, context)
            plan = self._signed(choice, readable)
            self._prepared = PreparedPlan(plan, readable, context)
            self._sizes, self._changed = sizes, self._changes(versions)
            self.steps = self.rows = 0
            keep_orders(plan, readable, context)
        return self._prepared

    @cached_property
    def _others(self) -> list[str]:
        """The relations of the other atoms. The changed rows do not count: of changes that vary the
        few do, as a plan for many may begin elsewhere.
        """
        return [atom.relation for atom in self.rule.atoms if atom.relation != CHANGE]

    def _changes(self, versions: Versions) -> int:
        return versions.changed_rows(self._reads)

    def _stale(self, versions: Versions, sizes: Sequence[int]) -> bool:
        """Test for a plan that was made for other sizes, or for far more changes."""
        if sizes != self._sizes and outgrown(self._sizes, sizes):
            return True
        return self._changed > STALE_ROWS and self._changed > STALE * self._changes(versions)

    def _choice(
        self, versions: Versions, change: Delta, context: Context
    ) -> tuple[Choice, Versions]:
        """The variable order for a change, and the versions with it."""
        more = max(change.inserts, change.erases, key=lambda rows: len(rows[0]))
        readable = versions.with_change(self.relation, self.bound, more).with_signed(
            self.relation, self.bound, change
        )
        choice = choose_order(
            self.rule,
            self.needed,
            readable,
            context.statistics,
            building=0.0,
            upkeep=context.upkeep,
            crowds=self._crowds(readable, context.statistics),
        )
        return choice, readable

    def _crowds(self, readable: Versions, statistics: Statistics) -> Crowds:
        """Number of rows of other atoms that join with a changed row by one of its values. Of the
        same relation and column there are more than for any value: a value that many rows have is
        in more changes. No more in all than there are rows, though.
        """
        found: dict[tuple[int, int], float] = {}
        for place, variable in enumerate(self._changed_atom.args):
            column = place if self.bound is None else self.bound[place]
            for number, atom in enumerate(self.rule.atoms):
                if (
                    without_role(atom.relation, Role.PREVIOUS) == self.relation
                    and isinstance(variable, Ref)
                    and atom.args[column] == variable
                ):
                    about = statistics.of(readable[atom.relation])
                    values = max(1.0, statistics.of(readable[CHANGE]).distinct[place])
                    found[number, variable.variable] = (
                        min(about.crowds[column], about.rows / values) if about.crowds else 0.0
                    )
        return found

    def _signed(self, choice: Choice, readable: Versions) -> RulePlan:
        """The plan for the rows lost and those won, one after the other: with their sign before all
        other variables.
        """
        sign = len(self.rule.variables)
        atoms = [
            PositiveAtom(SIGNED, (Ref(sign), *a.args)) if a.relation == CHANGE else a
            for a in self.rule.atoms
        ]
        rule = replace(
            self.rule,
            variables=(*self.rule.variables, RuleVariable("_", INT)),
            atoms=tuple(atoms),
        )
        signed = Choice((sign, *choice.order), choice.cost, (2.0, *choice.bindings))
        return lay_out(rule, signed, (*self.needed, sign), readable, count=True)


def delta_queries(rule: NormalRule, needed: tuple[int, ...]) -> list[DeltaQuery]:
    """One query per atom of the body, in the order of their turns: the positive ones first."""
    return [_delta_query(rule, needed, turn) for turn in range(len(rule.atoms) + len(rule.negated))]


def _delta_query(rule: NormalRule, needed: tuple[int, ...], own: int) -> DeltaQuery:
    """The query for one of the atoms: those before it read the new version, those behind it the old
    one.
    """
    behind = len(rule.atoms)

    def name(number: int, relation: str) -> str:
        return relation if number <= own else Source(relation, Role.PREVIOUS)

    others = [PositiveAtom(name(i, atom.relation), atom.args) for i, atom in enumerate(rule.atoms)]
    negated = [
        NegatedAtom(name(behind + i, atom.relation), atom.args)
        for i, atom in enumerate(rule.negated)
    ]
    if own < behind:
        others[own] = PositiveAtom(CHANGE, rule.atoms[own].args)
        return DeltaQuery(
            replace(rule, atoms=tuple(others), negated=tuple(negated)),
            rule.atoms[own].relation,
            None,
            needed,
        )
    gone = rule.negated[own - behind]
    del negated[own - behind]
    return DeltaQuery(
        replace(rule, atoms=(gone.bound_in(CHANGE), *others), negated=tuple(negated)),
        gone.relation,
        gone.bound_columns,
        needed,
    )


def signed_assignments(
    queries: list[DeltaQuery], versions: Versions, context: Context, work: RuleWork
) -> list[tuple[Columns, np.ndarray]]:
    """The change of a rule's satisfying assignments as pieces (columns, signed counts); rows may
    repeat, also with opposite signs.
    """
    pieces: list[tuple[Columns, np.ndarray]] = []
    for query in queries:
        if query.relation not in versions.deltas:
            continue
        change = (
            versions.deltas[query.relation]
            if query.bound is None
            else versions.presence(query.relation, query.bound)
        )
        work.surgeries += len(change)
        if len(change):
            if query.rule.filters:
                pieces += query.changes(versions, change, context)
            else:
                pieces.append(query.run(versions, change, context))
    work.regions = work.surgeries
    return pieces
