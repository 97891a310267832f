# SPDX-License-Identifier: Apache-2.0
"""A search for the answers to a question with parameters: planned once, run for value after value.

Most such questions are one join that begins with the values. Its plan is assembled once, and a run
puts the values and the roots of the version's trees into it, which takes some tens of microseconds;
other questions, and those that may take long, are evaluated as any question is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lftj.engine.questions.parameters import PARAMETERS
from lftj.engine.questions.question import Asked
from lftj.heads.support import support_counts
from lftj.join.context import Context
from lftj.join.plan.cardinality import stale
from lftj.join.run.evaluate import STALE_PLAN, STALE_PLAN_ROWS, Columns, plan_rule
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.database import Database
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import OneRow

_ROOM = 1 << 12  # rows of answers that a run has room for, before it comes back to hand them over
_BOUND_SEARCH_COST = 1e6
"""Estimated kernel steps up to which a question with parameters is one run of a plan that is kept;
above, threads and all other ways to evaluate it may gain more than that saves.
"""


class _Reading(Mapping[str, RelationVersion]):
    """The relations of a version, and the values."""

    def __init__(self, database: Database, values: RelationVersion):
        self._database, self._values = database, values

    def __getitem__(self, name: str) -> RelationVersion:
        return self._values if name == PARAMETERS else self._database[name]

    def __iter__(self) -> Iterator[str]:
        return iter((PARAMETERS, *self._database))

    def __len__(self) -> int:
        return 1 + len(self._database)


class BoundSearch:
    """One plan with its arrays. One thread at a time may use it."""

    def __init__(self, rule: NormalRule, values: OneRow, database: Database, context: Context):
        """`values` has some row already. Costs planning, and building the key orders that it reads,
        which commits bring forward.
        """
        self._rule, self._values = rule, values
        self._needed, picks = head_picks(rule)
        self._picks: list[int] = picks.tolist()
        reading = _Reading(database, values)
        count = len(self._needed) < len(rule.variables)
        plan = plan_rule(rule, reading, context, needed=self._needed, count=count, lasting=True)
        self.cost = plan.choice.cost
        self._prepared = PreparedPlan(plan, reading, context, _ROOM)
        self._sizes = self._counts(database)

    def _counts(self, database: Database) -> list[int]:
        names = [atom.relation for atom in self._rule.atoms if atom.relation != PARAMETERS]
        return [database[name].count for name in names]

    def suits(self, database: Database) -> bool:
        """Test for a version whose relations have nearly the sizes that it was planned for."""
        return not any(
            stale(*pair, STALE_PLAN, STALE_PLAN_ROWS)
            for pair in zip(self._counts(database), self._sizes, strict=True)
        )

    def rows(self, codes: Sequence[int], database: Database, context: Context) -> Columns:
        """The distinct answers for these values, sorted. Raises what evaluation raises."""
        self._values.put(codes)
        found = self._prepared.rows(_Reading(database, self._values), context)
        columns = [found[pick] for pick in self._picks] or [np.zeros(found.shape[1], np.int64)]
        return support_counts(columns, found[-1])[0]


def search_for(
    asked: Asked, codes: Sequence[int], database: Database, context: Context
) -> BoundSearch | None:
    """A search that nobody uses, to be given back to `asked.searches`; None where the question is
    evaluated as others are.
    """
    rule = _only_rule(asked)
    if rule is None or asked.values is None or rule.source in context.forced.orders:
        return None
    try:
        search: BoundSearch = asked.searches.pop()  # one call, so that no two threads get the same
    except IndexError:
        search = None  # type: ignore[assignment]
    if search is None or not search.suits(database):
        search = BoundSearch(rule, _row(asked.values, codes, context), database, context)
    if search.cost > _BOUND_SEARCH_COST:
        asked.searches.append(search)
        return None
    return search


def _row(schema: RelationSchema, codes: Sequence[int], context: Context) -> OneRow:
    return OneRow(schema, context.resources.arena, [np.array([code], np.int64) for code in codes])


def _only_rule(asked: Asked) -> NormalRule | None:
    """The rule of a question that is one join of relations of the program and the values."""
    strata = asked.program.order.strata
    if len(strata) != 1 or strata[0].recursive or len(strata[0].rules) != 1:
        return None
    rule = strata[0].rules[0]
    if not isinstance(rule, NormalRule) or rule.aggregates:
        return None
    return rule if any(atom.relation == PARAMETERS for atom in rule.atoms) else None
