"""Workspaces to test on: an empty one, a small graph, and a bank with a key, a view and a writer
lock that gives up soon.
"""

from __future__ import annotations

import pytest

import lftj
from tests.unit.workspace.reading import GRAPH


@pytest.fixture
def ws() -> lftj.Workspace:
    return lftj.connect()


@pytest.fixture
def graph(ws) -> lftj.Workspace:
    ws.add_rules(GRAPH)
    ws.load("edge", [(1, 2), (2, 3)])
    return ws


@pytest.fixture
def bank() -> lftj.Workspace:
    ws = lftj.connect(writer_timeout=0.05)
    ws.relation("edge", {"src": int, "dst": int})
    ws.view("reach", {"src": int, "dst": int})
    ws.relation("acct", {"id": int, "country": str}, key="id")
    ws.add_rules("reach(x, y) :- edge(x, y). reach(x, z) :- reach(x, y), edge(y, z).")
    ws.load("edge", [(1, 2), (2, 3)])
    ws.load("acct", [(1, "FR"), (2, "DE")])
    return ws
