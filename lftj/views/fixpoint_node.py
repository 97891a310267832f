# SPDX-License-Identifier: Apache-2.0
"""Fixpoints: recursive strata, behind the contract of the other nodes. How a stratum is followed
inside is the ladder's in `lftj.maintenance.ladder`, which a program without recursion never loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, Stratum
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import Known, RelationVersion
from lftj.views.run import NodeState

if TYPE_CHECKING:
    from lftj.maintenance.counting.stratum_change import Followed


LEVELS = "levels"


class Closed(NamedTuple):
    """A stratum after a commit: the changes of its relations, its state, what was done, relations
    whose versions are made already, and trees of the others that the state has anyway.
    """

    deltas: Mapping[str, Delta]
    state: NodeState
    work: RuleWork
    versions: Mapping[str, RelationVersion]
    known: Mapping[str, Known]


class Fixpoint:
    """The recursive strata of a program at one commit. `was`: the strata that the rows there are
    follow from; without it strata of other rules begin anew.
    """

    def __init__(
        self,
        program: StratifiedProgram,
        was: Stratification | None,
        changed_rules: frozenset[str],
    ):
        self._program, self._was, self._changed_rules = program, was, changed_rules

    def bring(
        self, stratum: Stratum, kept: NodeState | None, versions: Versions, context: Context
    ) -> Closed:
        """Bring a stratum up to date, from what was kept of it."""
        if stratum.summed:
            return self._by_levels(stratum, kept, versions, context)
        # A quarter of all modules, which a program without recursion does not load.
        from lftj.maintenance.counting.stratum_state import Kept, StratumState
        from lftj.maintenance.ladder import follow_stratum

        budget = context.budget
        started, before, divided = moment(), budget.work, len(budget.divided)
        found_before = budget.found
        schemas = {name: self._program.relations[name] for name in stratum.relations}
        own = kept if isinstance(kept, Kept) else None  # it may have added up before
        followed = follow_stratum(
            stratum, schemas, own, versions, context, self._changed_rules, self._was
        )
        work = _work_of(stratum, followed, versions)
        work.steps = budget.work - before
        work.assignments = followed.assignments + budget.found - found_before
        work.divided(budget.divided[divided:])
        work.since(started)
        state, known = followed.kept, dict[str, Known]()
        if isinstance(state, StratumState):
            known = {name: state.relations[name].plain_trees() for name in stratum.relations}
        return Closed(followed.deltas, state, work, followed.versions, known)

    def _by_levels(
        self, stratum: Stratum, kept: NodeState | None, versions: Versions, context: Context
    ) -> Closed:
        """Bring a summed stratum up to date."""
        from lftj.views.summed_node import follow_levels  # as in `bring`

        started, before = moment(), context.budget.work
        schemas = {name: self._program.relations[name] for name in stratum.relations}
        work = RuleWork(", ".join(stratum.relations), "", LEVELS, outcome="update")
        deltas, state = follow_levels(stratum, schemas, kept, versions, context, work)
        work.steps = context.budget.work - before
        work.head_changes = sum(map(len, deltas.values()))
        work.bytes = state.bytes
        work.since(started)
        return Closed(deltas, state, work, {}, {})


def _work_of(stratum: Stratum, followed: Followed, versions: Versions) -> RuleWork:
    work = RuleWork(
        ", ".join(stratum.relations),
        "",
        followed.strategy,
        followed.changed,
        outcome=followed.outcome,
        moved=_moved(stratum, versions.deltas),
    )
    work.bytes = followed.kept.bytes
    work.head_changes = sum(map(len, followed.deltas.values()))
    return work


def _moved(stratum: Stratum, deltas: Mapping[str, Delta]) -> str:
    """Say what changed inputs can do to a stratum; see `RuleWork`."""
    from lftj.maintenance.deletion.over_delete import takes_and_adds  # as in `bring`

    takes, adds = takes_and_adds(
        [rule for rule in stratum.rules if isinstance(rule, NormalRule)],
        {base_name(name) for name in stratum.relations},
        deltas,
    )
    may = " and ".join([verb for verb, does in (("gain", adds), ("lose", takes)) if does])
    return f"may {may}" if may else ""
