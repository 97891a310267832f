"""Stored state of aggregated heads: their groups, and the trees behind their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from lftj.maintenance.rules.shared_head import Member, SharedBody, SharedHead
from lftj.maintenance.stored.stored_traces import trace_data, trace_of
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.scantree import Tree
from lftj.storage.durable.stored_trees import OpenedTrees, StoredTrees
from lftj.types.dictionary import Dictionary

Rule = NormalRule | FunctorRule
_UNORDERED = "unordered"
"""Data of extremes whose rows nobody has in order."""


class NotStoredError(Exception):
    """A state has values of Python that are no words of pages."""


def shared_head_data(head: SharedHead, rules: Sequence[Rule], trees: StoredTrees) -> dict[str, Any]:
    """Data of the state that rules share."""
    state, order = head.aggregate, head.aggregate.order
    return {
        "members": [number_of(member.rule, rules) for member in head.shared.members],
        "columns": _columns(head.shared),
        "work": head.work,
        "groups": trees.number(state.groups),
        "kept": [_kept_data(kept, trees) for kept in state.kept],
        "order": None
        if order is None
        else [trees.number(order.codes), trees.number(order.labels), order.epoch, order.last],
        "trace": None if head.trace is None else trace_data(head.trace, trees),
    }


def shared_head_of(
    data: dict[str, Any],
    rules: Sequence[Rule],
    relations: Relations,
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
) -> SharedHead:
    """Restore a shared head. `verbs`: the aggregates of users by name. ValueError where rules would
    keep something else together now.
    """
    members = [
        rule
        for rule in (rules[number] for number in data["members"])
        if isinstance(rule, NormalRule)
    ]
    shared = SharedBody(list(map(Member.of, members)))
    if _columns(shared) != data["columns"]:
        raise ValueError("the columns of a shared head are others now")
    empty = AggregateState.empty(
        trees.arena,
        shared.body.shape,
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
    aggregate = replace(
        empty, groups=_same_columns(trees[data["groups"]], empty.groups), kept=kept, order=order
    )
    trace = (
        None
        if data["trace"] is None
        else trace_of(data["trace"], shared.body, relations, dictionary, trees)
    )
    return SharedHead(shared, aggregate, data["work"], trace)


def _columns(shared: SharedBody) -> str:
    """Description of the columns of a shared body's state, in their order."""
    return repr((shared.texts(), list(shared.calls), shared.body.rule.atoms, shared.body.rule.head))


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
        return FloatTotals(empty.arg, _same_columns(trees[data], empty.words))
    if isinstance(empty, OrderedRows):
        number, epoch = data
        return replace(
            empty, rows=SupportState(_same_columns(trees[number], empty.rows.tree)), epoch=epoch
        )
    if isinstance(empty, UserTotals):
        number, slots, count = data
        return replace(
            empty,
            tree=_same_columns(trees[number], empty.tree),
            slots=Slots(trees[slots], count, empty.aggregate.words or ()),
        )
    return empty


def _same_columns(tree: Tree, like: Tree) -> Tree:
    if (tree.key_width, tree.value_width) != (like.key_width, like.value_width):
        raise ValueError(f"{tree!r} where {like!r} was expected")
    return tree
