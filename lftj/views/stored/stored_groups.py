# SPDX-License-Identifier: Apache-2.0
"""Stored state of group nodes: their groups, and the trees behind their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.float_sum import FloatTotals
from lftj.heads.kept import Kept
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.support_state import SupportState
from lftj.heads.text_order import TextOrder
from lftj.heads.unordered_extremes import UnorderedExtremes
from lftj.heads.user import UserAggregate
from lftj.heads.user_totals import Slots, UserTotals
from lftj.join.run.evaluate import Relations
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.scantree import Tree
from lftj.storage.durable.stored_trees import OpenedTrees, StoredTrees
from lftj.types.dictionary import Dictionary
from lftj.views.group_node import Group, GroupState
from lftj.views.join_node import JoinState
from lftj.views.stored.stored_traces import trace_data, trace_of

Rule = NormalRule | FunctorRule
_UNORDERED = "unordered"
"""Data of extremes whose rows nobody has in order."""


class NotStoredError(Exception):
    """A state has values of Python that are no words of pages."""


def group_data(state: GroupState, rules: Sequence[Rule], trees: StoredTrees) -> dict[str, Any]:
    """Data of the state of a group node."""
    trace = state.join.trace
    return {
        "members": [number_of(member.rule, rules) for member in state.group.members],
        "columns": _columns(state.group),
        "work": state.join.work,
        **aggregate_data(state.aggregate, trees),
        "trace": None if trace is None else trace_data(trace, trees),
    }


def aggregate_data(aggregate: AggregateState, trees: StoredTrees) -> dict[str, Any]:
    """Data of groups and of what is kept behind their functions."""
    order = aggregate.order
    return {
        "groups": trees.number(aggregate.groups),
        "kept": [_kept_data(kept, trees) for kept in aggregate.kept],
        "order": None
        if order is None
        else [trees.number(order.codes), trees.number(order.labels), order.epoch, order.last],
    }


def group_state_of(
    data: dict[str, Any],
    group: Group,
    relations: Relations,
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
) -> GroupState:
    """Restore the state of a group node. `verbs`: the aggregates of users by name. ValueError where
    rules would keep something else together now.
    """
    if _columns(group) != data["columns"]:
        raise ValueError("the columns of a group node are others now")
    aggregate = aggregate_of(data, group.shape, dictionary, trees, verbs)
    join = JoinState(group.join, data["work"])
    if data["trace"] is not None:
        join = join._replace(
            trace=trace_of(data["trace"], group.join, relations, dictionary, trees)
        )
    return GroupState(group, aggregate, join)


def aggregate_of(
    data: Mapping[str, Any],
    shape: AggregateShape,
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
) -> AggregateState:
    """Restore groups. Raises ValueError where they have other columns now."""
    empty = AggregateState.empty(
        trees.arena,
        shape,
        dictionary,
        verbs,
        ordered=_UNORDERED not in data["kept"],
    )
    kept = tuple(
        _kept_of(each, found, trees) for each, found in zip(empty.kept, data["kept"], strict=True)
    )
    order = None
    if data["order"] is not None:
        codes, labels, epoch, last = data["order"]
        order = TextOrder(dictionary, trees[codes], trees[labels], epoch, last)
    return replace(
        empty, groups=same_columns(trees[data["groups"]], empty.groups), kept=kept, order=order
    )


def _columns(group: Group) -> str:
    """Description of the columns of a group node's state, in their order."""
    rule = group.join.rule
    return repr((group.texts, list(group.calls), rule.atoms, rule.head))


def number_of(rule: Rule, rules: Sequence[Rule]) -> int:
    """The number of a rule among those of the part."""
    return next(number for number, known in enumerate(rules) if known is rule or known == rule)


def _kept_data(state: Kept, trees: StoredTrees) -> Any:
    if isinstance(state, FloatTotals):
        return trees.number(state.words)
    if isinstance(state, OrderedRows):
        return [trees.number(state.rows.tree), state.epoch]
    if isinstance(state, UnorderedExtremes):
        return _UNORDERED
    if isinstance(state, UserTotals):
        if state.aggregate.words is None:
            raise NotStoredError(state.aggregate.name)
        slots, count = state.slots.in_tree(state.tree.arena, state.aggregate.words or ())
        return [trees.number(state.tree), trees.number(slots), count]
    return None


def _kept_of(empty: Kept, data: Any, trees: OpenedTrees) -> Kept:
    if isinstance(empty, FloatTotals):
        return FloatTotals(empty.arg, same_columns(trees[data], empty.words))
    if isinstance(empty, OrderedRows):
        number, epoch = data
        return replace(
            empty, rows=SupportState(same_columns(trees[number], empty.rows.tree)), epoch=epoch
        )
    if isinstance(empty, UserTotals):
        number, slots, count = data
        return replace(
            empty,
            tree=same_columns(trees[number], empty.tree),
            slots=Slots(trees[slots], count, empty.aggregate.words or ()),
        )
    return empty


def same_columns(tree: Tree, like: Tree) -> Tree:
    """A tree that was opened. Raises ValueError where it is not like another one."""
    if (tree.key_width, tree.value_width, tuple(tree.aggregates)) != (
        like.key_width,
        like.value_width,
        tuple(like.aggregates),
    ):
        raise ValueError(f"{tree!r} where {like!r} was expected")
    return tree
