# SPDX-License-Identifier: Apache-2.0
"""The ladder of ways to find all satisfying assignments of a body, in the order in which they are
asked.

The rows of one relation are read as they lie; those of a large relation with partners that have
keys look these up; what is left is searched, and a search can find everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from lftj.join.access.star_join import StarEvaluation, UnfitError
from lftj.join.access.star_shape import Key, Star
from lftj.join.plan.order_costs import NEW_ORDER, making
from lftj.join.plan.plan import RulePlan
from lftj.join.run.body_query import BodyQuery, Found
from lftj.join.run.by_groups import pieces_of_groups
from lftj.join.run.evaluate import Relations, chunks, plan_matching
from lftj.join.run.least_values import least_plan, many_proofs
from lftj.join.strategy import Cost, Exhausted, Strategy, Why, first_of, walk
from lftj.storage.transient_relation import TransientRelation

_MOST = 1 << 30
"""Rows of a relation whose numbers, and those of the slots of a table of them, fit into half a
word.
"""
_LOOKED_UP = 0.4  # kernel steps, as a plan's cost counts them, in the time of one look-up
_SEMIJOIN_STEPS = 8
"""Rows that a scan tests in the time of a kernel step of a search among as many, which waits for
memory: 3 to 5 nanoseconds against 30 to 40.
"""
_PROBED = 4.0  # kernel steps in the time in which a search asks once whether a row is there
_STAR_ATOMS = 16
"""Atoms up to which a body is looked at as a star of look-ups: planning takes the third power of
their number.
"""


class Access(Strategy[Found]):
    """A way to find assignments, for one query."""

    change: BodyQuery

    def explained(self) -> str:
        """Words for `ws.plan()`; empty where the plan's levels tell."""
        return ""

    def _looked_up(self, star: Star, relations: Relations) -> Found:
        """All that a star finds in these relations. Raises UnfitError where it cannot be looked
        up.
        """
        asked = self.change
        evaluation = StarEvaluation(
            star,
            asked.rule,
            asked.needed,
            relations,
            asked.context,
            count=asked.count,
            make=asked.make,
        )
        if asked.make is not None:
            return Found(gathered=evaluation.found())
        return Found(rows=evaluation.rows())


class LeastValues(Access):
    """A search that ends at the first row of each group."""

    name = "least values"
    gate = "next events asked"

    @cached_property
    def _plan(self) -> RulePlan | None:
        asked = self.change
        return least_plan(asked.rule, asked.relations, asked.context)

    def applies(self) -> bool:
        """Tell whether least values alone are asked for, and found among many more proofs."""
        asked, plan = self.change, self._plan if self.change.least else None
        return plan is not None and many_proofs(plan, asked.relations, asked.context)

    def run(self) -> Found:
        """The least value of each group."""
        assert self._plan is not None
        pieces = chunks(self._plan, self.change.relations, self.change.context)
        if self.change.make is not None:
            return Found(gathered=self.change.gathered(pieces))
        return Found(pieces=pieces)


class RowScan(Access):
    """The rows of the only relation as they lie: those that pass all tests, with what is computed
    of their values.
    """

    name = "row scan"
    gate = "late flights"

    @cached_property
    def _rows(self) -> Star | None:
        return Star.alone(self.change.rule)

    def applies(self) -> bool:
        """Tell whether nothing is joined, and no key order is there or worth making to search."""
        asked, star = self.change, self._rows
        if star is None:
            return False
        relation, context = asked.relations[star.facts.relation], asked.context
        if star.computed:
            searched = (1.0 + NEW_ORDER) * relation.count
            if asked.forced or searched < context.tuning.columns_start:
                return False
        elif not relation.count or not (asked.needed or star.facts.tests):
            return False
        return not star.facts.searched_for(relation, context.keep)

    def run(self) -> Found | Exhausted:
        """All that passes; given up where arithmetic fails, since a search tells for which."""
        asked, star = self.change, self._rows
        assert star is not None
        relation, context = asked.relations[star.facts.relation], asked.context
        if context.keep:
            # its rows are at hand now: after a workspace was opened, a sample would read all pages
            context.statistics.of(relation)
        try:
            return self._looked_up(star, asked.relations)
        except UnfitError:
            return Exhausted(Why.VALUES, self.state)

    def explained(self) -> str:
        """See `Access`."""
        assert self._rows is not None
        name, computed = self._rows.facts.relation, self._rows.computed
        if computed:
            return f"from nothing rows of {name} are read as they lie, and computed with"
        return f"from nothing it looks at all rows of {name} as they lie, and makes no key order"


class StarJoin(Access):
    """The rows of one large relation with their partners, looked up by their keys."""

    name = "star join"
    gate = "flights by region"

    @cached_property
    def _stars(self) -> list[Star]:
        """Stars that take less time than the plan, the best first."""
        asked = self.change
        rule, context = asked.rule, asked.context
        if asked.forced or not 2 <= len(rule.atoms) + len(rule.negated) <= _STAR_ATOMS:
            return []
        plan, relations = asked.planned
        sizes = [relations[name].count for name in rule.reads]
        if max(sizes, default=0) > _MOST:
            return []
        cost = plan.choice.cost + _PROBED * plan.probed - context.tuning.columns_start
        cost += self._orders_of_negated(plan, relations)
        cost += self._orders_of_transient(plan, relations)
        if _LOOKED_UP * sum(sizes) >= cost:
            return []
        found = Star.of(rule, asked.needed, relations, context.statistics)
        return [star for star in found if _LOOKED_UP * star.cost < cost]

    def _orders_of_negated(self, plan: RulePlan, relations: Relations) -> float:
        """Cost of making the key orders in which negated atoms are sought, which do not depend on
        the variable order.
        """
        sought = ((probe.relation, probe.order) for probe in plan.probes)
        missing = (each for each in sought if each[1] not in relations[each[0]].orders())
        return making(missing, relations, self.change.context.tuning)

    def _orders_of_transient(self, plan: RulePlan, relations: Relations) -> float:
        """Cost of making key orders of rows that have none and are read once: a look-up needs none.
        A plan takes them for granted.
        """
        read = ((atom.relation, atom.order) for atom in plan.atoms)
        made = (each for each in read if isinstance(relations[each[0]], TransientRelation))
        return making(made, relations, self.change.context.tuning)

    def applies(self) -> bool:
        """Tell whether each row finds at most one partner in every other atom."""
        return bool(self._stars)

    def forecast(self) -> Cost:
        """Rows that are looked at, as kernel steps."""
        return Cost(_LOOKED_UP * self._stars[0].cost)

    def run(self) -> Found | Exhausted:
        """All that finds its partners; given up where a key finds several rows after all, or
        arithmetic fails.
        """
        context, before = self.change.context, self.change.context.budget.work
        plan, relations = self.change.planned
        repeated: set[Key] = set()
        for star in self._stars:
            if any(lookup.takes and lookup.of in repeated for lookup in star.lookups):
                continue  # another look-up by this key was in vain
            try:
                found = self._looked_up(star, relations)
            except UnfitError as unfit:
                repeated.update(filter(None, [unfit.repeated]))
                continue
            context.resources.advisor.took(plan, context.budget.work - before)
            return found
        return Exhausted(Why.VALUES, self.state)

    def explained(self) -> str:
        """See `Access`."""
        star = self._stars[0]
        others = ", ".join(lookup.read.relation for lookup in star.lookups)
        read = f"from nothing rows of {star.facts.relation} are read as they lie"
        return f"{read}, and looked up in {others}"


class Search(Access):
    """The leapfrog triejoin, in the variable order that is expected to cost least."""

    name = "leapfrog triejoin"
    needed = True

    def run(self) -> Found:
        """All assignments, as the search comes to them."""
        asked = self.change
        plan, relations = asked.planned
        if relations is asked.relations and (matching := self._matching(plan)) is not None:
            return satisfying(matching)
        if asked.width is not None and asked.make is None:
            return Found(pieces=pieces_of_groups(asked, plan, relations, asked.width))
        pieces = chunks(plan, relations, asked.context, compact=asked.compact)
        if asked.make is not None:
            return Found(gathered=asked.gathered(pieces))
        return Found(pieces=pieces)

    def _matching(self, plan: RulePlan) -> BodyQuery | None:
        """The same over the rows of a wide relation that may match, where that takes less than what
        the steps of a search wait for memory.
        """
        asked, tuning = self.change, self.change.context.tuning
        planned = plan_matching(
            asked.rule,
            asked.relations,
            asked.context,
            needed=asked.needed,
            count=asked.count,
            cost=_SEMIJOIN_STEPS * (plan.choice.cost - tuning.columns_start),
        )
        if planned is None:
            return None
        query = replace(asked)
        query.planned = planned
        return query


ACCESSES: Sequence[type[Access]] = (LeastValues, RowScan, StarJoin, Search)
"""Ways to find all satisfying assignments of a body."""


def satisfying(query: BodyQuery) -> Found:
    """All satisfying assignments that a query asks for. Raises what evaluation raises."""
    context = query.context
    found = walk(ACCESSES, query, None, context.budget, context.tuning.without)
    assert not isinstance(found, Exhausted), "the last strategy does not give up"
    return found[1]


def asked_first(query: BodyQuery) -> Access:
    """The way that would be tried first."""
    found = first_of(ACCESSES, query, None, query.context.tuning.without)
    assert found is not None, "the last strategy applies to everything"
    return found
