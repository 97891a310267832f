"""Choosing a variable order by estimated cost.

The cost of an order is the number of bindings tried at each level: for every binding of the levels before, the values of the atom that has fewest there,
times the atoms that take part. Independence of columns is assumed, which is wrong in both directions for skewed data; the join stays worst-case
optimal for any order [LFTJ 4], so a bad estimate costs a factor, not an exponent, unless it puts a selective atom last. Up to SEARCHED variables
all orders are looked at, with pruning; beyond, each next variable is the one that is cheapest now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lftj.join.statistics import RelationStatistics
from lftj.program.normal_form import Apply, Expression, NormalRule, Ref, Value

SEARCHED = 6
_FILTER = 0.5  # share of bindings that a comparison is taken to keep
_NEW_ORDER = 4.0  # cost per row of a key order that has to be built first
_UNSORTED_HEAD = 1.3  # factor on the last level's bindings when the head's variables do not come first

Order = tuple[int, ...]


def variables_of(expression: Expression) -> set[int]:
    """The variables an expression reads."""
    if isinstance(expression, Ref):
        return {expression.variable}
    if isinstance(expression, Apply):
        return set().union(*(variables_of(argument) for argument in expression.args))
    return set()


@dataclass(frozen=True)
class Choice:
    """A variable order, its estimated cost, and the estimated number of bindings after each level."""

    order: Order
    cost: float
    bindings: tuple[float, ...]


@dataclass(frozen=True)
class _Atom:
    relation: str
    statistics: RelationStatistics
    columns: dict[int, frozenset[int]]  # variable → its columns
    constants: frozenset[int]
    arity: int


class OrderSearch:
    """The search for one rule. `key_orders(relation)` tells which key orders exist, to prefer them."""

    def __init__(
        self,
        rule: NormalRule,
        statistics: Callable[[str], RelationStatistics],
        key_orders: Callable[[str], Iterable[Order]],
        leading: frozenset[int],
    ):
        self.rule = rule
        self.leading = leading
        self.key_orders = key_orders
        self.atoms = [_describe(atom.relation, atom.args, statistics(atom.relation)) for atom in rule.atoms]
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
        """The cheapest order found."""
        every = frozenset(range(len(self.rule.variables)))
        free = [v for v in every if v not in self.computed_only]
        if len(free) > SEARCHED:
            return self._greedy(every)
        self._best: Choice | None = None
        self._search((), 1.0, 0.0, (), every)
        assert self._best is not None, "safety has made sure that every variable can be bound"
        return self._best

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

    @staticmethod
    def _fanout(atom: _Atom, bound: frozenset[int], variable: int) -> float:
        fixed = atom.constants.union(*(atom.columns[v] for v in atom.columns if v in bound))
        before = atom.statistics.combinations(fixed)
        return atom.statistics.combinations(fixed | atom.columns[variable]) / max(before, 1.0) if atom.statistics.rows else 0.0

    def _finish(self, order: Order, cost: float, bindings: tuple[float, ...]) -> float:
        """The cost with what an order brings beyond its levels: new key orders, and a head that has to be sorted."""
        place = {variable: i for i, variable in enumerate(order)}
        for atom in self.atoms:
            needed = key_order(atom.arity, atom.constants, atom.columns, place)
            if needed not in set(self.key_orders(atom.relation)):
                cost += _NEW_ORDER * atom.statistics.rows
        if self.leading and frozenset(order[: len(self.leading)]) != self.leading and bindings:
            cost += (_UNSORTED_HEAD - 1) * bindings[-1]
        return cost

    # ── the two searches ──────────────────────────────────────────────────────────────────────────────────────────────
    def _search(self, order: Order, bindings: float, cost: float, sizes: tuple[float, ...], left: frozenset[int]) -> None:
        if self._best is not None and cost >= self._best.cost:
            return
        if not left:
            total = self._finish(order, cost, sizes)
            if self._best is None or total < self._best.cost:
                self._best = Choice(order, total, sizes)
            return
        bound = frozenset(order)
        # a variable that is only computed binds at once: later would try more
        ready = [v for v in sorted(left) if v in self.computed_only and self._ready(v, bound)][:1]
        for variable in ready or [v for v in sorted(left) if self._ready(v, bound)]:
            tried, kept = self._step(bound, bindings, variable)
            self._search((*order, variable), kept, cost + tried, (*sizes, kept), left - {variable})

    def _greedy(self, every: frozenset[int]) -> Choice:
        order: Order = ()
        bindings, cost, sizes = 1.0, 0.0, ()
        while len(order) < len(every):
            bound = frozenset(order)
            ready = [v for v in sorted(every - bound) if self._ready(v, bound)]
            computed = [v for v in ready if v in self.computed_only]
            connected = [v for v in ready if self._connected(v, bound)]
            variable = min(computed[:1] or connected or ready, key=lambda v: (self._step(bound, bindings, v)[1], v))
            tried, bindings = self._step(bound, bindings, variable)
            order, cost, sizes = (*order, variable), cost + tried, (*sizes, bindings)
        return Choice(order, self._finish(order, cost, sizes), sizes)

    def _connected(self, variable: int, bound: frozenset[int]) -> bool:
        return any(variable in atom.columns and (atom.constants or not bound.isdisjoint(atom.columns)) for atom in self.atoms)


def _describe(relation: str, args: tuple[Ref | Value, ...], statistics: RelationStatistics) -> _Atom:
    columns: dict[int, frozenset[int]] = {}
    for column, argument in enumerate(args):
        if isinstance(argument, Ref):
            columns[argument.variable] = columns.get(argument.variable, frozenset()) | {column}
    constants = frozenset(column for column, argument in enumerate(args) if isinstance(argument, Value))
    return _Atom(relation, statistics, columns, constants, len(args))


def key_order(arity: int, constants: frozenset[int], columns: dict[int, frozenset[int]], place: dict[int, int]) -> Order:
    """The key order an atom needs under a variable order: constants first, then by the place of each column's variable."""
    variable = {column: v for v, its in columns.items() for column in its}
    return tuple(sorted(range(arity), key=lambda c: (-1, c) if c in constants else (place[variable[c]], c)))
