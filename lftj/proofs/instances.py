# SPDX-License-Identifier: Apache-2.0
"""Literals with values in place of variables, and values as rule text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from lftj.proofs.kinds import Value
from lftj.proofs.nested_loops import direct, mentioned
from lftj.syntax import tree

Kind = TypeVar("Kind", bound=tree.Node)


def value_text(value: Value) -> str:
    """A value as a constant of a rule."""
    return str(tree.Constant(value))


def atom_text(relation: str, row: tuple[Value, ...]) -> str:
    """A row as an atom."""
    return f"{relation}({', '.join(map(value_text, row))})"


def instance(node: Kind, env: Mapping[str, Value]) -> Kind:
    """The node with constants in place of the variables of `env`. Names that an aggregate has for
    itself stay.
    """
    return _of(node, env)


def _of(node: Any, env: Mapping[str, Value]) -> Any:
    if isinstance(node, tree.Variable):
        return tree.Constant(env[node.name]) if node.name in env else node
    if isinstance(node, tuple):
        return tuple(_of(each, env) for each in node)
    if not isinstance(node, tree.Node) or isinstance(node, tree.Constant):
        return node
    if isinstance(node, tree.Aggregate):
        own = own_names(node)
        env = {name: value for name, value in env.items() if name not in own}
    parts = {name: _of(part, env) for name, part in vars(node).items() if name != "span"}
    return replace(node, **parts)


def own_names(aggregate: tree.Aggregate) -> frozenset[str]:
    """Names that mean variables of the aggregate alone: those of its body that are aggregated."""
    return direct(aggregate.body.literals) & mentioned(aggregate.args)


def aggregates_of(node: object) -> list[tree.Aggregate]:
    """The aggregates of a comparison or term, outermost only, from left to right."""
    if isinstance(node, tree.Aggregate):
        return [node]
    if isinstance(node, tuple):
        return [found for each in node for found in aggregates_of(each)]
    if isinstance(node, tree.Comparison):
        return aggregates_of((node.left, node.right))
    if isinstance(node, tree.Atom):
        return aggregates_of(node.terms)
    return aggregates_of(node.args) if isinstance(node, tree.Call) else []


def with_values(node: Kind, values: list[Value]) -> Kind:
    """The node with constants in place of its aggregates, from left to right."""
    return _with(node, iter(values)) if values else node


def _with(node: Any, values: Iterator[Value]) -> Any:
    match node:
        case tree.Aggregate():
            return tree.Constant(next(values))
        case tuple():
            return tuple(_with(each, values) for each in node)
        case tree.Comparison(left=left, right=right):
            return replace(node, left=_with(left, values), right=_with(right, values))
        case tree.Atom(args=args, value=value):
            return replace(node, args=_with(args, values), value=_with(value, values))
        case tree.Call(args=args):
            return replace(node, args=_with(args, values))
    return node
