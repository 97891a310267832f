# SPDX-License-Identifier: Apache-2.0
"""Full evaluation of one relation: the head rows that its rules derive from relations that are up
to date. Nodes of views begin in `lftj.views.join_node.Join.full`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from lftj.functions.aggregates import EXTREMES
from lftj.heads.aggregate import aggregate
from lftj.heads.aggregate_shape import AggregateCall, AggregateShape
from lftj.heads.grouped_results import results, totalled
from lftj.heads.grouping import Grouping
from lftj.heads.kept import GroupTotals
from lftj.heads.support import support_counts
from lftj.join.access.gathering import Making
from lftj.join.access.star_shape import Star
from lftj.join.context import Context
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Columns, Relations, chunks, owned, plan_rule
from lftj.join.run.ladder import satisfying
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.scantree.frozen import found_once
from lftj.scantree.rows import sort_rows, union
from lftj.storage.delta import no_rows
from lftj.tuning.aids import RUNNING_TOTALS

_PROJECTED_ROWS = 4_000_000
"""Rows gathered before repeated ones are taken out: memory against sorting."""


def derive(
    schema: RelationSchema,
    rules: Iterable[NormalRule | FunctorRule],
    relations: Relations,
    context: Context,
) -> Columns:
    """The sorted, distinct rows that these rules, all for one relation, derive; stored columns, one
    of zeros for a nullary relation.
    """
    rows = no_rows(schema.arity)
    for rule in rules:
        if isinstance(rule, FunctorRule):
            found = functor_rows(rule, relations[rule.domain].columns(), context)
        elif rule.aggregates:
            found = aggregated(rule, relations, context)
        else:
            found, counts = projected(rule, relations, context)
            context.budget.found += int(counts.sum())
        rows = found if not len(rows[0]) else union(rows, found)
    return rows


def projected(
    rule: NormalRule, relations: Relations, context: Context
) -> tuple[Columns, np.ndarray]:
    """The distinct head rows of a rule without aggregates, sorted, and how many assignments support
    each [LFTJ-IVM 2.2].
    """
    lying = _rows_as_they_lie(rule, relations, context)
    if lying is not None:
        return lying, np.ones(len(lying[0]), np.int64)
    needed, picks = head_picks(rule)
    # with every variable in the head there is nothing to count: each assignment is its own row
    # [LFTJ-IVM 2.1]
    count = len(needed) < len(rule.variables)
    compact = _fewer if needed else None
    found = satisfying(BodyQuery(rule, needed, relations, context, count=count, compact=compact))
    if found.rows is not None:
        columns, counts = found.rows
        columns = [columns[pick] for pick in picks]
        return support_counts(columns or [np.zeros(len(counts), np.int64)], counts)
    rows: Columns = no_rows(len(picks))
    counts = np.empty(0, np.int64)
    waiting: list[np.ndarray] = []
    gathered = 0
    for piece in found.pieces:
        waiting.append(owned(piece))
        gathered += piece.shape[1]
        context.budget.check_memory((len(counts) + gathered) * piece.itemsize * len(piece))
        if gathered > max(_PROJECTED_ROWS, len(counts)):
            rows, counts = _compact(rows, counts, waiting, picks)
            waiting, gathered = [], 0
    return _compact(rows, counts, waiting, picks)


@found_once
def copied(rule: NormalRule) -> tuple[str, list[int]] | None:
    """The relation that a rule copies, and its columns as the head has them, each once; None for
    other rules.
    """
    alone = Star.alone(rule)
    if alone is None or not alone.copies:
        return None
    place = alone.facts.place
    if not len(rule.atoms[0].args) == len(place) == len(set(rule.group)) == len(rule.group):
        return None
    return alone.facts.relation, [place[variable] for variable in rule.group]


def _rows_as_they_lie(rule: NormalRule, relations: Relations, context: Context) -> Columns | None:
    """The head rows of a rule that copies a relation, sorted: read, not evaluated. None for others.
    O(n), O(n log n) where the copy has its columns in another order.
    """
    found = copied(rule)
    if found is None:
        return None
    facts, columns = relations[found[0]], found[1]
    if context.keep and facts.schema.name not in context.statistics.known:
        # its rows are at hand now: after a workspace was opened, a sample would read all pages
        context.statistics.of(facts)
    count = facts.count
    context.budget.spend(count)
    context.budget.check_memory(8 * count * (1 + len(columns)))
    rows = facts.columns(columns)
    return rows if columns == sorted(columns) else sort_rows(rows)


def running_totals(shape: AggregateShape, context: Context) -> Making[Grouping] | None:
    """A maker of groups that are totalled as assignments come; None where that is switched off."""
    if RUNNING_TOTALS in context.tuning.without:
        return None
    return partial(Grouping, shape, threads=context.resources.arena.threads)


def head_picks(rule: NormalRule) -> tuple[tuple[int, ...], np.ndarray]:
    """The values that a head needs, and for each of its columns which of them it is."""
    head = rule.group
    needed = tuple(dict.fromkeys(head))
    return needed, np.array([needed.index(variable) for variable in head], np.int64)


def head_rows(
    rule: NormalRule, relations: Relations, context: Context, *, lasting: bool
) -> Columns:
    """The head rows of a rule, in no order, some perhaps repeated; `lasting` as in `make_plan`.
    Costs what the search takes.
    """
    needed, picks = head_picks(rule)
    plan = plan_rule(rule, relations, context, needed=needed, count=False, lasting=lasting)
    pieces = [piece.take(picks, axis=0) for piece in chunks(plan, relations, context)]
    if not needed:
        return [np.zeros(min(len(pieces), 1), np.int64)]
    return list(np.concatenate([np.empty((len(picks), 0), np.int64), *pieces], axis=1))


def _fewer(rows: np.ndarray) -> np.ndarray:
    """Output rows of a part, sorted, each once with its proofs added up."""
    columns, counts = support_counts(list(rows[:-1]), rows[-1])
    return np.array([*columns, counts])


def _compact(
    rows: Columns, counts: np.ndarray, pieces: Sequence[np.ndarray], picks: np.ndarray
) -> tuple[Columns, np.ndarray]:
    if not pieces:
        return rows, counts
    new = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)
    columns = [new[pick] for pick in picks] or [np.zeros(new.shape[1], np.int64)]
    if len(counts):
        columns = [np.concatenate(pair) for pair in zip(rows, columns, strict=True)]
    return support_counts(columns, np.concatenate((counts, new[-1])) if len(counts) else new[-1])


def aggregated(rule: NormalRule, relations: Relations, context: Context) -> Columns:
    """The head rows of a rule with aggregates, sorted."""
    shape = AggregateShape.of(rule)
    # No repetition changes an extreme: the search may stop at the first proof of a value.
    count = any(call.function not in EXTREMES for call in shape.calls)
    make = running_totals(shape, context) if totalled(shape) else None
    query = BodyQuery(
        rule,
        shape.needed,
        relations,
        context,
        count=count,
        make=make,
        width=shape.width,
        least=True,
    )
    assignments = satisfying(query)
    if make is not None:
        return _of_totals(assignments.gathered.totals(), shape, context)
    found = [_aggregated(shape, columns, counts, context) for columns, counts in assignments.each()]
    if len(found) == 1:
        return found[0]
    return (
        sort_rows([np.concatenate(columns) for columns in zip(*found, strict=True)])
        if found
        else no_rows(len(rule.head))
    )


def _of_totals(totals: GroupTotals, shape: AggregateShape, context: Context) -> Columns:
    """The head rows of groups, sorted."""
    groups = list(totals.groups)
    name = partial(shape.name, groups, context.resources.dictionary)
    return shape.head_rows(groups, results(totals, shape, name))


def _aggregated(
    shape: AggregateShape, columns: Columns, counts: np.ndarray, context: Context
) -> Columns:
    """The head rows of some groups, sorted. `columns`: those of the needed variables."""
    calls = [
        AggregateCall(call.function, [columns[arg] for arg in call.args], call.types, call.result)
        for call in shape.calls
    ]
    groups, results = aggregate(
        [columns[place] for place in shape.group],
        calls,
        counts,
        context.resources.dictionary,
        context.resources.user_aggregates,
        group_types=[shape.types[place] for place in shape.group],
    )
    distinct = [groups[shape.group.index(place)] for place in range(shape.width)]
    return shape.head_rows(distinct, results)
