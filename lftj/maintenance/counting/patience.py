# SPDX-License-Identifier: Apache-2.0
"""Strata whose iterations find little, again and again: an iteration costs tens of microseconds,
and a chain of a million rows has a million.

An update does iterations that move few rows in compiled code, a microsecond or two each
(`counting.compiled_iterations`), and can begin with nothing. It begins anew, so the evaluation
changes to it once iterations of few rows, one after another, have cost more than all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.rent_or_buy import Rent
from lftj.join.run.evaluate import Relations
from lftj.maintenance.cost.cost_model import ITERATION, ROW, STEP
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree.jit import ADDRESSES
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows


class Patience:
    """Patience of an evaluation by iterations with iterations that find little."""

    def __init__(self, context: Context):
        self._context = context
        self._begun = context.budget.work
        self._rows = 0
        self._small = 0

    def after_iteration(self, fresh: int) -> bool:
        """Note an iteration that found so many rows; False when it was one too many."""
        self._rows += fresh
        tuning = self._context.tuning
        self._small = self._small + 1 if fresh <= tuning.chain_rows else 0
        if ADDRESSES and self._small >= tuning.chain_iterations:
            rest = STEP * (self._context.budget.work - self._begun) + ROW * self._rows
            return not Rent(self._small * ITERATION).due(tuning.chain_rest * rest)
        return True


def updated_from_nothing(
    schemas: Mapping[str, RelationSchema],
    rules: list[NormalRule],
    relations: Relations,
    context: Context,
) -> StratumState:
    """The state of a stratum by an update to which all rules and base rows are new. Raises what
    evaluation raises, and OverflowError when a row has too many proofs to count.
    """
    from lftj.maintenance.counting.elastic_update import ElasticUpdate

    bases = [name for name in map(base_name, schemas) if name in relations]
    given: dict[str, Delta] = {
        name: Delta(relations[name].columns(), no_rows(relations[name].schema.arity))
        for name in bases
    }
    everything = Versions({}, relations, given, context.resources.arena)
    steps, spent = context.budget.work, context.budget.spent
    state, _ = ElasticUpdate(
        StratumState.empty(schemas, context.resources.arena), rules, everything, context
    ).run()
    return replace(state, work=context.budget.spent - spent, steps=context.budget.work - steps)
