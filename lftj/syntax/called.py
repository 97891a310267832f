# SPDX-License-Identifier: Apache-2.0
"""Calls of users' functions in a tree: the parser does not know their names, so it reads `slug(x)`
as an aggregate of a head, and `is_odd(x)` among conditions as an atom.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from lftj.syntax import tree


def with_calls(rule: tree.Rule, functions: Container[str]) -> tree.Rule:
    """A rule in which the calls of these functions are calls; an atom is the condition that the
    function gives true. O(size).
    """
    heads = tuple(_terms_changed(head, functions) for head in rule.heads)
    body = _changed(rule.body, functions)
    if body is rule.body and all(map(_same, heads, rule.heads)):
        return rule
    return replace(rule, heads=heads, body=body)


def _same(one: object, other: object) -> bool:
    return one is other


def _terms_changed(node: tree.Node, functions: Container[str]) -> Any:
    """A node whose parts are changed, and not itself."""
    parts = {
        name: made
        for name, part in vars(node).items()
        if isinstance(part, tuple | tree.Node) and (made := _changed(part, functions)) is not part
    }
    return replace(node, **parts) if parts else node


def _changed(node: Any, functions: Container[str]) -> Any:
    if isinstance(node, tuple):
        made = tuple(_changed(each, functions) for each in node)  # pyright: ignore[reportUnknownVariableType]
        return node if all(map(_same, made, node)) else made  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if not isinstance(node, tree.Node):
        return node
    found = _terms_changed(node, functions)
    match found:
        case tree.HeadAggregate(function, args) if function in functions:
            return tree.Call(function, args, span=found.span)
        case tree.Atom(relation, args, None) if relation in functions:
            call = tree.Call(relation, args, span=found.span)
            return tree.Comparison("=", call, tree.Constant(True, span=found.span), span=found.span)
    return found
