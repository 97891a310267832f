# SPDX-License-Identifier: Apache-2.0
"""One version of a rule's sensitivity indices, and their change: the trace of a full run, and of
what a commit evaluates again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.plan import RulePlan
from lftj.join.run.evaluate import Columns, Relations, chunks, gathered
from lftj.join.run.log_buffer import EXACT, HULL, NOTHING, Logged
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.trace.trace_planner import TraceChoice
from lftj.maintenance.trace.traced_body import TracedBody, WithRegions
from lftj.scantree.frozen import frozen
from lftj.sensitivity import EXACT as EXACT_INDEX
from lftj.sensitivity import (
    Granularity,
    Liveness,
    SensitivityIndex,
    TraceLog,
    change_oracle,
    hull,
    projected,
)
from lftj.sensitivity.shape import Position, PositionKey

_COARSEST = projected(0)


@frozen
class TraceState:
    """The indices of one rule by (atom, column), each with its granularity; a position without one
    has granularity none.
    """

    body: TracedBody
    indices: Mapping[PositionKey, SensitivityIndex]
    reasons: Mapping[PositionKey, str]

    @property
    def bytes(self) -> int:
        """Bytes of all intervals."""
        return sum(index.bytes for index in self.indices.values())


class Logging:
    """Positions that a run logs, and the sinks of its records. `relations`: any that the body's
    plan can be assembled over.
    """

    def __init__(
        self,
        body: TracedBody,
        granularities: Mapping[PositionKey, Granularity],
        relations: Relations,
        context: Context,
    ):
        shape, atoms = body.shape, len(body.plan.atoms)
        modes = {
            key: EXACT if granularity.exact else HULL
            for key, granularity in granularities.items()
            if granularity.kept
        }
        positive = {key: mode for key, mode in modes.items() if not shape.by_key[key].negated}
        negated = {key[0] - atoms: mode for key, mode in modes.items() if shape.by_key[key].negated}
        self.logged = Logged(positive, negated)
        self.name = tuple(modes.items())
        keys = {key[0] - atoms: key for key in modes if shape.by_key[key].negated}
        # further atoms, such as regions, do not change the order of the channels
        numbered = body.channels(relations, self.logged, self.name)
        found = [(c.atom, c.column) if c.kind == "atom" else keys[c.atom] for c in numbered]
        self.channels = [(shape.by_key[key], granularities[key]) for key in found]
        self.log = TraceLog(self.channels)


def trace_from_nothing(
    choice: TraceChoice, relations: Relations, context: Context
) -> tuple[Columns, np.ndarray, TraceState]:
    """All output rows of a body, their numbers of proofs, and the indices of the run, within what
    the budget leaves.
    """
    body = choice.body
    logging = Logging(body, choice.granularities, relations, context)
    columns, counts = collected(body, body.plan, relations, context, logging)
    logged = logging.log.columns()
    indices: dict[PositionKey, SensitivityIndex] = {}
    for position, granularity in logging.channels:
        intervals = logged.get(position.key) or _nothing(position, granularity)
        indices[position.key] = SensitivityIndex.build(
            context.resources.arena, position, granularity, intervals
        )
    state = TraceState(body, indices, choice.reasons)
    return (
        columns,
        counts,
        fitted(state, context.resources.trace_budget, context.resources.traced())
        if context.forced.trace is None
        else state,
    )


def _nothing(position: Position, granularity: Granularity) -> Columns:
    width = len(position.alpha) + 2 + len(granularity.kept_levels(position.gamma))
    return [np.empty(0, np.int64) for _ in range(width)]


def traced_change(
    state: TraceState, versions: Versions, context: Context, work: RuleWork
) -> tuple[list[tuple[Columns, np.ndarray]], TraceState]:
    """The change of a rule's output rows as pieces (columns, signed counts), and the indices after
    it [LFTJ-IVM 4].

    Surgeries and indices give regions; the body is evaluated in them as things were (minus) and as
    they are (plus, and logged).
    """
    body = state.body
    batches, found = change_oracle(body.shape, body.changes(versions), state.indices)
    work.surgeries, work.stabs, work.regions = found.surgeries, found.stabs, found.regions
    regions = body.region_relations(batches, context)
    now, before = WithRegions(versions, regions), WithRegions(versions.old_view, regions)
    logging = Logging(
        body, {key: index.granularity for key, index in state.indices.items()}, versions, context
    )
    pieces: list[tuple[Columns, np.ndarray]] = []
    for plan, log_from in body.region_plans(batches, now):
        lost, less = collected(body, plan, before, context)
        won, more = collected(body, plan, now, context, logging, log_from)
        pieces += [(lost, -less), (won, more)]
    return pieces, replace(state, indices=_brought_forward(state, logging, versions))


def fitted(state: TraceState, budget: int, others: int) -> TraceState:
    """The same indices, the largest of them coarser step by step until they fit into `budget`
    bytes, of which `others` are taken, or no index can be made smaller.
    """
    indices, reasons = dict(state.indices), dict(state.reasons)
    while sum(index.bytes for index in indices.values()) > budget - others:
        finer = [key for key, index in indices.items() if index.granularity != _COARSEST]
        if not finer:
            break
        largest = max(finer, key=lambda key: indices[key].bytes)
        coarser = hull() if indices[largest].granularity == EXACT_INDEX else _COARSEST
        index = indices[largest].coarsened(coarser)
        assert index is not None
        indices[largest] = index
        reasons[largest] = f"made coarser when the indices outgrew their budget of {budget:,} bytes"
    return replace(state, indices=indices, reasons=reasons)


def _brought_forward(
    state: TraceState, logging: Logging, versions: Versions
) -> dict[PositionKey, SensitivityIndex]:
    """The indices with what was logged now; those that double are merged, without the contexts that
    died.
    """
    plan = state.body.plan
    trees = [versions[atom.relation].tree(atom.order) for atom in (*plan.atoms, *plan.probes)]
    live = Liveness(state.body.shape, trees)
    indices = dict(state.indices)
    for key, columns in logging.log.columns().items():
        indices[key] = indices[key].add(columns, live)
    return indices


def collected(
    body: TracedBody,
    plan: RulePlan,
    relations: Relations,
    context: Context,
    logging: Logging | None = None,
    log_from: int = 0,
) -> tuple[Columns, np.ndarray]:
    """All output rows of a plan of this body, its trace logged if asked for."""
    if logging is None or not logging.channels:
        assembly, log = body.assembled(plan, relations, NOTHING, None), None
    else:
        logged, log = replace(logging.logged, log_from=log_from), logging.log
        assembly = body.assembled(plan, relations, logged, (logging.name, log_from))
    pieces = gathered(chunks(plan, relations, context, log=log, assembly=assembly), context)
    if not pieces:
        return [np.empty(0, np.int64) for _ in plan.outputs], np.empty(0, np.int64)
    rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)
    return list(rows[:-1]), rows[-1]
