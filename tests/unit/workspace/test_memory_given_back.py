"""Memory that no version reads any more is free as soon as a commit ends, well or not: not when
Python next looks for cycles of garbage.
"""

from __future__ import annotations

import gc

import pytest

import lftj

PROGRAMS = {
    "joins": """
        .decl two(x: number, z: number)
        two(x, z) :- edge(x, y), edge(y, z), !edge(x, z).
        .decl out(x: number, n: number, most: number)
        out(x, count(), max(y)) :- edge(x, y).
    """,
    "closure": """
        .decl reach(x: number, y: number)
        reach(x, y) :- edge(x, y).
        reach(x, z) :- reach(x, y), edge(y, z).
    """,
    "mutual": """
        .decl even(x: number, y: number)
        .decl odd(x: number, y: number)
        odd(x, y) :- edge(x, y), x < 30.
        even(x, z) :- odd(x, y), odd(y, z).
        odd(x, z) :- even(x, y), edge(y, z).
    """,
    "shortest": """
        .decl far(x: number, d: number)
        far(x, min(0)) :- edge(x, _), x < 5.
        far(y, min(d + w)) :- far(x, d), edge(x, y), w = (3 * x + y) % 7 + 1.
    """,
    "forest": """
        .decl parent(y: number, x: number) choice-domain y
        parent(0, 0).
        parent(y, x) :- parent(x, _), edge(x, y).
    """,
    "texts": """
        .decl path(x: number, way: symbol)
        path(x, to_string(x)) :- edge(x, _), x < 3.
        path(y, cat(way, "-", to_string(y))) :- path(x, way), edge(x, y), strlen(way) < 8.
    """,
}


def kept_as_garbage(ws: lftj.Workspace) -> int:
    """Bytes of pages that are freed only when garbage is looked for."""
    before = ws._backend.arena.bytes_in_use
    gc.collect()
    return before - ws._backend.arena.bytes_in_use


@pytest.fixture
def without_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("program", PROGRAMS)
def test_commits_leave_no_version_behind(ws, program, without_collection):
    edges = [(x, (x * k + 7) % 400) for x in range(400) for k in (1, 3)]
    ws.relation("edge", {"x": int, "y": int})
    ws.add_rules(PROGRAMS[program])
    ws.load("edge", edges)
    assert kept_as_garbage(ws) == 0
    for erased, inserted in (
        (edges[:2], []),
        ([], edges[:2]),
        (edges[5:8], [(1, 399)]),
        (edges[100:400], []),
    ):
        with ws.transaction() as tx:
            tx.delete("edge", erased)
            tx.insert("edge", inserted)
        del tx
        assert kept_as_garbage(ws) == 0
    with pytest.raises(lftj.LimitError), ws.limits(work=20):
        ws.load("edge", [(x, 399 - x) for x in range(300)])
    assert kept_as_garbage(ws) == 0
    with ws.transaction() as tx:
        tx.delete("edge", edges)
    assert kept_as_garbage(ws) == 0
    assert ws.verify() == []
    assert kept_as_garbage(ws) == 0
