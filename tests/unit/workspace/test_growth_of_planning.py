"""Rules are read, checked, planned and evaluated first in about linear time in the length of a
body, the number of alternatives, and the number of rules.

Steps are calls of functions, Python's and compiled ones, while rules are added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import lftj

DECLARED = ".decl e(x: number, y: number) .decl q(x: number) .decl p(x: number, y: number) "


def _many(separator: str, one: Callable[[int], str], n: int) -> str:
    return separator.join(one(i) for i in range(n))


PROGRAMS: dict[str, Callable[[int], str]] = {
    "chain": lambda n: "q(x0) :- " + _many(", ", lambda i: f"e(x{i}, x{i + 1})", n) + ".",
    "ends of a chain": lambda n: (
        f"p(x0, x{n}) :- " + _many(", ", lambda i: f"e(x{i}, x{i + 1})", n) + "."
    ),
    "star": lambda n: "q(x) :- " + _many(", ", lambda i: f"e(x, x{i})", n) + ".",
    "cycle": lambda n: "q(x0) :- " + _many(", ", lambda i: f"e(x{i}, x{(i + 1) % n})", n) + ".",
    "negated": lambda n: "q(x) :- e(x, _), " + _many(", ", lambda i: f"!e({i}, x)", n) + ".",
    "compared": lambda n: "q(x) :- e(x, _), " + _many(", ", lambda i: f"x != {i}", n) + ".",
    "computed": lambda n: (
        f"p(x0, x{n}) :- e(x0, _), " + _many(", ", lambda i: f"x{i + 1} = x{i} + 1", n) + "."
    ),
    "values": lambda n: "q(x) :- e(x, _), (" + _many("; ", lambda i: f"x = {i}", n) + ").",
    "alternatives": lambda n: "q(x) :- e(x, y), (" + _many("; ", lambda i: f"e(y, {i})", n) + ").",
    "rules of one view": lambda n: _many(
        "\n", lambda i: f"p(x, z) :- e(x, y), e(y, z), x != {i}.", n
    ),
    "views": lambda n: _many(
        "\n",
        lambda i: f".decl v{i}(x: number) v{i}(x) :- e(x, y), e(y, {i}).",
        n,
    ),
    "views of views": lambda n: (
        ".decl v0(x: number) v0(x) :- e(x, _).\n"
        + _many(
            "\n",
            lambda i: f".decl v{i + 1}(x: number) v{i + 1}(x) :- v{i}(x), e(x, _).",
            n,
        )
    ),
    "views in a cycle": lambda n: _many(
        "\n",
        lambda i: (
            f".decl v{i}(x: number) v{i}(y) :- v{(i + 1) % n}(x), e(x, y). v{i}(x) :- e(x, {i})."
        ),
        n,
    ),
}

JOINED = ("chain", "ends of a chain", "cycle")
"""Bodies whose atoms lead from one to the next: for fewer than 75 more orders are weighed."""


def calls(text: str) -> int:
    """The calls of functions while rules are added over some rows."""
    ws = lftj.connect()
    ws.add_rules(DECLARED)
    ws.load("e", [(number, number + 1) for number in range(40)])
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event != "return" and event != "c_return"

    sys.setprofile(count)
    try:
        ws.add_rules(text)
    finally:
        sys.setprofile(None)
    ws.close()
    return counted


@pytest.mark.parametrize("kind", PROGRAMS)
def test_four_times_as_much_takes_little_more_than_four_times_as_long(kind: str) -> None:
    program = PROGRAMS[kind]
    calls(program(8))  # so that kernels are there
    few = 75 if kind in JOINED else 50
    small, large = calls(program(few)), calls(program(4 * few))
    assert large <= 4.75 * small, (small, large)
