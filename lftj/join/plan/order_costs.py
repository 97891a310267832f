# SPDX-License-Identifier: Apache-2.0
"""Costs of the variable orders of one rule. They are asked for thousands of times in a search, so
each cost that depends on few variables is computed once.

Sets of variables are bits of an integer here. The cost of a level depends on the variables bound
before that share an atom, a comparison or an expression with its own; the key order that an atom
needs depends on the order of its own variables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import reduce
from math import inf, prod
from operator import or_
from types import MappingProxyType
from typing import NamedTuple

from lftj.join.plan.atom_statistics import NO_SKEW, AtomStatistics, Skew, skew_of
from lftj.join.plan.cardinality import RelationStatistics
from lftj.join.plan.comparison_bounds import ComparisonShares, nothing_known
from lftj.join.plan.index_upkeep import Upkeep
from lftj.join.plan.kept_keys import MOST_COUNTED, KeptKeys
from lftj.join.plan.variable_orders import bits, numbers, variables_of
from lftj.program.normal_form import NormalRule
from lftj.storage.relation import Order, RelationVersion
from lftj.syntax.attention import look
from lftj.tuning import DEFAULT, Tuning

_ONE_MORE_ORDER = 0.1  # cost of a further key order as such: each commit has to bring it forward
NEW_ORDER = 4.0
"""Cost per row of a key order that has to be built first."""
KEPT_ORDER = NEW_ORDER / 1000
"""The same where what is built serves many runs, but takes memory and has to be brought forward at
each change.
"""
_UNSORTED_HEAD = (
    1.3  # factor on the last level's bindings when the head's variables do not come first
)


_KEPT = 1.0  # kernel steps of a look-up of a kept count
_MOST = 1e300  # where estimates stop: ∞ · 0 has no value


Crowds = Mapping[tuple[int, int], float]
"""Crowds by the numbers of an atom and a variable: the number of its rows with the variable's
value, for rows drawn at random, such as those of a change: values that many rows have are drawn
more often.
"""
EVEN: Crowds = MappingProxyType({})
"""All values are taken to be alike."""
_CROWDED = 2.0
"""Times the mean from which on values of two atoms count as skewed; less may be chance."""


def making(
    orders: Iterable[tuple[str, Order]], relations: Mapping[str, RelationVersion], tuning: Tuning
) -> float:
    """Cost of making key orders, by the relations' names, each once; more for wide relations."""
    return sum(
        NEW_ORDER * max(1.0, len(order) / tuning.narrow_columns) * relations[name].count
        for name, order in set(orders)
    )


class Begun(NamedTuple):
    """The beginning of an order: the bindings at its end and after each level, and its cost,
    without that of `building` key orders.

    `bound`: its variables as bits; `ready`: those that are only computed and can be bound next.
    `searched`: the bindings at its end below which the next level is searched, not all of them
    where counts are kept.
    """

    order: Order = ()
    bindings: float = 1.0
    cost: float = 0.0
    sizes: tuple[float, ...] = ()
    building: float = 0.0
    bound: int = 0
    ready: int = 0
    searched: float = 1.0


class _Level(NamedTuple):
    """Per binding before a level: values of the atom that has fewest, between the bounds that
    comparisons set, how many atoms take part, and bindings kept.
    """

    fewest: float
    atoms: int
    kept: float


class _Needed(NamedTuple):
    """Costs of a key order that an atom needs: of making it, and of its upkeep at commits."""

    missing: float
    upkeep: float


class OrderCosts:
    """The costs for one rule; `OrderSearch` says what is given. `every`: the number of variables.

    `informed`: by what samples tell of values that many rows have, and of those that comparisons
    leave; else all values have as many rows, and all comparisons leave as many values. `keeping`:
    by counts of proofs that are kept.
    """

    def __init__(
        self,
        rule: NormalRule,
        statistics: Callable[[str], RelationStatistics],
        key_orders: Callable[[str], Iterable[Order]],
        leading: frozenset[int],
        building: float,
        upkeep: Upkeep | None,
        crowds: Crowds,
        keeping: bool,
        informed: bool = False,
        tuning: Tuning = DEFAULT,
    ):
        self._tuning = tuning
        self.atoms = [
            AtomStatistics.of(a.relation, a.args, statistics(a.relation), key_orders(a.relation))
            for a in rule.atoms
        ]
        self.every = len(rule.variables)
        self._at: list[list[int]] = [[] for _ in rule.variables]
        for number, atom in enumerate(self.atoms):
            for variable in atom.columns:
                self._at[variable].append(number)
        self.computed_only = frozenset([v for v, at in enumerate(self._at) if not at])
        self._comparisons = ComparisonShares(rule, self._spreads if informed else nothing_known)
        self.inputs: list[list[int]] = [[] for _ in rule.variables]
        for assignment in rule.assignments:
            self.inputs[assignment.variable].append(bits(variables_of(assignment.expression)))
        self._computed_from: list[list[int]] = [[] for _ in rule.variables]
        for variable in self.computed_only:
            for number in numbers(reduce(or_, self.inputs[variable], 0)):
                self._computed_from[number].append(variable)
        self._repeated = len({atom.relation for atom in self.atoms}) < len(self.atoms)
        self._leading, self._building, self._upkeep = leading, building, upkeep
        self._crowds = {
            (number, 1 << variable): rows for (number, variable), rows in crowds.items()
        }
        self._variables = [bits(atom.columns) for atom in self.atoms]
        self._agreeing = [atom for atom in self.atoms if atom.agreeing]
        self._skew: Skew = skew_of(self.atoms, self._at, _CROWDED) if informed else NO_SKEW
        self._skewed: dict[int, int] = {}  # by atom, the variables that make a difference to it
        for (number, _), drawn in self._skew.items():
            others = reduce(or_, [others for others, _ in drawn])
            self._skewed[number] = self._skewed.get(number, 0) | others
        self.many = False
        """True when not all orders are compared, because there are so many variables. Then one
        level that is estimated far too low decides, such as those of three columns with few and
        many values, which are taken to be independent.
        """
        self._looked_at = [self._looks_at(v) for v in range(self.every)]
        self._keys = (
            KeptKeys(rule, self._variables, bits(leading))
            if keeping and self.every <= MOST_COUNTED
            else None
        )
        self._levels: list[dict[int, _Level]] = [{} for _ in rule.variables]
        self._combined: list[dict[int, float]] = [{} for _ in self.atoms]
        self._needs: list[dict[Order, _Needed]] = [{} for _ in self.atoms]
        self._fitting: list[dict[Order, bool]] = [{} for _ in self.atoms]
        self._prices: dict[tuple[str, Order], float] = {}
        self._loose: dict[Order, list[tuple[int, list[int], Order]]] = {}
        self._arrangements: dict[tuple[int, Order, Order], Order] = {}

    def with_building(self, building: float) -> OrderCosts:
        """The same costs, but for this one of a row of a key order that has to be built."""
        found = copy(self)
        found._building = building
        found._needs = [{} for _ in self.atoms]
        return found

    @property
    def tell(self) -> bool:
        """True when samples show anything that may make costs many times as much, or as little."""
        return bool(self._skew) or self._comparisons.tell

    def occurs_once(self, variable: int) -> bool:
        """Test for a variable in one column of one atom."""
        at = self._at[variable]
        return len(at) == 1 and len(self.atoms[at[0]].columns[variable]) == 1

    def _spreads(self, variable: int) -> dict[int, Sequence[int]]:
        """Known values of a variable, by the numbers of atoms."""
        found = {number: self.atoms[number].spread(variable) for number in self._at[variable]}
        return {number: codes for number, codes in found.items() if codes}

    def _looks_at(self, variable: int) -> int:
        """The variables whose being bound makes a difference at the level of this one."""
        looked_at = self._comparisons.looks_at(variable)
        for number in self._at[variable]:
            looked_at |= self._variables[number]
            looked_at |= self._skewed.get(number, 0)
        for together in self.inputs[variable]:
            looked_at |= together
        return looked_at

    # ── levels ────────────────────────────────────────────────────────────────────────────────────
    def ready(self, variable: int, bound: int) -> bool:
        """Test for a variable that can be bound next."""
        return variable not in self.computed_only or any(
            needed & ~bound == 0 for needed in self.inputs[variable]
        )

    def longer(self, begun: Begun, variable: int) -> Begun:
        """An order with one more variable."""
        look()
        order, bindings, cost, sizes, building, bound, ready, searched = begun
        fewest, atoms, share = self.level(bound, variable)
        kept = min(share * bindings, _MOST)
        bound |= 1 << variable
        for other in self._computed_from[variable]:
            if self.ready(other, bound):
                ready |= 1 << other
        cost += searched * fewest * atoms
        searched *= share
        different = inf
        if self._keys is not None:
            different = self._keys.different(bound, len(order) + 1, self._kept)
        if different < searched:
            cost += searched * _KEPT  # each is looked up
            searched = different
        return Begun(
            (*order, variable),
            kept,
            min(cost, _MOST),
            (*sizes, kept),
            building,
            bound,
            ready & ~bound,
            min(searched, _MOST),
        )

    def _kept(self, bound: int, variable: int) -> float:
        """Values of a variable for each binding of those bound."""
        return self.level(bound, variable).kept

    def begun(self) -> Begun:
        """The order of no variables."""
        return Begun(ready=bits([v for v in self.computed_only if self.ready(v, 0)]))

    def looked_at(self, variable: int) -> int:
        """The variables whose being bound makes a difference at the level of this one, as bits."""
        return self._looked_at[variable]

    def level(self, bound: int, variable: int) -> _Level:
        """Cost of a variable's level behind the bound ones."""
        known, key = self._levels[variable], bound & self._looked_at[variable]
        if (found := known.get(key)) is None:
            found = known[key] = self._level(key, variable)
        return found

    def _level(self, bound: int, variable: int) -> _Level:
        at, inputs = self._at[variable], self.inputs[variable]
        fanouts = [self._fanout(number, bound, 1 << variable) for number in at]
        values = [max(1.0, self.atoms[number].values(variable)) for number in at]
        most = max(values, default=1.0)
        if not fanouts or (inputs and any(needed & ~bound == 0 for needed in inputs)):
            return _Level(
                1.0 + len(fanouts), 1, prod([min(1.0, fanout / most) for fanout in fanouts])
            )
        if (
            self.many
        ):  # the values of a column with few are among those of one with more [Selinger 1979]
            kept = min(values) * prod(
                [min(1.0, fanout / of) for fanout, of in zip(fanouts, values, strict=True)]
            )
        else:
            kept = most * prod([min(1.0, fanout / most) for fanout in fanouts])
        passing = self._comparisons.of(bound, variable)
        looked_at = fanouts
        if self._agreeing:
            looked_at = [
                self.atoms[number].looked_at(variable, bound)
                if variable in self.atoms[number].agreeing
                else fanout
                for number, fanout in zip(at, fanouts, strict=True)
            ]
        return _Level(min(looked_at) * passing.looked_at, len(fanouts), kept * passing.kept)

    def _fanout(self, number: int, bound: int, variable: int) -> float:
        """Values of a variable, as a bit, for each binding of an atom's variables among those
        bound.
        """
        atom = self.atoms[number]
        if not atom.rows:
            return 0.0
        everything, bound = bound, bound & self._variables[number]
        known = self._combined[number]
        before = known[bound] if bound in known else self._combinations(number, bound)
        crowd = self._crowds.get((number, bound))
        if self._skew and crowd is None:
            crowd = max(
                [
                    rows
                    for others, rows in self._skew.get((number, bound), ())
                    if others & everything
                ],
                default=None,
            )
        bound |= variable
        after = known[bound] if bound in known else self._combinations(number, bound)
        fanout = after / before if before > 1.0 else after
        if crowd is None:
            return fanout
        even = atom.rows / before  # rows that a value has where all have as many
        return (
            min(fanout * crowd / even, atom.values(variable.bit_length() - 1))
            if crowd > even
            else fanout
        )

    def _combinations(self, number: int, variables: int) -> float:
        """Distinct values of some of an atom's variables, as bits, in rows with its constants."""
        found = self._combined[number][variables] = self.atoms[number].combinations(variables)
        return found

    # ── whole orders ──────────────────────────────────────────────────────────────────────────────
    def finished(self, order: Order, cost: float, bindings: tuple[float, ...]) -> float:
        """The cost with what an order brings beyond its levels: new key orders, and a head that has
        to be sorted.
        """
        needed = self.needed(order)
        cost += needed.missing + needed.upkeep
        if self._leading and bindings and frozenset(order[: len(self._leading)]) != self._leading:
            cost += (_UNSORTED_HEAD - 1) * bindings[-1]
        return cost

    def needed(self, order: Order) -> _Needed:
        """Costs of the key orders that a variable order needs: of making those that do not exist,
        once for all atoms that read one, and of the upkeep of all.
        """
        missing = upkeep = 0.0
        made: set[tuple[str, Order]] = set()
        look(len(self.atoms))
        for number, atom in enumerate(self.atoms):
            needed = self._needed(number, order)
            upkeep += needed.upkeep
            if needed.missing and self._repeated:
                key_order = atom.relation, atom.key_order(order)
                if key_order in made:
                    continue
                made.add(key_order)
            missing += needed.missing
        return _Needed(missing, upkeep)

    def _needed(self, number: int, order: Order) -> _Needed:
        atom = self.atoms[number]
        needed = atom.key_order(order)
        if (found := self._needs[number].get(needed)) is None:
            missing = 0.0 if needed in atom.key_orders else self._made(atom)
            found = self._needs[number][needed] = _Needed(
                missing, self._price(atom.relation, needed)
            )
        return found

    def _price(self, relation: str, order: Order) -> float:
        if self._upkeep is None:
            return 0.0
        if (relation, order) not in self._prices:
            self._prices[relation, order] = self._upkeep.price(relation, order)
        return self._prices[relation, order]

    def building(self, order: Order) -> float:
        """Cost of the key orders that the last variable of an order makes it necessary to build,
        each once.
        """
        made: dict[tuple[str, Order], float] = {}
        for number in self._at[order[-1]] if order else ():
            if self._fits(number, order[:-1]) and not self._fits(number, order):
                atom = self.atoms[number]
                made[atom.relation, atom.key_order(order)] = self._made(atom)
        return sum(made.values())

    def _made(self, atom: AtomStatistics) -> float:
        """Cost of making another key order of a relation."""
        wide = (
            atom.arity > self._tuning.narrow_columns
        )  # not for nothing then, even to plans that make others for nothing
        building = (
            max(self._building, KEPT_ORDER) * atom.arity / max(1, self._tuning.narrow_columns)
            if wide
            else self._building
        )
        return building * atom.statistics.rows + _ONE_MORE_ORDER

    def _fits(self, number: int, order: Order) -> bool:
        atom = self.atoms[number]
        needed = atom.key_order(order)
        if (found := self._fitting[number].get(needed)) is None:
            found = self._fitting[number][needed] = atom.fits(order)
        return found

    def arranged(self, order: Order, loose: Order) -> Order:
        """The loose variables of each atom in the order in which an existing key order has them,
        where one begins as the atom needs.

        Any order of them serves, and one tree may so serve rules that look up different prefixes
        [Subotić 2018].
        """
        found = list(loose)
        for number, places, free in self._together(loose):
            own = tuple([v for v in order if v in self.atoms[number].columns])
            for place, v in zip(places, self._arrangement(number, own, free), strict=True):
                found[place] = v
        return tuple(found)

    def _together(self, loose: Order) -> list[tuple[int, list[int], Order]]:
        """The atoms with several of these variables: which they are, and where they stand."""
        if (found := self._loose.get(loose)) is None:
            standing = [
                [place for place, v in enumerate(loose) if v in atom.columns] for atom in self.atoms
            ]
            found = [
                (n, places, tuple(loose[place] for place in places))
                for n, places in enumerate(standing)
                if len(places) > 1
            ]
            self._loose[loose] = found
        return found

    def _arrangement(self, number: int, own: Order, free: Order) -> Order:
        """The free variables of an atom, each in one column, behind its `own` bound ones."""
        key = (number, own, free)
        if key not in self._arrangements:
            atom = self.atoms[number]
            needed = atom.key_order((*own, *free))
            prefix = needed[: atom.arity - len(free)]
            # rows that are packed offer an order of no columns
            fitting = next(
                (
                    known
                    for known in atom.key_orders
                    if len(known) >= atom.arity and known[: len(prefix)] == prefix
                ),
                needed,
            )
            variable = {column: v for v in free for column in atom.columns[v]}
            self._arrangements[key] = tuple(variable[column] for column in fitting[len(prefix) :])
        return self._arrangements[key]
