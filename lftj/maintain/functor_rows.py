"""Functors as relations: the rows of the domain, each longer by each value of the functor (or kept, when a predicate holds)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.errors import LftjError
from lftj.frames.frame import Target
from lftj.frames.out import to_values
from lftj.frames.python_columns import code_values
from lftj.join.context import Context
from lftj.join.evaluate import Columns
from lftj.program.functors import STRING_FUNCTORS
from lftj.program.normal_form import FunctorRule
from lftj.types import STR, floats_to_codes
from scantree.rows import sort_rows

_CHARACTERS = 8  # of a string, made in the time of a kernel step


def functor_rows(rule: FunctorRule, domain: Columns, context: Context) -> Columns:
    """The sorted rows of a functor's relation over these rows of its domain, which are sorted.

    One Python call per row, about half a microsecond; values become codes, and codes values, a column at a time. Rows count as work, and
    strings by their length: in a cycle they may grow for ever.
    """
    arguments = [to_values(type, column, context.dictionary) for type, column in zip(rule.types, domain, strict=True)]
    functor = STRING_FUNCTORS[rule.functor]
    try:
        results = [functor.evaluate(*values) for values in zip(*arguments, strict=True)]
    except LftjError as error:
        error.span = error.span or rule.span
        raise
    context.spend(len(results) + (sum(map(len, results)) // _CHARACTERS if rule.result == STR else 0))
    if rule.result is None:
        keep = np.array(results, bool)
        return [column[keep] for column in domain]
    if functor.many:
        return _with_each(domain, results, context)
    return sort_rows([*domain, code_values(results, Target(rule.functor, rule.result, context.dictionary)).codes])


def _codes(numbers: range | np.ndarray) -> np.ndarray:
    return (
        numbers.start + numbers.step * np.arange(len(numbers), dtype=np.int64) if isinstance(numbers, range) else floats_to_codes(numbers)
    )


def _with_each(domain: Columns, results: Sequence[range | np.ndarray], context: Context) -> Columns:
    """Each row of the domain with each of its numbers. Raises LimitError before they are made where they would pass a limit."""
    counts = np.array([len(numbers) for numbers in results], np.int64)
    total = int(counts.sum())
    context.spend(total)
    context.check_memory(8 * total * (len(domain) + 1))
    numbers = [_codes(each) for each in results]
    return sort_rows([*(np.repeat(column, counts) for column in domain), np.concatenate([*numbers, np.empty(0, np.int64)])])
