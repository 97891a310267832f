"""A workspace and its model side by side: every step goes to both, and everything a user can see is
compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import lftj
from lftj.errors import KeyViolationError, ValueRangeError
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.oracle.model import Model, Relations, difference
from tests.strategies.histories import (
    AddRule,
    Change,
    History,
    RemoveRule,
    Step,
    TakeSnapshot,
    Transact,
)
from tests.strategies.schemas import BASES, Row, Spec


def rule_of(text: str) -> tree.Rule:
    """The rule that a text is."""
    (rule,) = parse(text).clauses
    assert isinstance(rule, tree.Rule)
    return rule


class RolledBack(Exception):
    """Raised inside a transaction to end it."""


def typed(rows: Iterable[Row]) -> set[tuple[tuple[str, object], ...]]:
    """Rows with the types of their values, since True == 1 == 1.0 in Python. Asserts that no row
    comes twice.
    """
    listed = [tuple((type(value).__name__, value) for value in row) for row in rows]
    assert len(set(listed)) == len(listed), f"a row twice in {listed}"
    return set(listed)


def declare(workspace: Any, spec: Spec) -> None:
    """Declare a relation in a workspace."""
    if spec.functional or spec.declaration.choice:
        workspace.add_rules(str(spec.declaration))
    else:
        workspace.relation(
            spec.name,
            spec.columns,
            key=[f"c{place}" for place in spec.key] if spec.key is not None else None,
        )


class Pair:
    """`step` does one step on both and compares; `check` compares all relations and all
    snapshots.
    """

    def __init__(self, specs: Iterable[Spec], workspace: Any = None):
        specs = list(specs)
        self.workspace = lftj.connect() if workspace is None else workspace
        self.model = Model(specs)
        # in one commit, since each takes long over parts
        self.workspace.add_rules("\n".join(str(spec.declaration) for spec in specs))
        self.handles: list[Any] = []
        self.snapshots: list[tuple[Any, Relations]] = []
        self.check()

    def step(self, step: Step) -> None:
        """Do one step on both and compare everything."""
        if isinstance(step, TakeSnapshot):
            self.snapshots.append((self.workspace.snapshot(), self.model.relations))
            return
        before = self.model.relations
        works = self.model.take(step)
        if works and not step.rollback:
            self._commit(step, before)
        else:
            handles = list(self.handles)
            with pytest.raises(RolledBack if works else (KeyViolationError, ValueRangeError)):
                self._commit(step, before)
            self.handles = handles
        self.check()

    def _commit(self, step: Transact, before: Relations) -> None:
        with self.workspace.transaction() as transaction:
            for action in step.actions:
                self._act(transaction, action)
            if step.rollback:
                raise RolledBack
        for name, rows in self.model.relations.items():
            reported = transaction.changes(name).fetchall()
            expected = difference(before[name], rows)
            assert len(reported) == len(expected), f"{name}: {reported}, expected {expected}"
            assert {(tuple(row[:-2]), row[-2]) for row in reported} == expected, name
            assert {row[-1] for row in reported} <= {transaction.version}, name

    def _act(self, transaction: Any, action: Change | AddRule | RemoveRule) -> None:
        match action:
            case AddRule(rule=rule):
                self.handles.append(transaction.add_rule(rule))
            case RemoveRule(place=place) if self.handles:
                transaction.remove_rule(self.handles.pop(place % len(self.handles)))
            case Change(verb=verb, relation=relation, rows=rows):
                getattr(transaction, verb)(relation, list(rows))

    def check(self) -> None:
        """All relations, and all snapshots as they were when taken."""
        self._equal(self.workspace, self.model.relations)
        for snapshot, relations in self.snapshots:
            self._equal(snapshot, relations)

    @staticmethod
    def _equal(source: Any, relations: Relations) -> None:
        for name, rows in relations.items():
            assert typed(source[name].fetchall()) == typed(rows), name


def run(history: History, workspace: Any = None) -> Pair:
    """The whole history, compared after every step: first the rows it starts with, then one rule
    after another, then its steps.
    """
    pair = Pair((*BASES, *history.program.specs), workspace)
    pair.step(
        Transact(
            tuple(
                Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows
            )
        )
    )
    for rule in history.program.rules:
        pair.step(Transact((AddRule(rule),)))
    for step in history.steps:
        pair.step(step)
    assert pair.workspace.verify() == []
    return pair
