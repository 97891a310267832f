"""Two queries of a data warehouse, each a rule over tables of some million rows: what its
evaluation takes with so many threads.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import once

LINES = {"s": 100_000, "m": 1_000_000, "l": 3_000_000}
_JOIN = """
.decl customer(c: number, segment: number)
.decl order(o: number, c: number, day: number)
.decl line(o: number, n: number, price: float, discount: float, day: number)
.decl found(o: number, day: number, revenue: float)
found(o, day, sum(price * (1.0 - discount))) :-
    customer(c, 1), order(o, c, day), line(o, _, price, discount, sent), day < 999, sent > 999.
"""
_GROUPS = """
.decl fact(n: number, g: number, v: float)
.decl found(g: number, total: float, mean: float)
found(g, sum(v), mean(v)) :- fact(_, g, v).
"""


def _joined(lines: int) -> dict[str, pa.Table]:
    by, orders, customers = np.random.default_rng(3), lines // 4, lines // 40
    return {
        "customer": pa.table({"c": np.arange(customers), "segment": by.integers(0, 5, customers)}),
        "order": pa.table(
            {
                "o": np.arange(orders),
                "c": by.integers(0, customers, orders),
                "day": by.integers(0, 2400, orders),
            }
        ),
        "line": pa.table(
            {
                "o": np.sort(by.integers(0, orders, lines)),
                "n": np.arange(lines),
                "price": by.random(lines),
                "discount": by.random(lines) / 10,
                "day": by.integers(0, 2500, lines),
            }
        ),
    }


def _grouped(lines: int) -> dict[str, pa.Table]:
    by, facts = np.random.default_rng(4), lines * 5 // 3
    return {
        "fact": pa.table(
            {"n": np.arange(facts), "g": by.integers(0, 10_000, facts), "v": by.random(facts)}
        )
    }


def cases(size: str) -> dict[str, tuple[str, dict[str, pa.Table]]]:
    """By figure, the program and its tables."""
    return {
        "threads2_join": (_JOIN, _joined(LINES[size])),
        "threads2_groups": (_GROUPS, _grouped(LINES[size])),
    }


def evaluated(text: str, tables: dict[str, pa.Table], threads: int) -> tuple[float, list[int]]:
    """Seconds of the commit that adds the rule to tables that are loaded, and how many rows there
    are then.
    """
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads))
    declarations, head, rule = text.rpartition("\nfound(")
    workspace.add_rules(declarations)
    for name, table in tables.items():
        workspace.load(name, table)
    seconds = once(lambda: workspace.add_rules(head + rule))[0]
    return seconds, [len(workspace["found"])]
