"""The cost of rules without a rewrite that their normal form could do without.

Each rewrite has a rule that it is for, over some thousand rows. The rule is added, and twenty rows
go and come back one by one, with the rewrite and without it. Kernel steps do not depend on the
machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from rich.table import Table

import lftj
from bench.engine import connect
from bench.figure import require_equal
from lftj.program.rewrites import pipeline

_FACTS = """
.decl item(group: number, value: number)    .decl other(group: number, value: number)
.decl blocked(value: number)                .decl word(number: number, text: symbol)
.decl edge(from: number, to: number)        .decl back(from: number, to: number)
.decl hub(from: number, to: number)
"""
_COMMITS = 20


class Case(NamedTuple):
    """Columns of the view `v`, its rule, and the relation that changes."""

    columns: str
    rule: str
    changes: str


CASES: Mapping[str, Case] = {
    "negated tests": Case(
        "x: number, y: number", "v(x, y) :- edge(x, y), !( back(y, z) ).", "edge"
    ),
    "decided disjunctions": Case(
        "x: number, z: number",
        "v(x, z) :- edge(x, y), back(y, w), (w > 300, z = x ; w <= 300, z = 0).",
        "edge",
    ),
    "negated computations": Case("t: symbol", 'v(t) :- word(_, t), !(contains("t1", t)).', "word"),
    "extreme negations": Case(
        "x: number, y: number", "v(x, y) :- hub(x, y), !( hub(x, z), z < y ).", "hub"
    ),
    "computed keys": Case(
        "x: number, y: number",
        "v(x, y) :- edge(x, u), back(y, w), u band 1023 = w band 1023.",
        "edge",
    ),
    "max as min": Case(
        "x: number, n: number", "v(x, n) :- hub(_, x), n = max y : { edge(_, y), y <= x }.", "edge"
    ),
    "implied atoms": Case(
        "x: number, z: number", "v(x, z) :- edge(x, y), edge(x, u), edge(y, z), edge(u, w).", "edge"
    ),
    "distinct counts": Case(
        "n: number", "v(count_distinct(x)) :- edge(x, _), back(y, _), x < y.", "edge"
    ),
    "independent parts": Case(
        "x: number, y: number",
        "v(x, y) :- hub(x, u), hub(y, w), u band 7 = 1, w band 7 = 1.",
        "hub",
    ),
    "nearest rows": Case(
        "t: symbol", "v(t) :- edge(_, y), t = last(s, u) : { word(u, s), u < y }.", "edge"
    ),
    "bounded parts": Case(
        "t: number",
        "v(t) :- edge(t, _), n = count : { back(u, y), y > 3, u < t }, n < 500.",
        "edge",
    ),
    "rare rows": Case(
        "g: number", "v(g) :- item(g, x), other(g, w), x < w, !blocked(x), !blocked(w).", "blocked"
    ),
    "variable elimination": Case(
        "r: number, q: number",
        "v(r, q) :- hub(r, a), edge(a, b), hub(s, b), hub(s, c), edge(c, d), hub(q, d).",
        "hub",
    ),
}


class Taken(NamedTuple):
    """Kernel steps of an evaluation, and of the commits after it; conjunctive rules that the rule
    becomes.
    """

    evaluation: int
    commits: int
    rules: int


class Spared(NamedTuple):
    """A rewrite, and what its case takes with it and without."""

    name: str
    whole: Taken
    without: Taken

    @property
    def figure(self) -> str:
        """The figure that the list of rewrites gives; without steps, the rules that are fewer."""
        ratios = [
            (less / max(1, whole), unit)
            for whole, less, unit in zip(
                self.whole, self.without, ("an evaluation", "small commits"), strict=False
            )
        ]
        shown = [
            f"{_short(ratio)}× the steps of {unit}" for ratio, unit in ratios if ratio >= WORTH
        ]
        return ", ".join(shown) or f"{self.without.rules} rules in place of {self.whole.rules}"


WORTH = 1.5
"""Ratio from which on the figure names steps."""


def spared(name: str) -> Spared:
    """The cost of a case with a rewrite and without. Raises ResultsDiffer."""
    (whole, rows), (without, same) = (_taken(CASES[name], each) for each in (None, name))
    require_equal(f"rows without {name}", same, rows)
    return Spared(name, whole, without)


def table() -> Table:
    """All rewrites that a normal form could do without."""
    shown = Table(title="what a rule takes without a rewrite that is for it")
    for heading in ("without", "evaluation", "small commits", "rules"):
        shown.add_column(heading, justify="left" if heading == "without" else "right")
    for each in map(spared, CASES):
        numbers = zip(each.whole, each.without, strict=True)
        shown.add_row(each.name, *(f"{whole:,} → {less:,}" for whole, less in numbers))
    return shown


def _facts() -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each relation: thin graphs, groups with few values left, hubs, and words."""
    random = np.random.default_rng(1)
    values = np.arange(32_000)
    facts = {
        "item": np.stack([values % 20, values], axis=1),
        "other": np.stack([values % 20, values * 7 % len(values)], axis=1),
        "blocked": np.delete(values, random.integers(0, len(values), 20))[:, None],
        "edge": random.integers(0, 600, (1_800, 2)),
        "back": random.integers(0, 600, (1_800, 2)),
        "hub": np.stack([np.arange(600) % 30, random.integers(0, 600, 600)], axis=1),
    }
    words = [(number, f"t{number % 97}") for number in range(0, 600, 2)]
    return {name: [*map(tuple, rows.tolist())] for name, rows in facts.items()} | {"word": words}


def _taken(case: Case, without: str | None) -> tuple[Taken, list[tuple[Any, ...]]]:
    """The cost of a case, and the rows of its view in the end."""
    facts, random = _facts(), np.random.default_rng(2)
    workspace = connect()
    workspace.add_rules(f"{_FACTS}.decl v({case.columns})")
    with workspace.transaction() as transaction:
        for name, rows in facts.items():
            transaction.insert(name, rows)
    left = tuple([each for each in pipeline.PASSES if each.name != without])
    with patch.object(pipeline, "PASSES", left):
        workspace.add_rule(case.rule)
    evaluation, commits = _steps(workspace), 0
    for number in random.choice(len(facts[case.changes]), _COMMITS, replace=False):
        row = facts[case.changes][int(number)]
        for change in ("delete", "insert"):
            with workspace.transaction() as transaction:
                getattr(transaction, change)(case.changes, [row])
            commits += _steps(workspace)
    (source,) = workspace._backend.state.program.sources.values()  # type: ignore[attr-defined]
    return Taken(evaluation, commits, len(source.normal.rules)), sorted(workspace["v"].fetchall())


def _steps(workspace: lftj.Workspace) -> int:
    return int(workspace.profile(last=1).df().steps.sum())


def _short(ratio: float) -> str:
    """Two digits of a ratio."""
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio >= 10 else f"{ratio:.1f}"
