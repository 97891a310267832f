"""Cycles of sparse edges: what is found from a changed edge is little, in the order that begins
with it, so that nothing is kept.
"""

from __future__ import annotations

import random

import lftj


def test_a_ring_of_five_is_followed_from_the_edge_that_changed():
    chooser = random.Random(5)
    edges = sorted({(chooser.randrange(3300), chooser.randrange(3300)) for _ in range(10_000)})
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl x(a: number, b: number)  .decl ring(a: number)\nring(a) :- x(a, b), x(b, c), x(c, "
        "d), x(d, e), x(e, a)."
    )
    workspace.load("x", edges)
    assert not workspace.memory().df()["key_order"].str.contains("index").any()
    for changed in (
        edges[7],
        edges[5000],
        (-1, 7),
    ):  # one that goes, another, and a new node before all others
        with workspace.transaction() as transaction:
            getattr(transaction, "delete" if changed in edges else "insert")("x", [changed])
        done = workspace.profile(last=1).to_dict("records")
        assert {each["outcome"] for each in done} == {"update"}
        assert sum(each["steps"] for each in done) < 3000
    assert workspace.verify() == []
