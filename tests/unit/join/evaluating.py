"""All rows of a rule at once, and what they come to."""

from __future__ import annotations

from collections import Counter

import numpy as np

from lftj.join.context import Context
from lftj.join.run.by_groups import evaluate_by_groups
from lftj.join.run.evaluate import Columns, Relations
from lftj.program.normal_form import NormalRule


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
    pieces = list(evaluate_by_groups(rule, relations, context, needed=needed, width=0, count=count))
    assert len(pieces) <= 1, "without a group there is nothing to divide"
    return pieces[0] if pieces else ([np.empty(0, np.int64) for _ in needed], np.empty(0, np.int64))


def tallied(columns: list[np.ndarray], counts: np.ndarray) -> Counter[tuple[int, ...]]:
    """How often each row counts."""
    found: Counter[tuple[int, ...]] = Counter()
    for *row, count in zip(*(column.tolist() for column in columns), counts.tolist(), strict=True):
        found[tuple(row)] += count
    return found
