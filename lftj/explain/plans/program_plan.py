# SPDX-License-Identifier: Apache-2.0
"""Plans of all rules, with the graph of views that they are kept up to date by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lftj.engine.programs import RuleHandle
from lftj.engine.versions import State
from lftj.explain.plans.nodes import Node, Nodes
from lftj.explain.plans.plan_report import PlanReport, plan_report
from lftj.join.plan import Statistics
from lftj.proofs import Drawing, Fold, to_text

if TYPE_CHECKING:
    from lftj.engine.live import Engine


class ProgramPlan(PlanReport):
    """The plans of several rules, and the graph of views."""

    def __init__(self, reports: Sequence[PlanReport], state: State, engine: Engine, graph: Nodes):
        """For `plans_report`."""
        planned = [each for report in reports for each in report.planned]
        functors = [rule for report in reports for rule in report.functors]
        passes = [each for report in reports for each in report.passes]
        rules = "\n".join(report.rule for report in reports)
        super().__init__(rules, planned, functors, state, engine, passes, graph)
        self._reports = reports

    @property
    def reports(self) -> Sequence[PlanReport]:
        """The plans rule by rule."""
        return self._reports

    def relations(self) -> list[str]:
        """All relations of the user's."""
        return sorted(self._state.program.catalog.relations)

    def _served(self) -> list[Node]:
        return [*self.graph.all.values()]

    def describe(self) -> str:
        """The graph of views as text, then the plans, rule by rule; those of a node that several
        rules share once.
        """
        shown: dict[str, str] = {}
        nodes = self._served()
        about = f"{len(nodes):,} node{'s' * (len(nodes) != 1)} of the graph of views"
        parts = [to_text(Fold(about, [self.graph.table(nodes)]))]
        parts += ["\n".join(report.lines(shown)) for report in self._reports]
        return "\n\n".join(parts)

    def to_dot(self) -> str:
        """The graph of views for Graphviz, from what is read to what is derived."""
        return self._drawing().to_dot()

    def to_networkx(self) -> Any:
        """The graph of views as a `networkx.DiGraph` of names of nodes. Needs networkx."""
        return self._drawing().to_networkx()

    def _drawing(self) -> Drawing:
        return self.graph.drawing()


def plans_report(
    engine: Engine, state: State, statistics: Statistics | None = None, passes: bool = False
) -> ProgramPlan:
    """The plans of all rules, in the order they were added; `statistics` and `passes` as for
    `plan_report`.
    """
    program = state.program
    handles = [RuleHandle(source, program.rule(source)) for source in program.sources]
    graph = Nodes(state)
    reports = [plan_report(engine, state, handle, statistics, passes, graph) for handle in handles]
    return ProgramPlan(reports, state, engine, graph)
