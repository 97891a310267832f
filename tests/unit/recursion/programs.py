"""Evaluates small recursive programs, for the tests of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import lftj
from lftj.syntax.parser import parse
from tests.reference import evaluate

Row = tuple[Any, ...]


def views(
    text: str, facts: Mapping[str, Iterable[Row]], *, work: int | None = None, **options: Any
) -> dict[str, set[Row]]:
    """All relations of a program whose facts come in one commit after its rules; `options` are
    those of `lftj.connect`.
    """
    with lftj.connect(**options) as workspace:
        workspace.add_rules(text)
        with workspace.limits(work=work), workspace.transaction() as transaction:
            for name, rows in facts.items():
                transaction.insert(name, list(rows))
        found = {name: workspace[name].fetchall() for name in workspace.relations}
    assert all(len(rows) == len(set(rows)) for rows in found.values())
    return {name: set(rows) for name, rows in found.items()}


def derived(text: str, facts: Mapping[str, Iterable[Row]], **options: Any) -> dict[str, set[Row]]:
    """As `views`, but the facts, integers that `text` does not declare, come before the rules: rows
    are found without counting proofs.
    """
    with lftj.connect(**options) as workspace:
        for name, rows in facts.items():
            workspace.relation(name, {f"c{i}": int for i in range(len(next(iter(rows))))})
            workspace.load(name, list(rows))
        workspace.add_rules(text)
        return {name: set(workspace[name].fetchall()) for name in workspace.relations}


def expected(text: str, facts: Mapping[str, Iterable[Row]]) -> dict[str, set[Row]]:
    """The same by the naive reference."""
    return evaluate(parse(text), facts)
