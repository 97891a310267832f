"""All rows of a rule at once, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from lftj.join.budget import Budget
from lftj.join.context import Context, Forced
from lftj.join.plan.cardinality import Statistics
from lftj.join.resources import Resources
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.run.ladder import satisfying
from lftj.partition.executor import ThreadExecutor
from lftj.program.normal_form import NormalRule
from lftj.scantree import Arena
from lftj.tuning import DEFAULT, Tuning
from lftj.types.dictionary import Dictionary


def surroundings(
    arena: Arena,
    tuning: Tuning = DEFAULT,
    *,
    budget: Budget | None = None,
    orders: Mapping[int, tuple[str, ...]] | None = None,
    threads: ThreadExecutor | None = None,
) -> Context:
    """Context of an evaluation with these thresholds and variable orders."""
    return Context(
        Resources(arena, Dictionary(), threads=threads),
        budget or Budget(),
        Statistics(tuning=tuning),
        forced=Forced(orders or {}),
    )


def evaluate(
    rule: NormalRule,
    relations: Relations,
    context: Context,
    *,
    needed: tuple[int, ...] | None = None,
    count: bool = True,
) -> tuple[Columns, np.ndarray]:
    """The values of `needed`, by default the head's variables, and how many assignments each row
    stands for.
    """
    needed = rule.group if needed is None else needed
    query = BodyQuery(rule, needed, relations, context, count=count, width=0)
    pieces = list(satisfying(query).each())
    assert len(pieces) <= 1, "without a group there is nothing to divide"
    return pieces[0] if pieces else ([np.empty(0, np.int64) for _ in needed], np.empty(0, np.int64))


def tallied(columns: list[np.ndarray], counts: np.ndarray) -> Counter[tuple[int, ...]]:
    """Count each row."""
    found: Counter[tuple[int, ...]] = Counter()
    for *row, count in zip(*(column.tolist() for column in columns), counts.tolist(), strict=True):
        found[tuple(row)] += count
    return found
