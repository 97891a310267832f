# SPDX-License-Identifier: Apache-2.0
"""The ladders of recursive strata: strategies in the order in which they are tried. A program
without recursion does not load them.

The first strategy that applies, is expected to be worth its cost and stays within its budget
decides the result. A strategy that is given up leaves a state, from which the next one starts. No
other code decides what is tried next; a strategy that some change needs cannot be switched off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Strategy, walk
from lftj.maintenance.bootstrap import Iterations
from lftj.maintenance.counting.elastic import CountedFromNothing, CountingUpdate
from lftj.maintenance.counting.from_nothing import FromNothing, PatientlyFromNothing
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Kept
from lftj.maintenance.dred.by_rows import FewRows, Rows
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_stratum import (
    BestUpdate,
    Improvement,
    ImprovementFromNothing,
)
from lftj.maintenance.partition_evaluation import AffectedPartitions
from lftj.maintenance.reachability.by_search import Reachability
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.separable.separable import Walks
from lftj.program.normal_form import RelationSchema, Stratum
from lftj.program.stratification import Stratification

BEST_VALUES: Sequence[type[Strategy[Followed]]] = (BestUpdate, Improvement, ImprovementFromNothing)
"""Ways to bring a recursive stratum up to date that keeps best values."""
ROWS: Sequence[type[Strategy[Followed]]] = (
    FewRows,
    Reachability,
    CountingUpdate,
    Rows,
    AffectedPartitions,
    CountedFromNothing,
    PatientlyFromNothing,
    CountedFromNothing,  # of what iterations gave up
    FromNothing,
)
"""Ways to bring any other one up to date."""
STRATA = (*BEST_VALUES, *ROWS)

CLOSURES: Sequence[type[Strategy[dict[str, Columns]]]] = (Walks, Iterations)
"""Ways to find the rows of a recursive stratum, or of some of its partitions, from nothing."""


def close(closure: Closure) -> dict[str, Columns] | Exhausted:
    """The rows of a stratum from nothing, or why iterations were given up."""
    context = closure.context
    found = walk(CLOSURES, closure, None, context.budget, context.tuning.without)
    return found if isinstance(found, Exhausted) else found[1]


def follow_stratum(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
    changed_rules: frozenset[str],
    was: Stratification | None,
) -> Followed:
    """Bring a recursive stratum up to date. Raises what evaluation raises; nothing given is
    changed.

    `kept`: what it was maintained with. `changed_rules`: relations that won or lost a rule, `was`:
    the strata that the rows there are follow from; without it a stratum of other rules begins anew.
    """
    without = context.tuning.without
    same = kept is not None and changed_rules.isdisjoint(stratum.relations)
    known = was if context.keep else None
    rules = NO_CHANGE if same else RuleChange.since(stratum, known, versions.old)
    patient = CountedFromNothing.name not in without
    change = StratumChange(stratum, schemas, versions, context, rules, close, patient=patient)
    ladder = BEST_VALUES if change.lattices else ROWS
    found = walk(ladder, change, kept, context.budget, without, change.note)
    assert not isinstance(found, Exhausted), "the last strategy does not give up"
    name, followed = found
    return replace(followed, strategy=name)
