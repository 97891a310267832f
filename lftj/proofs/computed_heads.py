# SPDX-License-Identifier: Apache-2.0
"""Heads that compute something of aggregates, `v(g, sum(a) / count())`: for each group the values
of the aggregates, then the terms of the head with these in their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lftj.proofs.aggregates import UserFold
from lftj.proofs.kinds import Value, held, kind_of
from lftj.proofs.nested_loops import BodyPlan
from lftj.syntax import tree
from lftj.syntax.conditionals import without_conditionals

Row = tuple[Value, ...]


def aggregates_below(node: object) -> list[tree.HeadAggregate]:
    """The aggregates of a term, outermost only, each once, in the order of the text."""
    if isinstance(node, tree.HeadAggregate):
        return [node]
    if isinstance(node, tree.Conditional):
        node = (node.condition, node.args)
    parts = node if isinstance(node, tuple) else tuple(_parts(node))
    found = {str(each): each for part in parts for each in aggregates_below(part)}  # pyright: ignore[reportUnknownVariableType]
    return list(found.values())


def _parts(node: object) -> list[object]:
    plain = isinstance(node, tree.Node) and not isinstance(node, tree.Constant)
    return list(vars(node).values()) if plain else []


def is_computed(head: tree.Atom) -> bool:
    """Test for a head in which an aggregate stands inside a term."""
    return any(
        not isinstance(term, tree.HeadAggregate) and aggregates_below(term) for term in head.terms
    )


def aggregates_of_head(head: tree.Atom) -> list[tree.HeadAggregate]:
    """The aggregates that a step of this head tells of: one of each column, or of a head that
    computes something of them each once.
    """
    if is_computed(head):
        return aggregates_below(head.terms)
    return [term for term in head.terms if isinstance(term, tree.HeadAggregate)]


class ComputedHead:
    """The terms of a head under the values of its aggregates. What they have of the columns
    without aggregates, which tell the groups, has the value of the group.
    """

    def __init__(
        self, head: tree.Atom, facts: Mapping[str, set[Row]], users: Mapping[str, UserFold]
    ):
        self.aggregates = aggregates_below(head.terms)
        self._names: dict[str, str] = {}
        self._keys: list[str] = []
        for place, term in enumerate(head.terms):
            if not aggregates_below(term):
                self._keys.append(f"#key{place}")
                if not isinstance(term, tree.Constant):
                    self._names.setdefault(str(term), self._keys[-1])
        self._values = [f"#agg{place}" for place in range(len(self.aggregates))]
        for name, each in zip(self._values, self.aggregates, strict=True):
            self._names[str(each)] = name
        self._columns = [f"#head{place}" for place in range(len(head.terms))]
        keys = iter(self._keys)
        terms = tuple(
            self._read(term) if aggregates_below(term) else tree.Variable(next(keys))
            for term in head.terms
        )
        rule = without_conditionals(tree.Rule((tree.Atom(head.relation, terms),), tree.Body(())))
        extra = [
            tree.Comparison("=", tree.Variable(name), term)
            for name, term in zip(self._columns, rule.heads[0].terms, strict=True)
        ]
        given = frozenset([*self._keys, *self._values])
        body = tree.Body((*rule.body.literals, *extra))
        self._plan = BodyPlan(body, facts, users, given, given)

    def rows(self, key: Row, values: Sequence[Value]) -> list[Row]:
        """The row for the group of this key with these values of its aggregates."""
        kept = [held(each, kind_of(of)) for each, of in zip(values, self.aggregates, strict=True)]
        env = dict(zip(self._keys, key, strict=True))
        env |= dict(zip(self._values, kept, strict=True))
        return [tuple(each[name] for name in self._columns) for each in self._plan.solve(env)]

    def _read(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._read(each) for each in node)  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, tree.Node) or isinstance(node, tree.Constant):
            return node
        term = isinstance(node, tree.Variable | tree.Call | tree.Aggregate | tree.HeadAggregate)
        if term and str(node) in self._names:
            return tree.Variable(self._names[str(node)])
        return replace(node, **{name: self._read(part) for name, part in vars(node).items()})
