"""Forecast of an evaluation: the work that the planner expects, by kinds of which each has a price.

The planner compares orders by steps. What it leaves out is priced here: what steps wait for memory,
what an evaluation begins with, values that are passed inside page windows, rows that come out,
look-ups of negated atoms.
"""

from __future__ import annotations

from typing import NamedTuple

from bench.cost.prices import STEP, WORD, wait, waits
from lftj.join.plan import NEW_ORDER, RulePlan
from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.order_costs import EVEN, OrderCosts
from lftj.join.plan.variable_orders import bits, variables_of
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Relations
from lftj.join.run.ladder import Access, StarJoin
from lftj.program.normal_form import NormalRule, Ref


class Work(NamedTuple):
    """Amounts of work. `start`: 1; `steps`, each with the instructions of one; `windows`: values
    that are passed inside page windows; `rows` that come out; `probes` of negated atoms; `words`
    put into key orders that are made; `looked_up`: steps in the time of look-ups, as the ladder
    expects; rows that are `scanned`; `waits`: time spent waiting for memory, in steps.
    """

    start: float = 1.0
    steps: float = 0.0
    windows: float = 0.0
    rows: float = 0.0
    probes: float = 0.0
    words: float = 0.0
    looked_up: float = 0.0
    scanned: float = 0.0
    waits: float = 0.0

    @property
    def counted(self) -> float:
        """Kernel steps, as the kernel counts them."""
        return self.steps + self.windows + self.rows + self.probes

    def seconds(self, counted: float | None = None) -> float:
        """Time that it takes; with `counted` kernel steps, in place of those expected, of the same
        kinds.
        """
        times = 1.0 if counted is None or not self.counted else counted / self.counted
        once = PRICES.start * self.start + PRICES.words * self.words
        once += PRICES.looked_up * self.looked_up + PRICES.scanned * self.scanned
        each = sum(
            getattr(PRICES, kind) * getattr(self, kind)
            for kind in ("steps", "windows", "rows", "probes", "waits")
        )
        return 1e-9 * (once + times * each)


PRICES = Work(
    start=480_000.0,
    steps=STEP,
    windows=2.5,
    rows=1.0,
    probes=60.0,
    words=8.5,
    looked_up=22.0,
    scanned=4.0,
    waits=STEP,
)
"""Nanoseconds of one of each; `python -m bench cost --calibrate` measures them."""


def expected(query: BodyQuery, way: Access) -> Work:
    """The work of an evaluation, as expected before it runs."""
    if isinstance(way, StarJoin):
        return Work(looked_up=way.forecast().expected)
    if way.name == "row scan":
        return Work(scanned=query.relations[query.rule.atoms[0].relation].count)
    plan, reads = query.planned
    return _Search(plan, reads, frozenset(query.needed), query.context.statistics).work()


class _Search:
    """The work of one search."""

    def __init__(
        self, plan: RulePlan, reads: Relations, needed: frozenset[int], statistics: Statistics
    ):
        rule = plan.rule
        self._plan, self._reads = plan, reads
        self._leading, self._tested = bits(needed), _tested(rule)
        self._costs = OrderCosts(
            rule,
            lambda name: statistics.of(reads[name]),
            lambda name: reads[name].orders(),
            needed,
            NEW_ORDER,
            None,
            EVEN,
            plan.count,
            informed=True,
            tuning=statistics.tuning,
        )
        self._atoms = [bits(atom.columns) for atom in self._costs.atoms]
        self._repeated = bits([v for atom in self._costs.atoms for v in atom.agreeing])

    def work(self) -> Work:
        """Level by level, with the key orders that are made first."""
        missing = {
            (name, order)
            for name, order in self._plan.key_orders()
            if order not in self._reads[name].orders()
        }
        words = sum(self._reads[name].count * len(order) for name, order in missing)
        steps = windows = rows = probes = waits = 0.0
        begun, every = self._costs.begun(), bits(range(len(self._plan.rule.variables)))
        counted = False
        for variable in self._plan.choice.order:
            rest, before = every & ~begun.bound, begun.searched
            asked = rest & self._leading
            level = self._costs.level(begun.bound, variable)
            waited = sum(
                self._waits(n, begun.bound, variable, level.fewest) for n in range(len(self._atoms))
            )
            at = [number for number, its in enumerate(self._atoms) if its >> variable & 1]
            again = sum(len(self._costs.atoms[n].columns[variable]) - 1 for n in at)
            plain = not rest & (self._tested | self._repeated)
            begun = self._costs.longer(begun, variable)
            if not counted:
                waits += before * waited
                if plain and len(at) == 1 and not rest & ~self._atoms[at[0]]:
                    # what is left of one atom is counted, or comes out as it lies
                    steps, counted = steps + before, True
                elif plain and len(at) == 2 and rest == 1 << variable:
                    steps, windows = steps + 2 * before, windows + before * level.fewest * 2
                else:
                    steps += before * (1 + level.fewest * (max(1, level.atoms) + again))
            if asked:
                rows = begun.bindings
            probed = self._probed(variable, begun.bound)
            probes += begun.searched * len(probed)
            waits += sum(begun.searched * wait(size) for size in probed)
        return Work(1.0, steps, windows, rows, probes, words, waits=waits)

    def _waits(self, number: int, bound: int, variable: int, visits: float) -> float:
        """Time, in kernel steps, that so many visits to an atom's values wait for memory, for each
        binding of those bound.
        """
        atom, own = self._costs.atoms[number], bound & self._atoms[number]
        if variable not in atom.columns:
            return 0.0
        places = 0.0 if own == bound else atom.combinations(own | 1 << variable)
        return waits(atom, variable, visits, max(1.0, atom.combinations(own)), places)

    def _probed(self, variable: int, bound: int) -> list[float]:
        """Bytes of the relations that are asked for a row once this variable is bound."""
        found = []
        for atom in self._plan.rule.negated:
            read = bits(each.variable for each in atom.args if isinstance(each, Ref))
            if read >> variable & 1 and not read & ~bound:
                found.append(float(WORD * len(atom.args) * self._reads[atom.relation].count))
        return found


def _tested(rule: NormalRule) -> int:
    """Variables, as bits, that are compared, computed or looked up in negated atoms."""
    found = 0
    for condition in rule.filters:
        found |= bits(variables_of(condition.left) | variables_of(condition.right))
    for assignment in rule.assignments:
        found |= bits({assignment.variable, *variables_of(assignment.expression)})
    for atom in rule.negated:
        found |= bits(each.variable for each in atom.args if isinstance(each, Ref))
    return found
