"""Cost of adding one more rule to a program of a thousand, beyond evaluating it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal

RULES = {"s": 50, "m": 200, "l": 1_000}
TIMES = 15
EDGES = [(1, 2), (2, 3), (1, 3), (3, 1)]
# Views one upon the other and beside each other, every other pair of rules recursive.
SHAPES = (
    ".decl r{n}(x: number, y: number)\nr{n}(x, y) :- edge(x, y), x != {n}.\nr{n}(x, z) :- r{n}(x, "
    "y), edge(y, z).\n",
    ".decl v{n}(x: number, y: number)\nv{n}(x, y) :- r{m}(x, y), !edge(x, y).\nv{n}(x, y) :- "
    "edge(x, y), y < {n}.\n",
)


def text_of(rules: int) -> str:
    """A program of that many rules."""
    return "".join(SHAPES[place % 2].format(n=place, m=place - 1) for place in range(rules // 2))


def rules_to_add(number: int) -> dict[str, str]:
    """Rules for views that are there (recursive, and plain), and one for a new view."""
    return {
        "recursive": f"r0(x, y) :- r0(y, x), edge({number % 3}, x).",
        "plain": f"v1(x, y) :- edge(y, x), x < {number}.",
        "new": f".decl w{number}(x: number)\nw{number}(x) :- r0(x, _), edge(x, {number}).",
    }


def _milliseconds(rules: int) -> dict[str, list[float]]:
    """Milliseconds for adding one rule of each kind to a program of so many, again and again; each
    is removed at once.
    """
    workspace = connect()
    workspace.load(workspace.relation("edge", {"x": int, "y": int}), EDGES)
    workspace.add_rules(text_of(rules))
    taken: dict[str, list[float]] = {}
    for number in range(TIMES):
        for kind, rule in rules_to_add(number + 1).items():
            known = len(workspace.rules)
            taken.setdefault(kind, []).append(
                processor_seconds(lambda rule=rule: workspace.add_rules(rule)) * 1e3
            )
            if kind != "new":
                workspace.remove_rule(workspace.rules[known:])
    require_equal("views that differ", workspace.verify(), [])
    return taken


def measure(report: Report, data: Path | None) -> None:
    """The same rules are added to a program of two, which costs what their derivations cost; the
    worst kind counts.
    """
    few, many = _milliseconds(4), _milliseconds(RULES[report.size])
    beyond = {kind: float(np.median(many[kind]) - np.median(few[kind])) for kind in many}
    report.add("add_rule_ms", max(beyond.values()))
    whole = {f"{kind}_ms": float(np.median(times)) for kind, times in many.items()}
    report.note(
        figure="add_rule_ms",
        rules=RULES[report.size],
        **whole,
        **{f"{kind}_beyond_ms": ms for kind, ms in beyond.items()},
    )
