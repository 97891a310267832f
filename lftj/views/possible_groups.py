# SPDX-License-Identifier: Apache-2.0
"""Groups that may be there whatever the values of others are, where rules of a stratum that adds up
judge values that are not finished.

In v(y, sum(n)) :- v(x, n), e(x, y), n < 10. y may have an assignment for each edge (x, y) from a
group that may be there. Where these form no cycle, each group is finished before a condition on it
is judged, and there is one result, by whatever history. Where they do, either of two groups might
be finished before the other, and an evaluation from nothing decides.

The rules without such conditions are a stratum of their own, which adds up zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lftj.errors import GroupCycleError
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.additive import additions
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Source
from lftj.views.group_levels import evaluated_by_levels
from lftj.views.levels_node import Growing, Grown, Levels, Suspicion
from lftj.views.levels_state import LevelsState, Possible
from lftj.views.possible_rules import possible_schema


def follow_possible(
    kept: Possible | None,
    rules: Sequence[NormalRule],
    schemas: Mapping[str, RelationSchema],
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> Possible | None:
    """The possible groups after a commit; None where they form a cycle. `kept`: those before it,
    None where they are not known.
    """
    arena = context.resources.arena
    known = additions(rules)
    made: dict[str, RelationSchema] = {
        name: possible_schema(schemas[name.name], each.column)
        for name, each in known.items()
        if isinstance(name, Source)
    }
    for before in (kept, None) if kept is not None else (None,):
        state = LevelsState.begun(tuple(rules)) if before is None else before.state
        relations = (
            {name: RelationVersion.empty(schema, arena) for name, schema in made.items()}
            if before is None
            else before.relations
        )
        growing = {name: Growing(version) for name, version in relations.items()}
        here = Versions(
            Grown(versions.old_view, growing),
            Grown(versions, growing),
            versions.deltas,
            arena,
            context.tuning,
        )
        try:
            if before is None:
                deltas, state = evaluated_by_levels(made, state, here, context, work)
            else:
                deltas, state = Levels(made, state, here, context, work).followed()
        except Suspicion:
            continue
        except GroupCycleError:
            return None
        now = {name: relations[name].apply(delta) for name, delta in deltas.items()}
        return Possible(state, now)
    return None
