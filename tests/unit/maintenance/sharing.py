"""Rules over one body, by name, with what each must hold: for tests of heads that share
one state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from typing import Any

import lftj
from lftj.views.group_node import GroupState

Edge = tuple[int, int, int, str]
Values = list[tuple[int, str, int]]
"""(v, t, w) of every assignment of a group."""

DECLARED = ".decl e(x: number, y: number, v: number, t: symbol)\n.decl f(y: number, w: number)\n"


def _joined(separator: str) -> Callable[[Values], str]:
    return lambda rows: separator.join(sorted(t for _, t, _ in rows))


RULES: dict[str, tuple[str, str, Callable[[Values], Any]]] = {
    "lo": (
        "number",
        "lo(x, min(v)) :- e(x, y, v, _), f(y, _).",
        lambda rows: min(v for v, _, _ in rows),
    ),
    "hi": (
        "number",
        "hi(p, max(r)) :- f(q, _), e(p, q, r, _).",
        lambda rows: max(v for v, _, _ in rows),
    ),
    "total": (
        "number",
        "total(a, sum(c)) :- e(a, b, c, s), f(b, d).",
        lambda rows: sum(v for v, _, _ in rows),
    ),
    "mean": (
        "float",
        "mean(a, mean(c)) :- e(a, b, c, s), f(b, d).",
        lambda rows: fsum(v for v, _, _ in rows) / len(rows),
    ),
    "size": ("number", "size(x, count()) :- f(y, _), e(x, y, _, _).", len),
    "first": (
        "symbol",
        "first(x, min(t)) :- e(x, y, _, t), f(y, _).",
        lambda rows: min(t for _, t, _ in rows),
    ),
    "last": (
        "symbol",
        "last(x, max(t)) :- e(x, y, _, t), f(y, _).",
        lambda rows: max(t for _, t, _ in rows),
    ),
    "comma": ("symbol", 'comma(x, concat(t, ",")) :- e(x, y, _, t), f(y, _).', _joined(",")),
    "dash": ("symbol", 'dash(x, concat(t, "-")) :- e(x, y, _, t), f(y, _).', _joined("-")),
    "keyed": (
        "symbol",
        'keyed(x, concat(t, ",", v)) :- e(x, y, v, t), f(y, _).',
        lambda rows: ",".join(t for _, t in sorted((v, t) for v, t, _ in rows)),
    ),
    "far": (
        "number",
        "far(x, max(v + w)) :- e(x, y, v, _), f(y, w).",
        lambda rows: max(v + w for v, _, w in rows),
    ),
}


def declared(names: Iterable[str]) -> str:
    """The declarations of these views and of what they read."""
    return DECLARED + "\n".join(f".decl {name}(x: number, n: {RULES[name][0]})" for name in names)


def expected(
    name: str, edges: Iterable[Edge], weights: Iterable[tuple[int, int]]
) -> list[tuple[int, Any]]:
    """Rows of a view, by brute force."""
    groups: dict[int, Values] = {}
    for x, y, v, t in edges:
        for other, w in weights:
            if other == y:
                groups.setdefault(x, []).append((v, t, w))
    return sorted((x, RULES[name][2](rows)) for x, rows in groups.items())


def groups_of(workspace: lftj.Workspace) -> list[GroupState]:
    """The states of all group nodes."""
    states = workspace._backend.state.view_states  # type: ignore[attr-defined]
    found = [state for state in states.values() if isinstance(state, GroupState)]
    assert {state.group.key for state in found} == set(states.graph.groups)
    assert all(state.group is states.graph.groups[state.group.key] for state in found)
    return found


def kept(workspace: lftj.Workspace) -> list[str]:
    """Heads that `ws.memory()` lists."""
    return [row[1] for row in workspace.memory().fetchall() if row[1].startswith("(head")]
