"""The cost of a commit does not depend on unrelated rules, counted in lines of Python."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import lftj

SHAPES = (
    ".decl v{n}(x: number, y: number)\nv{n}(x, z) :- edge(x, y), edge(y, z), x < z + {n}.\n",
    ".decl v{n}(x: number)\nv{n}(x) :- edge(x, _), !edge({n}, x).\n",
    ".decl v{n}(x: number, n: number)\nv{n}(x, count()) :- edge(x, y), y != {n}.\n",
    ".decl v{n}(x: number, y: number)\nv{n}(x, y) :- edge(x, y).\nv{n}(x, z) :- v{n}(x, y), "
    "edge(y, z), z < {n}.\n",
)
EDGES = [(1, 2), (2, 3), (1, 3), (3, 1)]
FEW = 50
"""Fewer lines than there would be with one for each further view."""
NEW = (
    ".decl w(x: number)\nw(x) :- v0(x, _), edge(x, 2).\n",
    ".decl c(x: number, n: number)\nc(x, count()) :- edge(x, y), edge(y, x).\n",
    "own(x) :- edge(_, x).\n",
    "v1(x) :- own(x).\n",
)


def program(rules: int) -> Any:
    """A workspace with that many views of `edge`, and one of `other`."""
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl edge(x: number, y: number)\n.decl other(x: number)\n.decl own(x: number)\nown(x) :- "
        "other(x), edge(x, _).\n"
    )
    workspace.load("edge", EDGES)
    workspace.add_rules(
        "".join(SHAPES[number % len(SHAPES)].format(n=number) for number in range(rules))
    )
    return workspace


def lines(work: Callable[[], object]) -> int:
    """Count the lines of Python that `work` runs, each time round a loop counted."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def of_a_row(workspace: Any) -> int:
    """The lines of a commit of one row that one view reads; the first commits, which lay plans out,
    do not count.
    """
    for number in (7, 8):
        workspace.load("other", [(number,)])
    return lines(lambda: workspace.load("other", [(1,)]))


def of_rules(workspace: Any) -> list[int]:
    """The lines of commits that add a rule and take it back, after others of their kind."""
    found: list[int] = []
    for turn in range(2):
        for text in NEW:
            text = text.replace("w(", f"w{turn}(").replace("c(", f"c{turn}(")
            handles: list[Any] = []
            found.append(
                lines(lambda text=text, handles=handles: handles.extend(workspace.add_rules(text)))
            )
            found.append(lines(lambda handles=handles: workspace.remove_rule(handles)))
    return found[len(found) // 2 :]


def test_a_commit_looks_at_the_views_that_read_what_changed_only() -> None:
    of_a_row(program(8))
    few, many = of_a_row(program(8)), of_a_row(program(160))
    assert abs(many - few) < FEW


def test_a_rule_that_comes_or_goes_costs_the_same_among_many() -> None:
    of_rules(program(8))
    few, many = of_rules(program(8)), of_rules(program(160))
    assert all(abs(more - less) < FEW for more, less in zip(many, few, strict=True))
