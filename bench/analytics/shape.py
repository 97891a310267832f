"""A query of everyday analytics: the rule and the same in SQL, over tables that are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

import lftj
from bench.engine import connect

FACTS = {"s": 1_000, "m": 500_000, "l": 5_000_000}
"""Rows of the largest table."""


@dataclass(frozen=True)
class Shape:
    """A rule whose head is `found`, with declarations of what it reads, and the query that gives
    the same rows, with columns in the same order.
    """

    name: str
    tables: Mapping[str, pa.Table]
    declared: str
    rule: str
    query: str


def loaded(shape: Shape, threads: int = 1) -> lftj.Workspace:
    """A workspace with the tables and no rule."""
    workspace = connect(threads)
    workspace.add_rules(shape.declared)
    for name, table in shape.tables.items():
        workspace.load(name, table)
    return workspace
