"""Workspaces made from random programs, and what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import lftj
from lftj.syntax import tree
from tests.oracle.pair import declare
from tests.strategies.programs import Program
from tests.strategies.schemas import BASES, Row

Facts = Mapping[str, Iterable[Row]]


def declared(program: Program, **options: Any) -> Any:
    """A workspace with the program's relations and no rows; `options` are those of
    `lftj.connect`.
    """
    workspace = lftj.connect(**options)
    for spec in (*BASES, *program.specs):
        declare(workspace, spec)
    return workspace


def workspace_with(program: Program, facts: Facts, rules: Iterable[tree.Rule] | None = None) -> Any:
    """A workspace with the program's rules (or these instead), then the facts, all in one
    transaction each.
    """
    workspace = declared(program)
    with workspace.transaction() as transaction:
        for rule in program.rules if rules is None else rules:
            transaction.add_rule(rule)
    insert(workspace, facts)
    return workspace


def insert(workspace: Any, facts: Facts) -> Any:
    """Insert all the facts in one transaction, and give it back for its changes."""
    with workspace.transaction() as transaction:
        for name, rows in facts.items():
            transaction.insert(name, list(rows))
    return transaction


def contents(source: Any, program: Program) -> dict[str, set[Row]]:
    """The rows of every relation; asserts that none comes twice."""
    shown = {}
    for spec in (*BASES, *program.specs):
        rows = source[spec.name].fetchall()
        shown[spec.name] = set(rows)
        assert len(rows) == len(shown[spec.name]), spec.name
    return shown
