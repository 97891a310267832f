"""Readers for tests of the workspace: sets of rows, and everything at once."""

from __future__ import annotations

import lftj

GRAPH = """
.decl edge(src: number, dst: number)
.decl reach(src: number, dst: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""


def rows(ws: lftj.Workspace, name: str) -> set[tuple[object, ...]]:
    """The rows of a relation."""
    return set(ws[name].fetchall())


def everything(ws: lftj.Workspace) -> object:
    """Version, all rows and all rules: what a rollback must restore."""
    return ws.version, {name: rows(ws, name) for name in ws.relations}, ws.rules
