# SPDX-License-Identifier: Apache-2.0
"""Choosing a variable order by estimated cost.

The cost of an order is the number of bindings tried at each level: for every binding of the levels
before, the values of the atom that has fewest there, times the atoms that take part. Independence
of columns is assumed, which is wrong in both directions for skewed data; the join stays worst-case
optimal for any order [LFTJ 4], so a bad estimate costs a factor, not an exponent, unless it puts a
selective atom last. Where samples tell that values have many rows in several atoms (`cardinality`),
an order that suffers much from it is not taken.

A variable that occurs once, in one atom, and that nobody asks for cannot restrict anything: such
ones come last. Up to `_PERMUTED_VARIABLES` others all orders are looked at, with pruning; up to
`_SEARCHED_VARIABLES`, the best order of every subset is built from those of smaller ones; beyond,
each next variable is the one that is cheapest now, beginning with each atom in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter

from lftj.join.plan.cardinality import RelationStatistics
from lftj.join.plan.index_upkeep import Upkeep
from lftj.join.plan.next_variables import NextVariables
from lftj.join.plan.order_costs import EVEN, NEW_ORDER, Begun, Crowds, OrderCosts
from lftj.join.plan.variable_orders import along, bits, lowest, once_bound, variables_of
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import frozen
from lftj.storage.relation import Order
from lftj.tuning import DEFAULT, Tuning

_NEVER = 1e9  # cost of a row of a key order that is not to be made
_by_bindings = attrgetter("bindings")
_by_cost = attrgetter("cost")
_DECISIVE_VARIABLES = 9
"""Variables beyond which one level that is taken for far too little decides an order."""
_HANDFUL_ROWS = 16
"""Rows up to which an atom may begin a greedy order although it has no constant."""
_DIVIDED_ORDER = 3.0
"""Times the cheapest order that one may cost which begins where the work is divided."""
_SKEWED_ORDER = 4.0
"""Times cheaper that another order must seem to samples before the first choice gives way."""
_INFORMED_ORDER_COST = 20_000
"""Cost of an order, in kernel steps, from which on samples are asked about it: asking makes a
choice some tens of times as long.
"""
_STARTING_ATOMS = 12
"""Atoms up to which a greedy order is begun with each of them."""
_PERMUTED_VARIABLES = 5
"""Variables up to which every order is looked at; beyond, subsets: exact against 2ⁿ steps."""
_SEARCHED_VARIABLES = 9
"""Variables up to which subsets are searched; beyond, a greedy choice takes n² steps."""


@frozen
class Choice:
    """A variable order, its estimated cost, and the estimated number of bindings after
    each level.
    """

    order: Order
    cost: float
    bindings: tuple[float, ...]


class OrderSearch:
    """The search for one rule.

    `key_orders(relation)` tells which key orders exist, to prefer them; `building` is what a row of
    another costs: less than NEW_ORDER for a plan that lasts, 0 where an existing one is preferred
    among equals only. With `upkeep`, what commits do for key orders counts too. `crowds`: where
    values come from rows drawn at random; elsewhere all values are taken to be alike. `counting`:
    whether all proofs are counted; a search for one ends before loose variables, if these come
    last. `keeping`: whether counts that are kept make an order cheaper (`counted_levels`). Only
    where the plan runs over the sizes it is made for: what is cheap with kept counts may go through
    all values of a level, whatever few rows a change has.
    """

    def __init__(
        self,
        rule: NormalRule,
        statistics: Callable[[str], RelationStatistics],
        key_orders: Callable[[str], Iterable[Order]],
        leading: frozenset[int],
        building: float = NEW_ORDER,
        upkeep: Upkeep | None = None,
        counting: bool = True,
        crowds: Crowds = EVEN,
        keeping: bool = False,
        tuning: Tuning = DEFAULT,
    ):
        self._tuning = tuning
        self.rule = rule
        self.leading = leading
        self.building = building
        self.upkeep = upkeep
        self._costs_with = partial(
            OrderCosts,
            rule,
            statistics,
            key_orders,
            leading,
            building,
            upkeep,
            crowds,
            keeping,
            tuning=tuning,
        )
        self.costs = self._costs_with()
        self._loose = self._restricting_nothing()
        self._every = tuple([v for v in range(len(rule.variables)) if v not in self._loose])
        self._searched = [v for v in self._every if v not in self.costs.computed_only]
        self._asked = len(self._searched)
        self.costs.many = self._asked > _DECISIVE_VARIABLES
        alone = len(rule.atoms) == 1 and building >= NEW_ORDER
        wide = counting and any(atom.arity > tuning.narrow_columns for atom in self.costs.atoms)
        self._along = bool(self._loose) and (alone or wide)

    def choose(self) -> Choice:
        """The cheapest order found; one that begins with the rule's `lead` unless another seems
        much cheaper.

        It is cheapest if all values have as many rows and comparisons leave half of them. What
        samples tell of that says nothing of which values occur together, so it counts only against
        an order that would cost many times as much by it as another.
        """
        found = self._on_what_is_there(self._chosen())
        if found.cost > _INFORMED_ORDER_COST:
            plain, self.costs = self.costs, self._costs_with(informed=True)
            self.costs.many = plain.many
            if (
                self.costs.tell
                and self._cost(found.order) > _SKEWED_ORDER * (careful := self._chosen()).cost
            ):
                return careful
            self.costs = plain
        return found

    def _on_what_is_there(self, found: Choice) -> Choice:
        """An order about as cheap for which no key order is missing, if there is one. Making one
        costs for certain, and memory for good; what a choice saves is estimated. Among many
        variables looking for one takes longer than that is worth.
        """
        tuning = self._tuning
        few = self._asked <= _PERMUTED_VARIABLES and found.cost > _INFORMED_ORDER_COST
        if not few or self.building < NEW_ORDER or not self._missing(found.order):
            return found
        plain = self.costs
        self.costs = plain.with_building(_NEVER)
        other = self._chosen()
        self.costs = plain
        cost, lead = self._cost(other.order), self.rule.lead
        if lead is not None and found.order[:1] == (lead,) != other.order[:1]:
            return found
        if self._missing(other.order) or cost > tuning.present_order * found.cost:
            return found
        return replace(other, cost=cost)

    def _missing(self, order: Order) -> float:
        """Cost of the key orders that are missing."""
        return self.costs.needed(order).missing

    def _chosen(self) -> Choice:
        """The cheapest order, or one that begins with the rule's `lead`, by the costs that are
        looked at.
        """
        best, lead = self._choose(()), None if self.building < NEW_ORDER else self.rule.lead
        if lead is None or best.order[:1] == (lead,) or lead in self._loose:
            return self._sharing(best)
        begun = self._choose((lead,))
        return begun if begun.cost <= _DIVIDED_ORDER * best.cost else best

    def choose_behind(self, first: Order, *following: int) -> Choice | None:
        """An order that begins with the variables of `first`, in the order in which they are
        cheapest, and then has `following`.

        None where something else has to be computed before one of these.
        """
        begun = (*[v for v in self._choose(()).order if v in first], *following)
        ready = all(
            self.costs.ready(variable, bits(begun[:place])) for place, variable in enumerate(begun)
        )
        return self._choose(begun) if ready else None

    def _choose(self, begun: Order) -> Choice:
        """The cheapest order that begins so."""
        start = self._longer(self.costs.begun(), begun)
        if self._asked > _SEARCHED_VARIABLES:
            return min(
                [self._complete(self._greedy(each)) for each in self._starts(start)], key=_by_cost
            )
        if self._asked > _PERMUTED_VARIABLES:
            return self._by_subsets(start, self._greedy(start))
        self._best: Choice | None = None
        self._search(start)
        assert self._best is not None, "safety has made sure that every variable can be bound"
        return self._best

    def _restricting_nothing(self) -> Order:
        """Variables that occur once, in one atom, and that nobody asks for; those of one atom
        together.
        """
        once = [
            v
            for v in range(self.costs.every)
            if v not in self.leading and self.costs.occurs_once(v)
        ]
        if not once:
            return ()
        tied = self.leading
        for assignment in self.rule.assignments:
            tied = tied.union(variables_of(assignment.expression), (assignment.variable,))
        for condition in self.rule.filters:
            tied = tied.union(variables_of(condition.left), variables_of(condition.right))
        return once_bound(self.rule, tied)

    def _sharing(self, best: Choice) -> Choice:
        """An order changed so that its atoms read key orders that commits bring forward anyway, as
        far as that is cheaper.

        The search has put loose variables last. Along an existing order they stand anywhere, and
        nothing is to be built: worth a look for a rule that reads one relation, which will follow
        changes without any order, and where rows are wide. Delta queries over narrow ones will want
        new orders anyway.
        """
        while self.upkeep is not None:
            needed = self.costs.needed(best.order)
            if not needed.upkeep and not (self._along and needed.missing):
                return best
            found = [
                along(best.order, atom.variables_along(known))
                for atom in self.costs.atoms
                for known in self.upkeep.kept(atom.relation)
            ]
            valid = [
                order
                for order in found
                if all(self.costs.ready(v, bits(order[:i])) for i, v in enumerate(order))
            ]
            shared = min(
                (self._finished(self._longer(self.costs.begun(), order)) for order in valid),
                key=lambda choice: choice.cost,
                default=best,
            )
            if shared.cost >= best.cost:
                return best
            best = shared
        return best

    # ── the searches ──────────────────────────────────────────────────────────────────────────────
    def _following(self, begun: Begun) -> list[int]:
        """The variables that are not bound and may come next. One that is only computed binds at
        once: later would try more.
        """
        if begun.ready:
            return [lowest(begun.ready)]
        return [v for v in self._searched if not begun.bound >> v & 1]

    def _search(self, begun: Begun) -> None:
        """Look at all orders that begin so, the likeliest first; of equally cheap ones the first as
        variables are numbered is best.
        """
        while len(following := self._following(begun)) == 1:
            begun = self.costs.longer(begun, following[0])
        if following:
            for longer in sorted(
                [self.costs.longer(begun, variable) for variable in following], key=_by_bindings
            ):
                if self._best is None or longer.cost <= self._best.cost:
                    self._search(longer)
        elif self._best is None or begun.cost <= self._best.cost:
            choice = self._complete(begun)
            if self._best is None or (choice.cost, choice.order) < (
                self._best.cost,
                self._best.order,
            ):
                self._best = choice

    def _complete(self, begun: Begun) -> Choice:
        """An order of all other variables with the loose ones behind it."""
        if self._loose:
            begun = self._longer(begun, self.costs.arranged(begun.order, self._loose))
        return self._finished(begun)

    def _longer(self, begun: Begun, behind: Order) -> Begun:
        for variable in behind:
            begun = self.costs.longer(begun, variable)
        return begun

    def _cost(self, order: Order) -> float:
        return self._finished(self._longer(self.costs.begun(), order)).cost

    def _finished(self, begun: Begun) -> Choice:
        return Choice(
            begun.order, self.costs.finished(begun.order, begun.cost, begun.sizes), begun.sizes
        )

    def _by_subsets(self, start: Begun, quick: Begun) -> Choice:
        """The best order of each subset, from the best ones of the subsets with a variable less;
        dearer ones than `quick` are dropped.
        """
        building = self.costs.building
        most = quick.cost + sum(
            building(quick.order[:end]) for end in range(len(start.order), len(quick.order) + 1)
        )
        best = {start.bound: start._replace(building=building(start.order))}
        for _ in range(len(self._every) - len(start.order)):
            longer: dict[int, Begun] = {}
            for begun in best.values():
                for variable in self._following(begun):
                    found = self.costs.longer(begun, variable)
                    if found.cost + found.building > most:
                        continue
                    found = found._replace(building=begun.building + building(found.order))
                    known = longer.get(found.bound)
                    if known is None or found.cost + found.building < known.cost + known.building:
                        longer[found.bound] = found
            best = longer
        return self._complete(best.get(bits(self._every), quick))

    def _starts(self, begun: Begun) -> list[Begun]:
        """Starts of the search: the cheapest, and, where nothing is bound yet and atoms are few,
        each atom in turn.
        """
        if begun.order or len(self.costs.atoms) > _STARTING_ATOMS:
            return [begun]
        ready = frozenset(self._following(begun))
        firsts = [
            min(own, key=self._fewest(begun))
            for atom in self.costs.atoms
            if (own := ready.intersection(atom.columns))
        ]
        return [begun, *[self.costs.longer(begun, variable) for variable in dict.fromkeys(firsts)]]

    def _fewest(self, begun: Begun) -> Callable[[int], tuple[float, int]]:
        """Key that finds the cheapest of the variables that may come next."""
        return lambda variable: (self.costs.level(begun.bound, variable).kept, variable)

    def _greedy(self, begun: Begun) -> Begun:
        """An order in which each next one is the one that is cheapest now, among those that share
        an atom with a constant or one before, or are in one of a handful of rows, as of a change.
        """
        order, beside = NextVariables(self.costs, self._searched, begun), self._beside()
        for atom in self.costs.atoms:
            if atom.constants or atom.statistics.rows <= _HANDFUL_ROWS:
                order.bring_near(begun, atom.columns)
        for variable in begun.order:
            order.bring_near(begun, beside[variable])
        while len(begun.order) < len(self._every):
            variable = lowest(begun.ready) if begun.ready else order.cheapest(begun)
            begun = self.costs.longer(begun, variable)
            order.bound(begun, variable)
            order.bring_near(begun, beside[variable])
        return begun

    def _beside(self) -> list[set[int]]:
        """Variables that share an atom with each variable."""
        found: list[set[int]] = [set() for _ in self.rule.variables]
        for atom in self.costs.atoms:
            for variable in atom.columns:
                found[variable].update(atom.columns)
        return found
