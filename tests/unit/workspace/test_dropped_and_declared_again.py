"""A program's text that drops relations, or declares them otherwise, below and inside recursion:
views have the rows that the new text derives.
"""

from __future__ import annotations

from itertools import permutations

import pytest

import lftj

OTHER = ".decl other(x: number, y: number)\n"
EDGES = {
    "pairs": ".decl edge(x: number, y: number)\n",
    "triples": ".decl edge(x: number, y: number, z: number)\n",
    "texts": ".decl edge(x: symbol, y: number)\n",
    "turned": ".decl edge(y: number, x: number)\n",
    "none": "",
}
BASE = {
    "pairs": "path(x, y) :- edge(x, y).\n",
    "triples": "path(x, y) :- edge(x, y, _).\n",
    "texts": "path(y, y) :- edge(_, y).\n",
    "turned": "path(x, y) :- edge(x, y).\n",
    "none": "",
}
ROWS = {
    "pairs": [(1, 2), (2, 3)],
    "triples": [(1, 2, 7), (2, 3, 7)],
    "texts": [("a", 2)],
    "turned": [(1, 2), (2, 3)],
    "none": [],
}
PATHS = {
    "plain": ".decl path(x: number, y: number)\npath(x, y) :- other(x, y).\n",
    "steps": ".decl path(x: number, y: number)\n"
    "path(x, y) :- other(x, y). path(x, z) :- path(x, y), other(y, z).\n",
    "renamed": ".decl path(from: number, to: number)\n"
    "path(x, y) :- other(x, y). path(x, z) :- path(x, y), other(y, z).\n",
}


@pytest.mark.parametrize(("was", "now"), [("steps", "steps"), ("plain", "renamed")])
@pytest.mark.parametrize(("before", "after"), [*permutations(EDGES, 2)])
def test_views_of_a_dropped_relation(before: str, after: str, was: str, now: str) -> None:
    for filled in (False, True):
        ws = lftj.connect()
        ws.program(OTHER + EDGES[before] + PATHS[was] + BASE[before])
        ws.load("other", [(5, 6), (6, 1), (3, 5)])
        if ROWS[before]:
            ws.load("edge", ROWS[before])
        text = OTHER + EDGES[after] + PATHS[now] + BASE[after]
        with ws.transaction() as tx:
            tx.program(text, drop=True)
            if filled and ROWS[after]:
                tx.insert("edge", ROWS[after])
        anew = lftj.connect()
        anew.program(text)
        anew.load("other", ws["other"].fetchall())
        if filled and ROWS[after]:
            anew.load("edge", ROWS[after])
        assert ws["path"].fetchall() == anew["path"].fetchall()
        assert ws.verify() == []
