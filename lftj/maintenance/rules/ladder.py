"""The ladders of relations that do not depend on themselves, and of the bodies of rules: their
strategies, in the order in which they are tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from lftj.join.strategy import Exhausted, Strategy, walk
from lftj.maintenance.rules.body_strategies import (
    ByGroups,
    DeltaQueries,
    Projection,
    TraceFromNothing,
    TraceUpdate,
)
from lftj.maintenance.rules.chosen_state import ChosenState
from lftj.maintenance.rules.chosen_way import (
    Assignments,
    BodyChange,
    BodyEvaluation,
    Evaluated,
    Ways,
)
from lftj.maintenance.rules.one_relation import ChoiceAnew, FullEvaluation, Unkept
from lftj.maintenance.rules.relation_change import Maintained, RelationChange
from lftj.maintenance.rules.rule_state import RelationState
from lftj.maintenance.rules.update import Update
from lftj.maintenance.trace.trace_state import TraceState

RELATIONS: Sequence[type[Strategy[Maintained]]] = (ChoiceAnew, Unkept, Update, FullEvaluation)
"""Ways to bring a relation up to date that does not depend on itself."""

BODIES: Sequence[type[Strategy[Assignments]]] = (TraceUpdate, DeltaQueries)
"""Ways to find how the satisfying assignments of a rule change."""

EVALUATIONS: Sequence[type[Strategy[Evaluated]]] = (TraceFromNothing, ByGroups, Projection)
"""Ways to find all of them; in which, tells how their changes are found."""


def _follow_body(change: BodyChange, trace: TraceState | None) -> Assignments:
    """The change of a body's assignments; its work is told the strategy."""
    budget, without = change.context.budget, change.context.tuning.without
    found = walk(BODIES, change, trace, budget, without)
    assert not isinstance(found, Exhausted), "the last strategy does not give up"
    change.work.strategy, assignments = found
    return assignments


def _evaluate_body(evaluation: BodyEvaluation) -> Evaluated:
    """The assignments of a body from nothing."""
    context = evaluation.context
    found = walk(EVALUATIONS, evaluation, None, context.budget, context.tuning.without)
    assert not isinstance(found, Exhausted), "the last strategy does not give up"
    return found[1]


WAYS = Ways(_follow_body, _evaluate_body)
"""The ladders for bodies, which heads and relations get as an argument."""


def maintain(change: RelationChange, state: RelationState | None) -> Maintained:
    """Bring a relation up to date, from `state`. Raises what evaluation raises; nothing given is
    changed.
    """
    if isinstance(state, ChosenState) != bool(change.schema.choice):
        state = None
    budget, without = change.context.budget, change.context.tuning.without
    found = walk(RELATIONS, change, state, budget, without, change.note)
    assert not isinstance(found, Exhausted), "the last strategy does not give up"
    return found[1]
