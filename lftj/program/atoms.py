# SPDX-License-Identifier: Apache-2.0
"""Atoms of rules, at any depth: all of them, and rules in which others stand in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from lftj.syntax import below, tree

Change = Callable[[tree.Atom], tree.Atom]


def atoms_of(node: tree.Node) -> Iterator[tree.Atom]:
    """All atoms in a node. O(size)."""
    return (each for each in below(node) if isinstance(each, tree.Atom))


def with_atoms(rule: tree.Rule, change: Change) -> tree.Rule:
    """A rule in which each atom is replaced by another one. O(size)."""
    return _with_atoms(rule, change)


def _with_atoms(node: Any, change: Change) -> Any:
    if isinstance(node, tuple):
        return tuple(_with_atoms(each, change) for each in node)  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, tree.Node):
        return node
    parts = {
        name: made
        for name, part in vars(node).items()
        if isinstance(part, tuple | tree.Node) and (made := _with_atoms(part, change)) != part
    }
    found = replace(node, **parts) if parts else node
    return change(found) if isinstance(found, tree.Atom) else found
