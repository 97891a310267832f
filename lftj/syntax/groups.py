# SPDX-License-Identifier: Apache-2.0
"""Aggregates in the terms of a head: `v(g, sum(a) / count())` computes a value of each group."""

from __future__ import annotations

from collections.abc import Iterator

from lftj.syntax import tree
from lftj.syntax.depth import children


def aggregates_in(node: tree.Node) -> Iterator[tree.HeadAggregate]:
    """The aggregates of a term of a head, outermost only, in the order of the text. O(size)."""
    if isinstance(node, tree.HeadAggregate):
        yield node
        return
    parts = children(node)
    if isinstance(node, tree.Conditional):
        parts = (node.condition, *node.args)
    for each in parts:
        yield from aggregates_in(each)


def has_aggregates(node: tree.Node) -> bool:
    """Test for an aggregate of a head, at any depth. O(size)."""
    return next(aggregates_in(node), None) is not None


def computes_of_groups(head: tree.Atom) -> bool:
    """Test for a head in which an aggregate is not a whole argument. O(size)."""
    return any(isinstance(term, tree.Call) and has_aggregates(term) for term in head.terms)


def aggregates_of_head(head: tree.Atom) -> list[tree.HeadAggregate]:
    """The aggregates whose groups a head has: of each of its columns, or all that it computes
    something of, each once. O(size).
    """
    if computes_of_groups(head):
        return list(dict.fromkeys(each for term in head.terms for each in aggregates_in(term)))
    return [term for term in head.terms if isinstance(term, tree.HeadAggregate)]
