"""Cost of evaluating the views of a stream anew at a commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import lftj
from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import require_equal


class Recomputation:
    """Evaluates rules from nothing on any state of the relations `bases`, which `declarations`
    declares.

    The rules are added to a workspace that holds the rows already. What adding them to empty
    relations takes (parsing, checks) is taken off, since a system that recomputes has its rules
    too.
    """

    def __init__(self, declarations: str, rules: str, bases: Iterable[str]):
        self._declarations, self._rules, self._bases = declarations, rules, tuple(bases)
        self._fixed = min(self._add_rules(self._filled({})) for _ in range(3))

    def evaluate(self, source: lftj.Workspace) -> tuple[float, lftj.Workspace]:
        """Processor seconds of evaluating the views on the base rows that `source` holds, and the
        workspace with the result.
        """
        workspace = self._filled({name: source[name].arrow() for name in self._bases})
        return max(0.0, self._add_rules(workspace) - self._fixed), workspace

    def _filled(self, tables: dict[str, Any]) -> lftj.Workspace:
        workspace = connect()
        with workspace.transaction() as transaction:
            transaction.add_rules(self._declarations)
            for name, table in tables.items():
                transaction.insert(name, table)
        return workspace

    def _add_rules(self, workspace: lftj.Workspace) -> float:
        return processor_seconds(lambda: workspace.add_rules(self._rules))


def require_same_views(
    views: Iterable[str], moment: str, maintained: lftj.Workspace, anew: lftj.Workspace
) -> None:
    """Stop the run unless each view holds the same rows in both workspaces."""
    for name in views:
        same = sorted(maintained[name].fetchall()) == sorted(anew[name].fetchall())
        require_equal(f"{name} {moment}, the same as evaluated anew", same, True)
