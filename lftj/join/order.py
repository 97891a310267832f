"""Choosing a variable order by estimated cost.

The cost of an order is the number of bindings tried at each level: for every binding of the levels before, the values of the atom that
has fewest there, times the atoms that take part. Independence of columns is assumed, which is wrong in both directions for skewed data;
the join stays worst-case optimal for any order [LFTJ 4], so a bad estimate costs a factor, not an exponent, unless it puts a selective
atom last.

A variable that occurs once, in one atom, and that nobody asks for cannot restrict anything: such ones come last. Up to PERMUTED others
all orders are looked at, with pruning; up to SEARCHED, the best order of every subset is built from those of smaller ones; beyond, each
next variable is the one that is cheapest now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lftj.join.atom_statistics import AtomStatistics
from lftj.join.statistics import RelationStatistics
from lftj.join.upkeep import Upkeep
from lftj.join.variable_orders import Begun, along, once_bound, variables_of
from lftj.program.normal_form import NormalRule
from lftj.storage.relation import Order

PERMUTED = 5
SEARCHED = 9
NEW_ORDER = 4.0
"""Cost per row of a key order that has to be built first."""
KEPT_ORDER = NEW_ORDER / 1000
"""The same where what is built serves many runs, but takes memory and has to be brought forward at each change."""
_FILTER = 0.5  # share of bindings that a comparison is taken to keep
_ONE_MORE_ORDER = 0.1  # cost of a further key order as such: each commit has to bring it forward
_DIVIDED = 3.0  # how many times cheaper an order must seem that does not begin where the work is divided
_UNSORTED_HEAD = 1.3  # factor on the last level's bindings when the head's variables do not come first


@dataclass(frozen=True)
class Choice:
    """A variable order, its estimated cost, and the estimated number of bindings after each level."""

    order: Order
    cost: float
    bindings: tuple[float, ...]


class OrderSearch:
    """The search for one rule.

    `key_orders(relation)` tells which key orders exist, to prefer them; `building` is what a row of another costs: less than NEW_ORDER for
    a plan that lasts, 0 where an existing one is preferred among equals only. With `upkeep`, what commits do for key orders counts too.
    """

    def __init__(
        self,
        rule: NormalRule,
        statistics: Callable[[str], RelationStatistics],
        key_orders: Callable[[str], Iterable[Order]],
        leading: frozenset[int],
        building: float = NEW_ORDER,
        upkeep: Upkeep | None = None,
    ):
        self.rule = rule
        self.leading = leading
        self.building = building
        self.upkeep = upkeep
        self.atoms = [AtomStatistics.of(a.relation, a.args, statistics(a.relation), key_orders(a.relation)) for a in rule.atoms]
        self._fanouts: dict[tuple[int, int, frozenset[int]], float] = {}
        self.inputs: dict[int, list[set[int]]] = {}
        for assignment in rule.assignments:
            self.inputs.setdefault(assignment.variable, []).append(variables_of(assignment.expression))
        in_atoms = {variable for atom in self.atoms for variable in atom.columns}
        self.computed_only = frozenset(range(len(rule.variables))) - in_atoms
        self.filters = [variables_of(f.left) | variables_of(f.right) for f in rule.filters]
        self.domain = {
            v: max((max(atom.statistics.distinct[c] for c in atom.columns[v]) for atom in self.atoms if v in atom.columns), default=1.0)
            for v in in_atoms
        }

    def choose(self) -> Choice:
        """The cheapest order found; one that begins with the rule's `lead` unless another seems much cheaper."""
        best, lead = self._choose(()), None if self.building < NEW_ORDER else self.rule.lead
        if lead is None or best.order[:1] == (lead,) or lead in self._loose():
            return self._sharing(best)
        begun = self._choose((lead,))
        return begun if begun.cost <= _DIVIDED * best.cost else best

    def _choose(self, begun: Order) -> Choice:
        """The cheapest order that begins so."""
        loose = self._loose()
        every = frozenset(range(len(self.rule.variables))) - frozenset(loose)
        asked = len(every - self.computed_only)
        start = Begun()
        for variable in begun:
            start = self._longer(start, variable)
        if asked > SEARCHED:
            return self._greedy(start, every, loose)
        if asked > PERMUTED:
            return self._by_subsets(start, every, loose)
        self._best: Choice | None = None
        self._search(start, every.difference(begun), loose)
        assert self._best is not None, "safety has made sure that every variable can be bound"
        return self._best

    def _loose(self) -> Order:
        """Variables that occur once, in one atom, and that nobody asks for; those of one atom together."""
        computed = self.computed_only.union(*(needed.union([v]) for v, inputs in self.inputs.items() for needed in inputs))
        return once_bound(self.rule, self.leading.union(computed, *self.filters))

    def _sharing(self, best: Choice) -> Choice:
        """An order changed so that its atoms read key orders that commits bring forward anyway, as far as that is cheaper."""
        while self.upkeep is not None and self._upkeep_of(best.order):
            found = [along(best.order, atom.variables_along(known)) for atom in self.atoms for known in self.upkeep.kept(atom.relation)]
            valid = [order for order in found if all(self._ready(v, frozenset(order[:i])) for i, v in enumerate(order))]
            shared = min((self._continued(Begun(), order) for order in valid), key=lambda choice: choice.cost, default=best)
            if shared.cost >= best.cost:
                return best
            best = shared
        return best

    # ── one step ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def _ready(self, variable: int, bound: frozenset[int]) -> bool:
        return variable not in self.computed_only or any(inputs <= bound for inputs in self.inputs.get(variable, []))

    def _step(self, bound: frozenset[int], bindings: float, variable: int) -> tuple[float, float]:
        """(bindings tried, bindings kept) at the level of `variable`."""
        fanouts = [self._fanout(atom, bound, variable) for atom in self.atoms if variable in atom.columns]
        computed = any(inputs <= bound for inputs in self.inputs.get(variable, []))
        if computed or not fanouts:
            selectivity = 1.0
            for fanout in fanouts:
                selectivity *= min(1.0, fanout / max(self.domain[variable], 1.0))
            return bindings * (1 + len(fanouts)), bindings * selectivity
        fanouts.sort()
        kept = fanouts[0]
        for fanout in fanouts[1:]:
            kept *= min(1.0, fanout / max(self.domain[variable], 1.0))
        tried = bindings * fanouts[0] * len(fanouts)
        after = bound | {variable}
        for needed in self.filters:
            if variable in needed and needed <= after:
                kept *= _FILTER
        return tried, bindings * kept

    def _fanout(self, atom: AtomStatistics, bound: frozenset[int], variable: int) -> float:
        """Values of a variable for each binding of an atom's variables among those bound."""
        asked = (id(atom), variable, bound.intersection(atom.columns))  # many orders ask for the same
        if asked not in self._fanouts:
            fixed = atom.constants.union(*(atom.columns[v] for v in asked[2]))
            before = atom.statistics.combinations(fixed)
            after = atom.statistics.combinations(fixed | atom.columns[variable])
            self._fanouts[asked] = after / max(before, 1.0) if atom.statistics.rows else 0.0
        return self._fanouts[asked]

    def _finish(self, order: Order, cost: float, bindings: tuple[float, ...]) -> float:
        """The cost with what an order brings beyond its levels: new key orders, and a head that has to be sorted."""
        place = {variable: i for i, variable in enumerate(order)}
        for atom in self.atoms:
            if atom.key_order(place) not in atom.key_orders:
                cost += self.building * atom.statistics.rows + _ONE_MORE_ORDER
        cost += self._upkeep_of(order)
        if self.leading and frozenset(order[: len(self.leading)]) != self.leading and bindings:
            cost += (_UNSORTED_HEAD - 1) * bindings[-1]
        return cost

    def _upkeep_of(self, order: Order) -> float:
        """What commits will do for the key orders that a variable order needs."""
        place, upkeep = {variable: i for i, variable in enumerate(order)}, self.upkeep
        needed = ((a.relation, a.key_order(place)) for a in self.atoms)
        return sum(upkeep.price(*one) for one in needed) if upkeep is not None else 0.0

    # ── the two searches ──────────────────────────────────────────────────────────────────────────────────────────────
    def _longer(self, begun: Begun, variable: int) -> Begun:
        tried, kept = self._step(frozenset(begun.order), begun.bindings, variable)
        return Begun((*begun.order, variable), kept, begun.cost + tried, (*begun.sizes, kept), begun.building)

    def _following(self, bound: frozenset[int], left: frozenset[int]) -> list[int]:
        """Which of the variables left may come next. One that is only computed binds at once: later would try more."""
        ready = [v for v in sorted(left) if self._ready(v, bound)]
        return [v for v in ready if v in self.computed_only][:1] or ready

    def _search(self, begun: Begun, left: frozenset[int], loose: Order) -> None:
        if self._best is not None and begun.cost >= self._best.cost:
            return
        if not left:
            choice = self._complete(begun, loose)
            if self._best is None or choice.cost < self._best.cost:
                self._best = choice
            return
        for variable in self._following(frozenset(begun.order), left):
            self._search(self._longer(begun, variable), left - {variable}, loose)

    def _complete(self, begun: Begun, loose: Order) -> Choice:
        """An order of all other variables with the loose ones behind it."""
        return self._continued(begun, self._arranged(begun.order, loose))

    def _continued(self, begun: Begun, behind: Order) -> Choice:
        for variable in behind:
            begun = self._longer(begun, variable)
        return Choice(begun.order, self._finish(begun.order, begun.cost, begun.sizes), begun.sizes)

    def _arranged(self, order: Order, loose: Order) -> Order:
        """The loose variables of each atom in the order in which an existing key order has them, where one begins as the atom needs.

        Any order of them serves, and one tree may so serve rules that look up different prefixes [Subotić 2018].
        """
        place = {variable: i for i, variable in enumerate((*order, *loose))}
        for atom in self.atoms:
            free = {column: v for v, its in atom.columns.items() for column in its if v in loose}
            if len(free) < 2:
                continue
            needed = atom.key_order(place)
            prefix = needed[: atom.arity - len(free)]
            fitting = next((known for known in atom.key_orders if known[: len(prefix)] == prefix), needed)
            taken = iter(sorted(place[v] for v in free.values()))
            for column in fitting[len(prefix) :]:
                place[free[column]] = next(taken)
        return tuple(sorted(loose, key=place.__getitem__))

    def _by_subsets(self, start: Begun, every: frozenset[int], loose: Order) -> Choice:
        """The best order of each subset, from the best ones of the subsets with a variable less."""
        best = {frozenset(start.order): start._replace(building=self._building(start.order))}
        for _ in range(len(every) - len(start.order)):
            longer: dict[frozenset[int], Begun] = {}
            for bound, begun in best.items():
                for variable in self._following(bound, every - bound):
                    found = self._longer(begun, variable)
                    found = found._replace(building=begun.building + self._building(found.order))
                    known = longer.get(bound | {variable})
                    if known is None or found.cost + found.building < known.cost + known.building:
                        longer[bound | {variable}] = found
            best = longer
        return self._complete(best[every], loose)

    def _building(self, order: Order) -> float:
        """What the key orders cost that the last variable of an order makes it necessary to build."""
        unfit = [atom for atom in self.atoms if {*order[-1:]} & atom.columns.keys() and atom.fits(order[:-1]) and not atom.fits(order)]
        return sum(self.building * atom.statistics.rows + _ONE_MORE_ORDER for atom in unfit)

    def _greedy(self, begun: Begun, every: frozenset[int], loose: Order) -> Choice:
        while len(begun.order) < len(every):
            bound = frozenset(begun.order)
            ready = self._following(bound, every - bound)
            connected = [v for v in ready if self._connected(v, bound)]
            begun = self._longer(begun, min(connected or ready, key=lambda v: (self._step(bound, begun.bindings, v)[1], v)))
        return self._complete(begun, loose)

    def _connected(self, variable: int, bound: frozenset[int]) -> bool:
        return any(variable in atom.columns and (atom.constants or not bound.isdisjoint(atom.columns)) for atom in self.atoms)
