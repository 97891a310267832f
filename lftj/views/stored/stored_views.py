# SPDX-License-Identifier: Apache-2.0
"""Stored states of nodes: support counts, groups, indices, and recursive strata with their
iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from lftj.heads.support_state import SupportState
from lftj.heads.user import UserAggregate
from lftj.join.run.evaluate import Relations
from lftj.maintenance.counting.choice_update import Candidates
from lftj.maintenance.counting.iterated_relation import IteratedRelation, iterated_schema
from lftj.maintenance.counting.rule_queries import RuleQueries
from lftj.maintenance.counting.stratum_state import StratumState, Uncounted
from lftj.maintenance.lattice.optimal_support import support_rule
from lftj.program.monotone import Lattice
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.scantree.frozen import frozen
from lftj.storage.durable.stored_trees import (
    OpenedTrees,
    StoredTrees,
    relation_data,
    relation_of,
)
from lftj.tuning import DEFAULT
from lftj.types.dictionary import Dictionary
from lftj.types.sources import read_name
from lftj.views.arms import Arm, GroupArm, JoinArm
from lftj.views.graph import NO_VIEWS, Apart, GraphChange, reader_of
from lftj.views.group_node import GroupState
from lftj.views.join_node import JoinState
from lftj.views.levels_state import LevelsState
from lftj.views.run import NodeState
from lftj.views.states import ViewStates
from lftj.views.stored.stored_groups import (
    NotStoredError,
    Rule,
    group_data,
    group_state_of,
    number_of,
)
from lftj.views.stored.stored_levels import levels_data, levels_of
from lftj.views.stored.stored_traces import trace_data, trace_of
from lftj.views.union_node import UnionState

_ANY_WIDTH = 1 << 30
"""A stored rule that aggregates without a head is read off a key order, however wide it is."""

_COST = ("work", "steps", "spent", "changes", "least")


class ViewWriter:
    """Makes data of states, rules by their number. `groups`: the states of group nodes, once
    each.
    """

    def __init__(self, states: ViewStates, rules: Sequence[Rule], trees: StoredTrees):
        self.groups: list[dict[str, Any]] = []
        self._states, self._rules, self._trees = states, rules, trees
        self._numbers: dict[str, int] = {}

    def view(self, state: NodeState) -> dict[str, Any]:
        """The state of a union, or of a recursive stratum, as data."""
        if isinstance(state, Uncounted):
            return {"rows": [state.work, state.steps]}
        if isinstance(state, LevelsState):
            return {"summed": levels_data(state, self._rules, self._trees)}
        if isinstance(state, StratumState):
            return self._stratum(state)
        assert isinstance(state, UnionState)
        support = None if state.support is None else self._trees.number(state.support.tree)
        chosen = (
            {"candidates": relation_data(state.candidates, self._trees)}
            if state.candidates is not None
            else {}
        )
        return {"rules": [self._arm(each) for each in state.arms], "support": support, **chosen}

    def _stratum(self, state: StratumState) -> dict[str, Any]:
        relations = {name: self._orders(relation) for name, relation in state.relations.items()}
        candidates = {
            name: [self._orders(kept.rows), self._trees.number(kept.ranking)]
            for name, kept in state.candidates.items()
        }
        cost = {name: getattr(state, name) for name in _COST}
        best = {
            name: [lattice.column, lattice.function] for name, lattice in state.lattices.items()
        }
        kept_as = [
            rule if isinstance(rule, FunctorRule) else support_rule(rule, state.lattices)
            for rule in self._rules
        ]
        rules = [number_of(each.rule, kept_as) for each in state.rules]
        return {
            "stratum": relations,
            "candidates": candidates,
            "rules": rules,
            "effort": cost,
            "best": best,
        }

    def _orders(self, relation: IteratedRelation) -> list[Any]:
        return [
            [list(order), self._trees.number(relation.tree(order))] for order in relation.orders()
        ]

    def _arm(self, arm: Arm) -> dict[str, Any]:
        """An arm with what its node keeps."""
        data = {"rule": number_of(arm.rule, self._rules), "work": 0, "trace": None, "head": None}
        if isinstance(arm, GroupArm):
            data["head"] = self._group(arm.group_key)
        elif isinstance(arm, JoinArm):
            state = self._states[arm.key]
            assert isinstance(state, JoinState)
            data["work"] = state.work
            data["trace"] = None if state.trace is None else trace_data(state.trace, self._trees)
        return data

    def _group(self, key: str) -> int:
        """The number of a group node's state."""
        if key not in self._numbers:
            state = self._states[key]
            assert isinstance(state, GroupState)
            data = group_data(state, self._rules, self._trees)
            self._numbers[key] = len(self.groups)
            self.groups.append(data)
        return self._numbers[key]


def views_data(states: ViewStates, rules: Sequence[Rule], trees: StoredTrees) -> dict[str, Any]:
    """States of views as data, but for those that have no pages: such views are evaluated anew
    when their inputs change next. O(rules).
    """
    writer = ViewWriter(states, rules, trees)
    views = dict[str, Any]()
    for name, state in states.items():
        if not isinstance(state, GroupState | JoinState):
            with suppress(NotStoredError):
                views[name] = writer.view(state)
    return {"views": views, "heads": writer.groups}


def views_of(
    data: Mapping[str, Any],
    relations: Relations,
    rules: Sequence[Rule],
    schemas: Mapping[str, RelationSchema],
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
    apart: Apart,
) -> ViewStates:
    """The states again, with their graph. `verbs`: the aggregates of users by name; `apart` as in
    `lftj.views.graph`. Raises LookupError or ValueError for what does not fit the program.
    """
    reader = ViewReader(relations, rules, schemas, dictionary, trees, verbs)
    named = {read_name(text): each for text, each in data["views"].items()}
    grouped = {number for each in data["heads"] for number in each["members"]}
    ids = {id(rules[number]) for number in grouped}
    change = GraphChange(
        NO_VIEWS,
        lambda rule: None if id(rule) in ids else reader_of(rule, DEFAULT, wide=_ANY_WIDTH),
        apart,
    )
    keys = [change.share(reader.normal(each["members"])) for each in data["heads"]]
    for name, each in named.items():
        if "support" in each:
            made = tuple(rules[arm["rule"]] for arm in each["rules"])
            change.derive(schemas[name], made)
    graph = change.done()
    states = dict[str, NodeState]()
    for key, each in zip(keys, data["heads"], strict=True):
        states[key] = group_state_of(each, graph.groups[key], relations, dictionary, trees, verbs)
    for name, each in named.items():
        if "support" not in each:
            states[name] = reader.stratum(each)
            continue
        arms = graph.unions[name].arms
        states[name] = reader.union(name, each, arms)
        for arm, known in zip(arms, each["rules"], strict=True):
            if isinstance(arm, JoinArm):
                states[arm.key] = reader.join(arm, known)
    return ViewStates(graph, states)


@frozen
class ViewReader:
    """Makes states again from data. `relations` and `rules` are those of the part."""

    relations: Relations
    rules: Sequence[Rule]
    schemas: Mapping[str, RelationSchema]
    dictionary: Dictionary
    trees: OpenedTrees
    verbs: Mapping[str, UserAggregate]

    def union(self, name: str, data: dict[str, Any], arms: tuple[Arm, ...]) -> UnionState:
        """The state of a union."""
        support = None if data["support"] is None else SupportState(self.trees[data["support"]])
        if "candidates" not in data:
            return UnionState(arms, support)
        schema = replace(self.schemas[name], choice=())
        return UnionState(arms, support, relation_of(data["candidates"], schema, self.trees))

    def join(self, arm: JoinArm, data: dict[str, Any]) -> JoinState:
        """The state of a join."""
        trace = None
        if data["trace"] is not None:
            trace = trace_of(data["trace"], arm.join, self.relations, self.dictionary, self.trees)
        return JoinState(arm.join, data["work"], trace)

    def stratum(self, data: dict[str, Any]) -> NodeState:
        """The state of a recursive stratum."""
        if "rows" in data:
            return Uncounted(*data["rows"])
        if "summed" in data:
            rules = tuple(self.normal(data["summed"]["rules"]))
            return levels_of(
                data["summed"], rules, self.schemas, self.dictionary, self.trees, self.verbs
            )
        return self._stratum(data)

    def _stratum(self, data: dict[str, Any]) -> StratumState:
        schemas = {read_name(name): self.schemas[name] for name in data["stratum"]}
        relations = {
            name: self._iterated(schema, data["stratum"][name]) for name, schema in schemas.items()
        }
        candidates = {
            read_name(name): Candidates(self._iterated(schemas[name], orders), self.trees[ranking])
            for name, (orders, ranking) in data["candidates"].items()
        }
        best = {
            read_name(name): Lattice(column, function)
            for name, (column, function) in data["best"].items()
        }
        queries = (
            RuleQueries(support_rule(rule, best), frozenset(schemas))
            for rule in self.normal(data["rules"])
        )
        return StratumState(
            schemas,
            relations,
            tuple(queries),
            lattices=best,
            **{name: data["effort"][name] for name in _COST},
            candidates=candidates,
        )

    def _iterated(self, schema: RelationSchema, orders: Sequence[Any]) -> IteratedRelation:
        trees = {tuple(order): self.trees[number] for order, number in orders}
        return IteratedRelation(iterated_schema(schema), self.trees.arena, trees)

    def normal(self, numbers: Sequence[int]) -> list[NormalRule]:
        """The conjunctive ones of the rules with these numbers."""
        return [
            rule
            for rule in (self.rules[number] for number in numbers)
            if isinstance(rule, NormalRule)
        ]
