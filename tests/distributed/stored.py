"""A workspace over one relation of edges whose parts are stored, and what its view should be."""

from __future__ import annotations

from typing import Any

import numpy as np

import lftj
from tests.distributed.inline import InlineExecutor

RULES = {
    "triangles": ".decl v(x: number, n: number) v(x, count()) :- e(x, y), e(y, z), e(x, z).",
    "a projection": ".decl v(x: number, z: number) v(x, z) :- e(x, y), e(y, z).",
    "sums and means": ".decl v(x: number, s: number, m: float, a: number, b: number) "
    "v(x, sum(w), mean(w), min(w), max(w)) :- e(x, y), w = 2 * y.",
    "over everything": ".decl v(n: number, s: number, m: float, b: number) v(count(), sum(y), "
    "mean(y), max(x)) :- e(x, y).",
    "negation": ".decl v(x: number, y: number) v(x, y) :- e(x, y), !e(y, x).",
    "recursion": ".decl v(x: number, y: number) v(x, y) :- e(x, y). v(x, z) :- v(x, y), e(y, z).",
    "rounds": ".decl v(x: number, y: number) v(x, y) :- e(x, y). v(x, z) :- v(x, y), v(y, z).",
    "a choice": ".decl v(x: number, y: number) choice-domain y v(x, y) :- e(x, z), e(z, y).",
    "choices": ".decl v(x: number, y: number) choice-domain x, y v(x, y) :- e(x, y).",
    "a choice in a cycle": ".decl v(r: number, x: number, y: number) choice-domain (r, y) "
    "v(r, r, r) :- e(r, _), r < 9. v(r, x, y) :- v(r, _, x), e(x, y).",
    "best values": ".decl v(x: number, y: number, n: number) v(x, y, min(1)) :- e(x, y). v(x, z, "
    "min(n + 1)) :- v(x, y, n), e(y, z).",
    "the next": ".decl v(x: number, y: number) v(x, y) :- e(x, _), y = min z : { e(z, _), z > x }.",
    "the last": ".decl v(x: number, y: number) v(x, y) :- e(x, _), y = max z : { e(_, z), z < x }.",
    "two rules": ".decl v(x: number, y: number) .decl u(x: number, n: number) "
    "v(x, y) :- e(x, y). v(y, x) :- e(x, y), e(y, _). u(x, count()) :- v(x, _).",
}


def graph(rows: int = 400, seed: int = 1) -> list[tuple[int, int]]:
    found = np.random.default_rng(seed).integers(0, 60, (rows, 2))
    return [(int(x), int(y)) for x, y in found]


def opened(
    executor: InlineExecutor, rules: str, edges: list[tuple[int, int]], **options: Any
) -> Any:
    workspace = lftj.connect(executor=executor, **options)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", edges)
    workspace.add_rules(rules)
    return workspace


def expected(rules: str, edges: set[tuple[int, int]], name: str = "v") -> set[tuple[Any, ...]]:
    workspace = lftj.connect()
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", sorted(edges))
    workspace.add_rules(rules)
    return set(workspace[name])


def change(workspace: Any, *edges: tuple[int, int]) -> Any:
    """Insert edges; what the commit cost."""
    with workspace.transaction() as tx:
        tx.insert("e", list(edges))
    return workspace.profile(last=1).iloc[0]
