# SPDX-License-Identifier: Apache-2.0
"""Choice: what a choice domain lets through of the candidates that a union finds, outside
recursion, followed like `min`: a change of candidates touches only its groups.

Of the candidates with the same value of the domain the least is chosen (`heads.choice`), so groups
do not depend on one another. The state has the candidates with their support, like the rows of any
view. A new candidate is compared with the chosen row. Only if the chosen row is deleted are other
candidates of its group looked at: the first of a key order that begins with the domain, or all of
them if other columns are strings, whose codes do not order as the strings do. With several domains
a choice in one group affects other groups, and all is chosen anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lftj.heads.choice import choose
from lftj.heads.support_state import SupportState
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, after_prefix
from lftj.scantree.rows import contains, difference, sort_rows
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import Order, RelationVersion
from lftj.types.dictionary import Dictionary
from lftj.views.union_node import UnionState


def with_candidates(
    schema: RelationSchema, rows: Columns, state: UnionState, arena: Arena
) -> UnionState:
    """The state of these candidates, sorted and distinct, which a union derived with `state`.
    O(n).
    """
    support = state.support
    if support is None:
        support = SupportState.build(arena, rows, np.ones(len(rows[0]), np.int64))
    identity: Order = tuple(range(len(rows)))
    trees = {identity: support.tree.without_values()}
    candidates = RelationVersion(replace(schema, choice=()), arena, trees)
    return UnionState(state.arms, support, candidates)


def with_change(state: UnionState, delta: Delta) -> tuple[UnionState, RelationVersion]:
    """The state once an update gave the union this support and this net change of the candidates,
    and these. O(δ log n).
    """
    assert state.support is not None
    assert state.candidates is not None
    known = {tuple(range(len(delta.inserts))): state.support.tree.without_values()}
    candidates = state.candidates.apply(delta, known)
    return UnionState(state.arms, state.support, candidates), candidates


def one_domain(schema: RelationSchema) -> bool:
    """Test for a relation whose choice among candidates can be maintained group by group."""
    return len(schema.choice) == 1


def change_of_choice(
    schema: RelationSchema,
    chosen: RelationVersion,
    candidates: RelationVersion,
    delta: Delta,
    dictionary: Dictionary,
) -> Delta:
    """The net change of the rows chosen, `chosen` before, when candidates change by `delta`, to
    `candidates`.

    O(δ log n), and the candidates of a group that loses its row where strings are among its
    columns.
    """
    domain = schema.choice[0]
    order: Order = (*domain, *(column for column in range(schema.arity) if column not in domain))
    every = [np.concatenate(pair) for pair in zip(delta.inserts, delta.erases, strict=True)]
    before = _first_rows(chosen, order, _groups(every, domain))
    lost = contains(before, delta.erases)
    left = [column[~lost] for column in before]
    opened = _groups([column[lost] for column in before], domain)
    by_code = all(schema.columns[column][1].name != "str" for column in order[len(domain) :])
    others = (
        _first_rows(candidates, order, opened) if by_code else _all_rows(candidates, order, opened)
    )
    after = choose(
        schema,
        sort_rows(
            [np.concatenate(pieces) for pieces in zip(left, delta.inserts, others, strict=True)]
        ),
        dictionary,
    )
    return Delta(difference(after, before), difference(before, after))


def _groups(rows: Columns, domain: Order) -> np.ndarray:
    """The groups of these rows: a matrix of their leading columns in a key order that begins with
    the domain.
    """
    if not domain:
        return np.empty((0, min(1, len(rows[0]))), np.int64)
    return np.array(sort_rows([rows[column] for column in domain]))


def _first_rows(relation: RelationVersion, order: Order, groups: np.ndarray) -> Columns:
    """The first row in a key order of each group that has one; sorted."""
    found, columns, _ = relation.tree(order).edge_rows(groups)
    return sort_rows([columns[order.index(column)][found] for column in range(len(order))])


def _all_rows(relation: RelationVersion, order: Order, groups: np.ndarray) -> Columns:
    """All rows of the groups."""
    tree = relation.tree(order)
    pieces = [tree.range(group, after_prefix(group)) for group in groups.T.tolist()]
    return [
        np.concatenate([np.empty(0, np.int64), *(piece[order.index(column)] for piece in pieces)])
        for column in range(len(order))
    ]
