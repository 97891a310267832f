# SPDX-License-Identifier: Apache-2.0
"""Running a plan: slices of kernel work, in between which limits, interrupts and output are seen
to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from lftj.join.access.semijoin_reduction import SemijoinReduction
from lftj.join.context import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.cardinality import stale
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.assemble import Assembly
from lftj.join.run.log_buffer import Sink
from lftj.join.run.parallel import Compact, parts_of, patience_with
from lftj.join.run.run import Run, evaluation_failure
from lftj.program.normal_form import NormalRule
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation

Columns = list[np.ndarray]
Relations = Mapping[str, RelationVersion]

_PLANS = 4096  # plans that are remembered
STALE_PLAN = 2
"""Growth or shrinkage of what a plan reads after which it is made anew."""
STALE_PLAN_ROWS = 64
"""Rows up to which sizes do not make a plan stale."""

_SOON_MADE = 50_000
"""Rows of which a key order is made in a millisecond or two."""


def plan_rule(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    count: bool,
    lasting: bool = False,
    repeated: bool = False,
) -> RulePlan:
    """The plan for the values of `needed`, with this context's statistics and forced orders;
    `lasting` as in `make_plan`.

    `repeated`: it runs many times in one commit, so that what commits do for key orders is nothing
    beside it.

    A plan made before is used again while the sizes of what it reads are nearly the same: making
    one takes longer than many a run.
    """
    upkeep = None if repeated else context.upkeep
    forced = context.forced.orders.get(rule.source)
    if forced is not None:
        return make_plan(
            rule,
            needed,
            relations,
            context.statistics,
            count=count,
            forced=forced,
            lasting=lasting,
            upkeep=upkeep,
        )
    read = [relations[atom.relation] for atom in rule.atoms]
    sizes = [0 if isinstance(relation, TransientRelation) else relation.count for relation in read]
    # rows of a change or of a round come in all sizes: plans are told apart by their magnitude
    # alone
    key = (
        rule,
        needed,
        count,
        lasting,
        repeated,
        *((type(r), r.count.bit_length() // 4 * isinstance(r, TransientRelation)) for r in read),
    )
    known = context.resources.plans.get(key)
    if known is not None and all(
        not stale(*pair, STALE_PLAN, STALE_PLAN_ROWS) for pair in zip(sizes, known[0], strict=True)
    ):
        return known[1]
    keeping = count and not (lasting or repeated) and context.keep_counts
    plan = make_plan(
        rule,
        needed,
        relations,
        context.statistics,
        count=count,
        lasting=lasting,
        upkeep=upkeep,
        keeping=keeping,
    )
    if len(context.resources.plans) >= _PLANS:
        context.resources.plans.clear()
    context.resources.plans[key] = (sizes, plan)
    return plan


def plan_for_long(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    count: bool,
) -> RulePlan:
    """A `lasting` plan; where it takes long to make the key orders that this reads, one that does
    without them, until such plans have lost as much.
    """
    plan = plan_rule(rule, relations, context, needed=needed, count=count, lasting=True)
    reads = [(relations[name], order) for name, order in plan.key_orders()]
    if all(read.count <= _SOON_MADE or read.at_hand(order) for read, order in reads):
        return plan
    now = plan_rule(rule, relations, context, needed=needed, count=count)
    return context.resources.advisor.plan(now, lambda: plan, relations, context.tuning)


def plan_once(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    count: bool,
) -> tuple[RulePlan, Relations]:
    """The plan of an evaluation from nothing, and what it reads: of a wide relation the rows that
    may match, where these are few.
    """
    plan = plan_rule(rule, relations, context, needed=needed, count=count)
    matching = plan_matching(
        rule, relations, context, needed=needed, count=count, cost=plan.choice.cost
    )
    if matching is not None:
        return matching
    if rule.source not in context.forced.orders:
        lasting = partial(
            plan_rule, rule, relations, context, needed=needed, count=count, lasting=True
        )
        plan = context.resources.advisor.plan(plan, lasting, relations, context.tuning)
    return plan, relations


def plan_matching(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...],
    count: bool,
    cost: float,
) -> tuple[RulePlan, Relations] | None:
    """The plan over the rows of a wide relation that may match, and these; None where testing all
    rows takes more than `cost`, a row counting once.
    """
    matching = SemijoinReduction.of(rule, relations, cost, context)
    if matching is None:
        return None
    reduced = {**{name: relations[name] for name in rule.reads}, matching.name: matching.rows()}
    return plan_rule(rule, reduced, context, needed=needed, count=count), reduced


def chunks(
    plan: RulePlan,
    relations: Relations,
    context: Context,
    *,
    log: Sink | None = None,
    compact: Compact | None = None,
    assembly: Assembly | None = None,
) -> Iterator[np.ndarray]:
    """The plan's output rows in pieces: arrays of shape (outputs + 1) × n, the last row the number
    of proofs.

    Ascending by the levels in plan order. A piece is overwritten by the next. `assembly`: of this
    plan over these relations, where there is one, as there has to be for a `log`. That is given the
    records of what the assembly logs (its `channels` number it), the last of them before the last
    piece. An evaluation that turns out to be large goes on in parts on several threads
    (`parallel`); `compact` is then asked to make the rows of each part fewer, and may do nothing.
    """
    if assembly is None:
        assembly = Assembly(
            plan,
            relations,
            context.resources.dictionary,
            keep_counts=context.keep_counts,
        )
    if assembly.empty and log is None:
        return
    before = context.budget.work
    yield from _run(Run(assembly, context), context, log, compact)
    context.resources.advisor.took(plan, context.budget.work - before)


def _run(
    run: Run, context: Context, log: Sink | None, compact: Compact | None
) -> Iterator[np.ndarray]:
    plan = run.assembly.plan
    patience = patience_with(plan, context, log)
    while run.status != at.DONE:
        context.budget.spend(run.go(patience - run.steps if patience is not None else None))
        if run.status == at.FAILED:
            raise evaluation_failure(plan, run.state, context)
        run.hand_over(log)
        if run.complete_rows:
            yield run.rows()
            run.make_room()
        if patience is not None and run.steps >= patience:
            if (parts := parts_of(run, context, log, compact)) is not None:
                yield from parts.rows()
                return
            patience = 2 * run.steps
    run.close()


def owned(piece: np.ndarray) -> np.ndarray:
    """A piece that no later one overwrites: a copy, but of what a part gathered, which is nobody
    else's.
    """
    return piece if piece.base is None else piece.copy()


def gathered(pieces: Iterable[np.ndarray], context: Context) -> list[np.ndarray]:
    """Copies of all pieces. Raises LimitError when they take more memory than they may."""
    kept: list[np.ndarray] = []
    size = 0
    for piece in pieces:
        kept.append(owned(piece))
        size += piece.nbytes
        context.budget.check_memory(size)
    return kept


def run_plan(plan: RulePlan, relations: Relations, context: Context) -> tuple[Columns, np.ndarray]:
    """All output rows: (columns in the order of the plan's outputs, number of proofs of each)."""
    pieces = gathered(chunks(plan, relations, context), context)
    if not pieces:
        return [np.empty(0, np.int64) for _ in plan.outputs], np.empty(0, np.int64)
    rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)
    return list(rows[:-1]), rows[-1]
