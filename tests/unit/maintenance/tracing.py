"""Workspaces with a view that is kept up to date by its trace."""

from __future__ import annotations

import lftj

RULES = """
.decl a(x: number, y: number)
.decl b(y: number, z: number)
.decl p(x: number)
p(x) :- a(x, y), b(y, z).
"""


def crowded(**options: int) -> lftj.Workspace:
    """A view in which each row has many proofs: 60 x, 40 y each, 50 z each."""
    workspace = lftj.connect(**options)  # pyright: ignore[reportArgumentType]
    workspace.add_rules(RULES.replace("p(x) :- a(x, y), b(y, z).", ""))
    workspace.load("a", [(x, y) for x in range(60) for y in range(40)])
    workspace.load("b", [(y, z) for y in range(40) for z in range(50)])
    workspace.add_rules("p(x) :- a(x, y), b(y, z).")
    return workspace


def work(workspace: lftj.Workspace) -> dict[str, object]:
    """The only row of the last commit's profile."""
    (row,) = workspace.profile(last=1).to_dict("records")
    return row


def spans_and_events() -> lftj.Workspace:
    """A view of which events lie in which spans, kept up to date by its trace."""
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl span(k: number, begin: number, end: number)
        .decl event(i: number, t: number)
        .decl during(k: number, i: number)
    """)
    workspace.load("span", [(k, 17 * k, 17 * k + 40) for k in range(6000)])
    workspace.load("event", [(i, i * 12_289 % 100_003) for i in range(60_000)])
    workspace.add_rules("during(k, i) :- span(k, b, e), event(i, t), b <= t, t < e.")
    assert "by its trace" in str(workspace.plan(workspace.rules[-1]))
    return workspace
