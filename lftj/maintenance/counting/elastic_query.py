# SPDX-License-Identifier: Apache-2.0
"""The joins of the elastic update: a recursive rule whose atoms of the stratum carry iterations,
driven by what changed.

An instantiation of the rule proves its head in iteration 1 + max(iterations of its atoms of the
stratum), or 0 if it has none. So a query yields signed proofs (head row, iteration, count). The
variable order is chosen for the rule as it was written; the iterations follow behind, each
determined by the variables before it, or before the last columns of one atom, which are then read
out as they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.order_choice import Choice, OrderSearch
from lftj.join.plan.order_costs import NEW_ORDER
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.evaluate import Columns
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.cost.cost_model import ORDERED, PLAN
from lftj.maintenance.counting.apply_iteration_kernels import tell_iterations
from lftj.maintenance.counting.iterated_relation import IteratedRelation, is_iterated
from lftj.maintenance.inputs.moved_rules import MovedRule, moved_rules
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, RuleVariable, Value
from lftj.storage.relation import Order, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types import INT, encode_constant
from lftj.types.sources import Role, Source

_ROOM = 1 << 12  # rows of output before they are taken
_PART = 1 << 20  # proofs that are found together where not all are needed at once
_QUERY_STALE = 3
"""Doublings or halvings of what a query of an update reads after which it is planned anew."""
_QUERY_STALE_BITS = 6
"""Bits of a number of rows up to which no growth does so."""
_QUERY_BINDINGS = 1000.0
"""Bindings whose trying takes less time than a plan for fewer."""
_RANKED_ORDER = NEW_ORDER / 100
"""Bindings that a new key order counts as for each row, although it serves later queries."""


class Proofs(NamedTuple):
    """Signed proofs: head rows, which may repeat, the iteration each is proved in, and how many
    proofs were won (or lost, if negative).
    """

    rows: Columns
    iterations: np.ndarray
    counts: np.ndarray


class _Planned(NamedTuple):
    """A plan with the sizes of what it reads, and the bindings that it was expected to try."""

    prepared: PreparedPlan
    sizes: tuple[int, ...]
    cost: float
    ranked: list[tuple[Source, Order]]


class ElasticQuery:
    """One body whose relations of the stratum have iterations. `relation` is the one
    whose change drives it.

    Column i of a head row is output `picks[i]` of its plans, whose first `values` outputs are the
    head's; then come standings.
    """

    def __init__(self, body: NormalRule, relation: str = "", bound: tuple[int, ...] | None = None):
        self.relation = relation
        self.bound = bound
        head = body.group
        self._head = tuple(dict.fromkeys(head))
        self.picks = [self._head.index(variable) for variable in head]
        self.values = len(self._head)
        self.body = replace(
            body, variables=tuple(replace(v, name=f"v{i}") for i, v in enumerate(body.variables))
        )
        self._names = [variable.name for variable in body.variables]
        self.rule = _with_iterations(self.body)
        # of the atom that reads what moves: columns and codes
        self._constants: tuple[tuple[int, int], ...] | None = None
        self._planned: dict[int, _Planned] = {}
        self.ranked: set[tuple[str, Order]] = set()
        """Key orders of relations with ranks, by their own names, that its plans read, but for the
        order in which ranks are made.
        """

    @property
    def sign(self) -> int:
        """+1 when a row won wins proofs, −1 when it loses them: `bound` are the bound columns of a
        negated atom.
        """
        return 1 if self.bound is None else -1

    def run(
        self,
        readings: Mapping[str, RelationVersion],
        context: Context,
        found: np.ndarray | None = None,
    ) -> Proofs:
        """All proofs over these relations; those with a moved row as it was count as lost. `found`:
        the outputs of its plan, where these are at hand.
        """
        if found is None:
            found = self._found(readings, context)
        iterations = np.empty(found.shape[1], np.int64)
        tell_iterations(found, self.values, iterations)
        rows = [found[pick] for pick in self.picks] or [np.zeros(len(iterations), np.int64)]
        return Proofs(rows, iterations, found[-1])

    def run_in_parts(
        self, readings: Mapping[str, RelationVersion], context: Context
    ) -> Iterator[Proofs]:
        """The same, some million proofs at a time, where nobody needs all of them at once."""
        pieces, count = list[np.ndarray](), 0
        for piece in self.prepared(readings, context).pieces(readings, context):
            pieces.append(piece.copy())
            count += piece.shape[1]
            if count >= _PART:
                yield self.run(readings, context, np.concatenate(pieces, axis=1))
                pieces, count = [], 0
        if pieces:
            yield self.run(readings, context, np.concatenate(pieces, axis=1))

    def _found(self, readings: Mapping[str, RelationVersion], context: Context) -> np.ndarray:
        """The outputs of its plan over these relations."""
        return self.prepared(readings, context).rows(readings, context)

    @cached_property
    def moves(self) -> tuple[Order, list[MovedQuery]] | None:
        """The queries of moves of the relation, of which the rule only compares values that are not
        in these columns; None where it reads them otherwise.
        """
        found = None if self.bound is not None else moved_rules(self.body, self.body.group)
        if found is None:
            return None
        fixed, moved = found
        return fixed, [MovedQuery(each, self.relation) for each in moved]

    def may_match(self, change: TransientRelation, context: Context) -> bool:
        """Test for a row of `change`, which an atom reads, with that atom's constants: rules often
        read or make rows of one kind.
        """
        if self._constants is None:
            self._constants = self._constants_of(change.schema.name, context)
        return change.holds(self._constants)

    def _constants_of(self, relation: str, context: Context) -> tuple[tuple[int, int], ...]:
        """The columns of the atom that reads this relation which are constants, or variables that
        are set to one, with the codes.
        """
        atom = next(atom for atom in self.body.atoms if atom.relation == relation)
        return tuple(
            (column, encode_constant(value.type, value.value, context.resources.dictionary))
            for column, value in self.body.constants(atom)
        )

    def key_orders(self) -> list[tuple[str, Order]]:
        """Key orders that the plans made so far read."""
        return [
            read
            for planned in self._planned.values()
            for read in planned.prepared.plan.key_orders()
        ]

    def prepared(self, readings: Mapping[str, RelationVersion], context: Context) -> PreparedPlan:
        """A plan for relations of about these sizes; one is kept for each size of the smallest,
        which is mostly the change.
        """
        sizes = tuple([readings[atom.relation].count for atom in self.rule.atoms])
        bits = min(sizes, default=0).bit_length() - _QUERY_STALE_BITS
        magnitude = max(0, bits + _QUERY_STALE - 1) // _QUERY_STALE
        planned = self._planned.get(magnitude) or self._for_more(magnitude, sizes, _QUERY_BINDINGS)
        if planned is None or any(
            _differ(*pair) for pair in zip(sizes, planned.sizes, strict=True)
        ):
            context.budget.extend(-PLAN)
            names, cost = self._order(readings, context)
            iterations = range(len(self.body.variables), len(self.rule.variables))
            needed = (*self._head, *iterations)
            forced = tuple(self._with_their_iterations(names))
            plan = make_plan(
                self.rule, needed, readings, context.statistics, count=True, forced=forced
            )
            ranked = _ranked(plan)
            self.ranked.update((name.name, order) for name, order in ranked)
            _charge_orders(ranked, readings, context)
            self._planned[magnitude] = planned = _Planned(
                PreparedPlan(plan, readings, context, room=_ROOM), sizes, cost, ranked
            )
        elif planned.ranked:
            _charge_orders(planned.ranked, readings, context)
        return planned.prepared

    def _for_more(self, magnitude: int, sizes: tuple[int, ...], little: float) -> _Planned | None:
        """A plan for more rows of the smallest relation serves for these where it begins with their
        values, or takes no more than `little` anyway.
        """
        planned = self._planned.get(magnitude + 1)
        if planned is None:
            return None
        fewest = sizes.index(min(sizes))
        read = {
            value.variable
            for atom in self.rule.atoms
            for value in atom.args
            if isinstance(value, Ref)
        }
        order = planned.prepared.plan.choice.order
        first = next((Ref(variable) for variable in order if variable in read), None)
        if first not in self.rule.atoms[fewest].args and planned.cost > little:
            return None
        known = (*planned.sizes[:fewest], sizes[fewest], *planned.sizes[fewest + 1 :])
        self._planned[magnitude] = found = planned._replace(sizes=known)
        return found

    def _order(
        self, readings: Mapping[str, RelationVersion], context: Context
    ) -> tuple[tuple[str, ...], float]:
        """The variable order, by name, of all but the iterations, and what it is
        expected to cost.
        """
        if forced := context.forced.orders.get(self.body.source):
            return tuple(
                self.body.variables[self._names.index(name)].name
                for name in forced
                if name in self._names
            ), 0.0

        def orders(relation: str) -> list[Order]:
            known = readings[relation].orders()
            return (
                [order[:-1] for order in known if order[-1] == len(order) - 1]
                if is_iterated(relation)
                else list(known)
            )

        leading = frozenset(self._head)
        search = OrderSearch(
            self.body,
            lambda name: context.statistics.of(readings[name]),
            orders,
            leading,
            _RANKED_ORDER,
            tuning=context.tuning,
        )
        choice = self._choice(search)
        return tuple(self.body.variables[variable].name for variable in choice.order), choice.cost

    def _choice(self, search: OrderSearch) -> Choice:
        return search.choose()

    def _with_their_iterations(self, names: Sequence[str]) -> Iterator[str]:
        """A variable order of the body and the iterations: behind, but for those that are known
        where one atom alone is left to read.

        Anywhere else a level in between would make a range depend on it that does not.
        """
        # an order that is given may be partial
        names = [
            *names,
            *(variable.name for variable in self.body.variables if variable.name not in names),
        ]
        place = {name: number for number, name in enumerate(names)}
        waiting: dict[str, int] = {}  # by iteration, where the last variable of its row stands
        ends: list[int] = []  # of every atom the same
        for atom in self.rule.atoms:
            row = [
                self.rule.variables[arg.variable].name for arg in atom.args if isinstance(arg, Ref)
            ]
            ends.append(max((place[name] for name in row if name in place), default=-1))
            if is_iterated(atom.relation):
                waiting[row[-1]] = ends[-1]
        for number, name in enumerate(names):
            yield name
            if sum(end > number for end in ends) <= 1:
                for iteration in [iteration for iteration, end in waiting.items() if end <= number]:
                    del waiting[iteration]
                    yield iteration


class MovedQuery(ElasticQuery):
    """A query of rows that others take the place of: what lies between their values."""

    def __init__(self, moved: MovedRule, relation: str):
        super().__init__(moved.rule, relation)
        self._moved = moved
        self._head = (*self._head, len(self.body.variables) - 1)  # the sign of the move
        self.values += 1

    def _found(self, readings: Mapping[str, RelationVersion], context: Context) -> np.ndarray:
        found = super()._found(readings, context)
        found[-1] *= found[self.values - 1]
        return found

    def _choice(self, search: OrderSearch) -> Choice:
        choice = search.choose_behind(self._moved.first, *self._moved.bounded)
        assert choice is not None, "moves are known before all else"
        return choice


def _with_iterations(body: NormalRule) -> NormalRule:
    """The body with a variable of its own for the iteration of each atom of the stratum."""
    variables = list(body.variables)
    atoms: list[PositiveAtom] = []
    for atom in body.atoms:
        if is_iterated(atom.relation):
            args = atom.args or (Value(0, INT),)
            atom = PositiveAtom(atom.relation, (*args, Ref(len(variables))))
            variables.append(RuleVariable(f"i{len(variables)}", INT))
        atoms.append(atom)
    return replace(body, atoms=tuple(atoms), variables=tuple(variables))


def _ranked(plan: RulePlan) -> list[tuple[Source, Order]]:
    """The key orders of all rows with ranks that a plan reads, each once, whatever version of the
    relation it is read in; not the order in which ranks are made, nor those of rows that move.
    """
    found: dict[tuple[str, Order], tuple[Source, Order]] = {}
    for name, order in plan.key_orders():
        made = order == tuple(range(len(order)))
        if is_iterated(name) and name.role is not Role.MOVED and not made:
            found[name.name, order] = name, order
    return list(found.values())


def _charge_orders(
    orders: list[tuple[Source, Order]], readings: Mapping[str, RelationVersion], context: Context
) -> None:
    """Charge what it takes to make those of these key orders that are not there, before they are
    made.
    """
    for name, order in orders:
        relation = readings[name]
        if isinstance(relation, IteratedRelation) and (rows := relation.unordered(order)):
            context.budget.invest(ORDERED * rows)


def _differ(now: int, planned: int) -> bool:
    return (
        abs(now.bit_length() - planned.bit_length()) > _QUERY_STALE
        and max(now, planned).bit_length() > _QUERY_STALE_BITS
    )
