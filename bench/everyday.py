"""Programs that are run again: the same text, and a text with one other rule, among 1,000 rules and
among a tenth of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import lftj
from bench.clock import processor_seconds
from bench.figure import Report, require_equal

RULES = {"s": 50, "m": 300, "l": 1_000}
SMALLER = 10
TURNS = 30
ROWS = 1_000


def text_of(limits: Sequence[int]) -> str:
    """A program of a rule for each limit, each with a relation of its own."""
    rules = "".join(
        f".decl r{place}(x: number, y: number)\nr{place}(x, y) :- e(x, z), e(z, y), x > {limit}.\n"
        for place, limit in enumerate(limits)
    )
    return f".decl e(x: number, y: number)\n{rules}"


class Programs:
    """A workspace with a program of some rules."""

    def __init__(self, rules: int):
        self.limits = [ROWS] * rules
        self.workspace = lftj.connect()
        self.workspace.program(text_of(self.limits))
        self.workspace.load("e", [(x, x + 1) for x in range(ROWS)])

    def unchanged(self, _: int) -> Callable[[], object]:
        """The same text again, read anew as from a file."""
        text = text_of(self.limits)
        return lambda: self.workspace.program(text)

    def changed(self, turn: int) -> Callable[[], object]:
        """The text with another limit of one rule."""
        self.limits[turn] = ROWS - 3
        text = text_of(self.limits)
        return lambda: self.workspace.program(text)

    def check(self, turns: int) -> None:
        """Every rule is there once, and derives what its limit lets through."""
        require_equal("rules", len(self.workspace.rules), len(self.limits))
        rows = [len(self.workspace[f"r{place}"]) for place in range(len(self.limits))]
        require_equal("rows", rows, [1 if place < turns else 0 for place in range(len(rows))])


def _median_ms(run: Callable[[int], Callable[[], object]], turns: int) -> float:
    return statistics.median(processor_seconds(run(turn)) for turn in range(turns)) * 1e3


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `everyday`."""
    rules = RULES[report.size]
    large, small = Programs(rules), Programs(rules // SMALLER)
    turns = min(TURNS, rules // SMALLER)
    same_ms = _median_ms(large.unchanged, turns)
    small_ms, large_ms = (_median_ms(each.changed, turns) for each in (small, large))
    for each in (small, large):
        each.check(turns)
    report.add("program_unchanged_ms", same_ms)
    report.add("program_rule_growth", large_ms / small_ms)
    report.note(figure="program_unchanged_ms", rules=rules, ms=same_ms)
    report.note(
        figure="program_rule_growth",
        rules=rules,
        small_rules=rules // SMALLER,
        ms=large_ms,
        small_ms=small_ms,
    )
