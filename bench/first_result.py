"""Program that `startup` runs in a fresh process: facts in, a recursion, a negation, a count and a
mean, results out.
"""

from __future__ import annotations

import lftj

RULES = """
.decl reach(x: number, y: number)
reach(x, y) :- link(x, y, _).
reach(x, z) :- reach(x, y), link(y, z, _).

.decl unreachable(x: number)
unreachable(x) :- link(x, _, _), x != 1, !reach(1, x).
unreachable(x) :- link(_, x, _), !reach(1, x).

.decl degree(x: number, n: number)
degree(x, count()) :- link(x, _, _).

.decl length(m: float)
length(mean(d)) :- link(_, _, d).
"""


def main() -> str:
    """The results in one line."""
    workspace = lftj.connect()
    link = workspace.relation("link", {"x": int, "y": int, "d": float})
    workspace.load(link, [(1, 2, 10.0), (1, 3, 20.0), (2, 3, 30.0), (7, 8, 20.0), (8, 9, 20.0)])
    workspace.add_rules(RULES)
    busiest = max(n for _, n in workspace["degree"].fetchall())
    ((mean,),) = workspace["length"].fetchall()
    counts = [len(workspace[name]) for name in ("reach", "unreachable")]
    return f"reachable {counts[0]}, busiest {busiest}, unreachable {counts[1]}, mean {mean}"


if __name__ == "__main__":
    print(main())
