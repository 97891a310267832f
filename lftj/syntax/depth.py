# SPDX-License-Identifier: Apache-2.0
"""The nodes of a tree, and a bound on nesting, so that every later pass may recurse over a tree
without fear of the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lftj.errors import LftjError, ParseError
from lftj.syntax import tree

MAX_DEPTH = 100
"""Levels of nodes inside one clause; each pair of parentheses round a disjunction takes two."""


def check_depth(clause: tree.Node) -> LftjError | None:
    """An error when `clause` is nested deeper than MAX_DEPTH; O(size of the clause)."""
    level: list[tree.Node] = [clause]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in children(node)]
        if not level:
            return None
    hint = "split the rule: give inner parts a name with rules of their own"
    return ParseError(
        f"nested more than {MAX_DEPTH} levels deep", code="E102", span=level[0].span, hint=hint
    )


def below(node: tree.Node) -> Iterator[tree.Node]:
    """Yield a node and all nodes below it, in the order of the text. O(size)."""
    waiting: list[Any] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tree.Node):
            yield each
            waiting += reversed(vars(each).values())
        elif isinstance(each, tuple):
            waiting += reversed(each)  # pyright: ignore[reportUnknownArgumentType]


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A node, or a tuple of nodes, with other names for some variables, at any depth. O(size)."""
    if isinstance(node, tree.Variable):
        return replace(node, name=names.get(node.name, node.name))
    if isinstance(node, tuple):
        return tuple(renamed(each, names) for each in node)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(node, tree.Node) and not isinstance(node, tree.Constant):
        return replace(node, **{name: renamed(part, names) for name, part in vars(node).items()})
    return node


def children(node: tree.Node) -> tuple[tree.Node, ...]:
    """The nodes directly below `node`, in the order of the text."""
    match node:
        case tree.Variable() | tree.Wildcard() | tree.Constant() | tree.Truth():
            return ()
        case tree.Atom():
            return node.terms
        case tree.Conditional():
            return (*node.args, node.condition)
        case tree.Call() | tree.HeadAggregate():
            return node.args
        case tree.Comparison():
            return (node.left, node.right)
        case tree.Choice():
            return (*node.determining, *node.determined)
        case tree.Body():
            return node.literals
        case tree.Disjunction():
            return node.branches
        case tree.Negation():
            return (node.body,)
        case tree.Aggregate():
            return (*node.args, node.body)
        case tree.Rule():
            return (*node.heads, node.body)
        case _:
            return ()
