"""Stored state of views: support counts, heads, indices, and recursive strata with their
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
from lftj.maintenance.deletion.ranks import Ranks
from lftj.maintenance.deletion.supports import Supports, ranked_name, with_rank
from lftj.maintenance.deletion.trail import Trail
from lftj.maintenance.lattice.optimal_support import support_rule
from lftj.maintenance.rules.body import Body
from lftj.maintenance.rules.chosen_state import ChosenState
from lftj.maintenance.rules.extremes import extremes_of
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.maintenance.rules.shared_head import SharedHead
from lftj.maintenance.rules.view_states import ViewState
from lftj.maintenance.stored.stored_heads import (
    NotStoredError,
    Rule,
    number_of,
    shared_head_data,
    shared_head_of,
)
from lftj.maintenance.stored.stored_traces import trace_data, trace_of
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

_ANY_WIDTH = 1 << 30
"""A stored rule that aggregates without a head is read off a key order, however wide it is."""

_COST = ("work", "steps", "alone", "used", "failures", "spent", "changes")


class ViewWriter:
    """Makes data of states, rules by their number. `heads`: what rules keep together, once each."""

    def __init__(self, rules: Sequence[Rule], trees: StoredTrees):
        self.heads: list[dict[str, Any]] = []
        self._rules, self._trees = rules, trees
        self._numbers: dict[int, int] = {}

    def view(self, state: ViewState) -> dict[str, Any]:
        """The state of a view, or of a recursive stratum, as data."""
        if isinstance(state, Uncounted):
            known = [state.failures, state.patience, state.work, state.steps, state.counting]
            return {"alone": known, "ranks": self._ranks(state.ranks)}
        if isinstance(state, StratumState):
            return self._stratum(state)
        assert isinstance(state, RelationState)
        support = None if state.support is None else self._trees.number(state.support.tree)
        chosen = (
            {"candidates": relation_data(state.candidates, self._trees)}
            if isinstance(state, ChosenState)
            else {}
        )
        return {"rules": [self._rule(each) for each in state.rules], "support": support, **chosen}

    def _ranks(self, ranks: Ranks | Trail | None) -> dict[str, Any] | None:
        if not isinstance(ranks, Ranks):
            return None  # the next evaluation leaves a trail again
        relations = {
            name: relation_data(ranked, self._trees) for name, ranked in ranks.relations.items()
        }
        return {"relations": relations, "height": ranks.height}

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

    def _rule(self, state: RuleState) -> dict[str, Any]:
        trace = None if state.own_trace is None else trace_data(state.own_trace, self._trees)
        head = None if state.head is None else self._head(state.head)
        return {
            "rule": number_of(state.rule, self._rules),
            "work": state.work,
            "trace": trace,
            "head": head,
        }

    def _head(self, head: SharedHead) -> int:
        if id(head) not in self._numbers:
            data = shared_head_data(head, self._rules, self._trees)
            self._numbers[id(head)] = len(self.heads)
            self.heads.append(data)
        return self._numbers[id(head)]


def views_data(
    states: Mapping[str, ViewState], rules: Sequence[Rule], trees: StoredTrees
) -> dict[str, Any]:
    """States of views as data, but for those that have no pages: such views are evaluated anew
    when their inputs change next. O(rules).
    """
    writer = ViewWriter(rules, trees)
    views = dict[str, Any]()
    for name, state in states.items():
        with suppress(NotStoredError):
            views[name] = writer.view(state)
    return {"views": views, "heads": writer.heads}


def views_of(
    data: Mapping[str, Any],
    relations: Relations,
    rules: Sequence[Rule],
    schemas: Mapping[str, RelationSchema],
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
) -> dict[str, ViewState]:
    """The states again. `verbs`: the aggregates of users by name. Raises LookupError or ValueError
    for what does not fit the program.
    """
    heads = [
        shared_head_of(each, rules, relations, dictionary, trees, verbs) for each in data["heads"]
    ]
    reader = ViewReader(relations, rules, schemas, heads, dictionary, trees)
    named = ((read_name(text), each) for text, each in data["views"].items())
    return {name: reader.view(name, each) for name, each in named}


@frozen
class ViewReader:
    """Makes states again from data. `relations` and `rules` are those of the part, `heads` what
    rules keep together.
    """

    relations: Relations
    rules: Sequence[Rule]
    schemas: Mapping[str, RelationSchema]
    heads: Sequence[SharedHead]
    dictionary: Dictionary
    trees: OpenedTrees

    def view(self, name: str, data: dict[str, Any]) -> ViewState:
        """The state of a view or stratum again. Raises LookupError or ValueError for what does not
        fit the program.
        """
        if "alone" in data:
            return Uncounted(*data["alone"], ranks=self._ranks(data.get("ranks")))
        if "stratum" in data:
            return self._stratum(data)
        support = None if data["support"] is None else SupportState(self.trees[data["support"]])
        rules = tuple(map(self._rule, data["rules"]))
        if "candidates" not in data:
            return RelationState(rules, support)
        candidates = relation_of(
            data["candidates"], replace(self.schemas[name], choice=()), self.trees
        )
        return ChosenState(rules, support, candidates)

    def _ranks(self, data: dict[str, Any] | None) -> Ranks | None:
        if data is None:
            return None
        schemas = {read_name(name): self.schemas[name] for name in data["relations"]}
        relations = {
            name: relation_of(
                data["relations"][name], with_rank(ranked_name(name), schema), self.trees
            )
            for name, schema in schemas.items()
        }
        rules = [rule for rule in self.rules if rule.relation in schemas]
        supports = Supports(schemas, [rule for rule in rules if isinstance(rule, NormalRule)])
        return Ranks(relations, supports, data["height"])

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
            for rule in self._normal(data["rules"])
        )
        return StratumState(
            schemas,
            relations,
            tuple(queries),
            lattices=best,
            **data["effort"],
            candidates=candidates,
        )

    def _iterated(self, schema: RelationSchema, orders: Sequence[Any]) -> IteratedRelation:
        trees = {tuple(order): self.trees[number] for order, number in orders}
        return IteratedRelation(iterated_schema(schema), self.trees.arena, trees)

    def _normal(self, numbers: Sequence[int]) -> list[NormalRule]:
        return [
            rule
            for rule in (self.rules[number] for number in numbers)
            if isinstance(rule, NormalRule)
        ]

    def _rule(self, data: dict[str, Any]) -> RuleState:
        rule = self.rules[data["rule"]]
        if not isinstance(rule, NormalRule):
            return RuleState(rule, None, work=data["work"])
        if data["head"] is not None:
            return RuleState.sharing(rule, self.heads[data["head"]])
        body, trace = Body(rule, extremes_of(rule, DEFAULT, _ANY_WIDTH)), None
        if data["trace"] is not None:
            trace = trace_of(data["trace"], body, self.relations, self.dictionary, self.trees)
        return RuleState(rule, body, data["work"], trace)
