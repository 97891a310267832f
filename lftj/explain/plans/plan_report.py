# SPDX-License-Identifier: Apache-2.0
"""Explanation of a rule's evaluation: the variable order, the atoms at each level, the key orders
that are read, and the estimates behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lftj.engine.programs import RuleHandle, number_of
from lftj.engine.versions import Result, State
from lftj.errors import UnknownNameError
from lftj.explain.plans.analysis import BodyCost, PlanAnalysis
from lftj.explain.plans.level_costs import Bodies
from lftj.explain.plans.nodes import STRATA, Node, Nodes
from lftj.explain.plans.plan_parts import part_lines
from lftj.explain.plans.upkeep import evaluated, is_searched, upkeep_lines
from lftj.join.access import SemijoinReduction
from lftj.join.plan import RulePlan, Statistics
from lftj.join.run import BodyQuery, asked_first, plan_rule
from lftj.program import FunctorRule, NormalRule, Program
from lftj.program.rewrites import Rewritten
from lftj.storage import RelationVersion
from lftj.types import FLOAT, INT, STR, Role, without_role

if TYPE_CHECKING:
    import pandas

    from lftj.engine.live import Engine

COLUMNS = (
    ("rule", STR),
    ("level", INT),
    ("variable", STR),
    ("source", STR),
    ("atoms", STR),
    ("tests", INT),
    ("bindings", FLOAT),
)


PLACE_COLUMNS = (("what", STR), ("stage", INT), ("relation", STR), ("how", STR), ("rows", INT))


class Planned(NamedTuple):
    """A rule, and the plan by which its node of the graph of views is evaluated."""

    rule: NormalRule
    plan: RulePlan


class PlanReport:
    """The plans of one rule of the user's, which may be several conjunctive rules. `print()` it, or
    take `.df()`: one row per level.

    `bindings` is the estimated number of bindings after the level. `nodes()` lists the nodes of the
    graph of views that serve them, `places()` tells where their relations lie.
    """

    def __init__(
        self,
        rule: str,
        planned: Sequence[Planned],
        functors: list[FunctorRule],
        state: State,
        engine: Engine,
        passes: Sequence[Rewritten] = (),
        graph: Nodes | None = None,
    ):
        """For `plan_report`."""
        if graph is not None:
            self.graph = graph
        self.passes = tuple(passes)
        self.rule = rule
        self.planned = tuple(planned)
        self.functors = functors
        self._state = state
        self._engine = engine

    @cached_property
    def graph(self) -> Nodes:
        """The graph of views."""
        return Nodes(self._state)

    @property
    def plans(self) -> list[RulePlan]:
        """The plans of conjunctive rules."""
        return [each.plan for each in self.planned]

    @property
    def reports(self) -> Sequence[PlanReport]:
        """The plans rule by rule."""
        return [self]

    def result(self) -> Result:
        """The levels as a table."""
        rows = [row for plan in self.plans for row in self._rows(plan)]
        return Result.of_rows(COLUMNS, rows, version=self._state.version, name="plan")

    def df(self) -> pandas.DataFrame:
        """The levels as a pandas DataFrame."""
        return self.result().df()

    def nodes(self) -> Result:
        """The nodes of the graph of views that find the rows of these rules, one row each, before
        their readers: its `kind`, the nodes that it `reads`, the `relations` that it helps to
        derive, all `rules` that it serves, by what it is `kept_by`, its `rows`, or groups, −1
        where it has none, and the `bytes` that it keeps beside them.
        """
        return self.graph.result(self._served())

    def _served(self) -> list[Node]:
        """The nodes behind these rules, with the tables that they read."""
        rules = [*(each.rule for each in self.planned), *self.functors]
        found = {node.name for rule in rules if (node := self.graph.of(rule))}
        found |= {name for node in found for name in self.graph.all[node].reads}
        found |= {rule.relation for rule in rules}
        return [node for node in self.graph.all.values() if node.name in found]

    def places(self) -> Result:
        """Places of the relations that the plans read or derive, one row each: `what` ("stored" or
        "derived"), the `stage` that derives it, the `relation`, `how` it lies, and its `rows`.
        """
        stages = {
            name: stage
            for stage, stratum in enumerate(self._state.program.order.strata, 1)
            for name in stratum.relations
        }
        rows = [
            (
                "derived" if name in stages else "stored",
                stages.get(name, 0),
                name,
                "in this process",
                self._state.database[name].count,
            )
            for name in self.relations()
        ]
        rows.sort(key=lambda row: (row[1], row[2]))
        return Result.of_rows(PLACE_COLUMNS, rows, version=self._state.version, name="places")

    def relations(self) -> list[str]:
        """The relations of the user's that the plans read or derive."""
        names = {rule.relation for rule in self.functors} | {rule.domain for rule in self.functors}
        for plan in self.plans:
            names |= {plan.rule.relation, *(relation for relation, _ in plan.key_orders())}
        names = {without_role(name, Role.BASE) for name in names}
        return sorted(names & self._state.program.catalog.relations.keys())

    def describe(self) -> str:
        """The plans as text."""
        return "\n".join(self.lines({}))

    def lines(self, shown: dict[str, str]) -> Iterator[str]:
        """The lines of `describe`. `shown`: the nodes whose plans have been shown, with the rule
        that they were shown with; those of these rules are added.
        """
        yield self.rule
        yield from self.pass_lines()
        before = {*shown}
        for each in self.planned:
            node = self.graph.of(each.rule)
            if node is not None and node.kind in STRATA:
                node = None  # its rules have plans of their own
            if node is not None and node.name in before:
                yield f"  {each.rule.relation}: reads {node.name}, shown with {shown[node.name]}"
                continue
            if node is not None:
                shown.setdefault(node.name, f"rule #{each.rule.source}")
            yield from self._lines(*each)
        yield from map(_functor_line, self.functors)

    def costs(self, bodies: Bodies) -> PlanAnalysis:
        """The plans with their costs, which `bodies` finds; those of a shared node once."""
        found: list[BodyCost] = []
        shown: set[str] = set()
        for rule, plan in self.planned:
            node = self.graph.of(rule)
            if node is not None and node.kind in ("group", "join"):
                if node.name in shown:
                    continue
                shown.add(node.name)
            notes = (*self._shared(rule), *upkeep_lines(rule, self._state))
            found.append(bodies.of(plan, tuple(line.strip() for line in notes)))
        found += [
            BodyCost(rule.relation, (), 0.0, (), (_functor_line(rule).strip(),))
            for rule in self.functors
        ]
        version = self._state.version
        return PlanAnalysis(
            self.rule, version, bodies.analyze, tuple(found), bodies.compile_seconds
        )

    def _costs(self) -> PlanAnalysis:
        context = self._engine.context(self._state.aggregates)
        return self.costs(Bodies(self._state.database, context, analyze=False))

    def to_dict(self) -> dict[str, Any]:
        """The plans as dictionaries and lists."""
        return self._costs().to_dict()

    def to_dot(self) -> str:
        """The levels as a graph for Graphviz, each behind the one before it."""
        return self._costs().to_dot()

    def to_networkx(self) -> Any:
        """The levels as a `networkx.DiGraph` of (body, level) pairs. Needs networkx."""
        return self._costs().to_networkx()

    def _repr_html_(self) -> str:
        return self._costs()._repr_html_()

    def pass_lines(self) -> Iterator[str]:
        """The rule after each rewrite that changed it, where these were asked for."""
        for each in self.passes:
            yield f"  after {each.name}: {each.reason}"
            yield from (f"    {rule}" for rule in each.rules)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return self.describe()

    # ── parts ─────────────────────────────────────────────────────────────────────────────────────
    def _rows(self, plan: RulePlan) -> Iterator[tuple[object, ...]]:
        estimates = dict(zip(plan.choice.order, plan.choice.bindings, strict=False))
        for number, level in enumerate(plan.levels):
            source = (
                "constant"
                if level.variable is None
                else "computed"
                if level.value is not None
                else "leapfrog"
            )
            atoms = ", ".join(
                self.key_order(atom.relation, atom.order)
                for atom in plan.atoms
                if number in atom.levels
            )
            tests = len(level.filters) + len(level.probes)
            bindings = estimates.get(level.variable, 1.0) if level.variable is not None else 1.0
            yield plan.rule.relation, number, level.name, source, atoms, tests, float(bindings)

    def _lines(self, rule: NormalRule, plan: RulePlan) -> Iterator[str]:
        order = ", ".join(plan.variable_order) or "none"
        yield (
            f"  {plan.rule.relation}: variable order {order}; estimated cost "
            f"{plan.choice.cost:,.0f}"
        )
        for _, number, name, source, atoms, tests, bindings in self._rows(plan):
            tested = f", {tests} test{'s' if tests != 1 else ''}" if tests else ""
            where = f" of {atoms}" if atoms else ""
            yield f"    {number}  {name}: {source}{where}{tested}, about {bindings:,.0f} bindings"
        for probe in plan.probes:
            yield f"    absent from {self.key_order(probe.relation, probe.order)}"
        if plan.emit_level < len(plan.levels):
            what = "counts proofs" if plan.count else "stops at the first proof"
            yield f"    below level {plan.emit_level} it {what}"
        if matching := self._matching(rule, plan):
            about = f"about {100 * matching.share:.1f} %"
            yield (
                f"    from nothing only rows of {matching.name} that match "
                f"{matching.restricted_by} are read, {about}"
            )
        elif other := self._read_otherwise(rule, plan):
            yield f"    {other}"
        yield from part_lines(self._engine, self._state, plan, self.key_order)
        yield from self._shared(rule)
        yield from upkeep_lines(rule, self._state)

    def _shared(self, rule: NormalRule) -> Iterator[str]:
        """Name the node that serves other rules too."""
        node = self.graph.of(rule)
        if node is not None and node.kind not in STRATA and len(node.rules) > 1:
            yield f"    found once for the rules {node.served}, as {node.name}"

    def _matching(self, rule: NormalRule, plan: RulePlan) -> SemijoinReduction | None:
        """The rows that the rule is evaluated over; None for all, as where it is traced or
        recursive.
        """
        if not is_searched(rule, self._state):
            return None
        return SemijoinReduction.of(
            plan.rule,
            self._state.database,
            plan.choice.cost,
            self._engine.context(self._state.aggregates),
        )

    def _read_otherwise(self, rule: NormalRule, plan: RulePlan) -> str:
        """The way in which rows are found where the rule is not searched."""
        if not is_searched(rule, self._state):
            return ""
        context = self._engine.context(self._state.aggregates)
        _, needed = evaluated(rule, self._state)
        query = BodyQuery(plan.rule, needed, self._state.database, context, plan.count)
        query.planned = (plan, self._state.database)
        return asked_first(query).explained()

    def key_order(self, relation: str, order: tuple[int, ...]) -> str:
        """A relation with its columns in a key order, as `edge(y, x)`."""
        columns = [name for name, _ in self._state.database.schema(relation).columns]
        return f"{relation}({', '.join(columns[i] for i in order if i < len(columns))})"


def plan_report(
    engine: Engine,
    state: State,
    handle: RuleHandle,
    statistics: Statistics | None = None,
    passes: bool = False,
    graph: Nodes | None = None,
) -> PlanReport:
    """The plans of a rule on the present data, or for relations of which `statistics` tells the
    sizes. `passes`: with the rule after each rewrite that changed it.

    Raises UnknownNameError (E114) for a rule that is not there.
    """
    if not isinstance(handle, RuleHandle) or handle.source is None:
        raise UnknownNameError(
            f"no such rule: {handle}",
            code="E114",
            hint="pass a handle from add_rule(…) or from ws.rules",
        )
    source = number_of(handle, state.program)
    rules = state.program.sources[source].normal.rules
    context = engine.context(state.aggregates)
    context.statistics = statistics or context.statistics
    conjunctive = [rule for rule in rules if isinstance(rule, NormalRule)]
    planned: list[Planned] = []
    for rule in conjunctive:
        of_node, needed = evaluated(rule, state)
        plan = plan_rule(of_node, state.database, context, needed=needed, count=True)
        named = replace(plan.rule, relation=rule.relation)  # one node serves several relations
        planned.append(Planned(rule, replace(plan, rule=named)))
    return PlanReport(
        str(handle),
        planned,
        [rule for rule in rules if isinstance(rule, FunctorRule)],
        state,
        engine,
        state.program.passes(source) if passes else (),
        graph,
    )


def state_without_rows(engine: Engine, program: Program) -> State:
    """A program on empty relations, to plan rules whose rows are not in this process."""
    empty = {
        name: RelationVersion.empty(schema, engine.arena)
        for name, schema in program.stratified.relations.items()
    }
    return replace(engine.state, program=program, database=engine.state.database.replace(empty))


def _functor_line(rule: FunctorRule) -> str:
    return f"  {rule.relation}: {rule.functor} on each row of {rule.domain}"
