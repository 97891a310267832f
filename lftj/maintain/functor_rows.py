"""Functors as relations: the rows of the domain, each longer by each value of the functor (or kept, when a predicate holds)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.errors import LftjError
from lftj.join.context import Context
from lftj.join.evaluate import Columns
from lftj.program.functors import STRING_FUNCTORS, call
from lftj.program.normal_form import FunctorRule
from lftj.types import decode_scalar, encode_scalar
from scantree.rows import sort_rows


def functor_rows(rule: FunctorRule, domain: Columns, context: Context) -> Columns:
    """The sorted rows of a functor's relation over these rows of its domain, which are sorted. One Python call per row."""
    arguments = [
        [decode_scalar(type, code, context.dictionary) for code in column.tolist()] for type, column in zip(rule.types, domain, strict=True)
    ]
    results = []
    for values in zip(*arguments, strict=True):
        try:
            results.append(call(rule.functor, values))
        except LftjError as error:
            error.span = error.span or rule.span
            raise
    if rule.result is None:
        keep = np.array(results, bool)
        return [column[keep] for column in domain]
    if STRING_FUNCTORS[rule.functor].many:
        return _with_each(domain, results, context)
    codes = np.array([encode_scalar(rule.result, value, context.dictionary) for value in results], np.int64)
    return sort_rows([*domain, codes])


def _with_each(domain: Columns, results: Sequence[range], context: Context) -> Columns:
    """Each row of the domain with each of its numbers. Raises LimitError before they are made where they would pass a limit."""
    counts = np.array([len(numbers) for numbers in results], np.int64)
    total = int(counts.sum())
    context.spend(total)
    context.check_memory(8 * total * (len(domain) + 1))
    numbers = [each.start + each.step * np.arange(len(each), dtype=np.int64) for each in results]
    return sort_rows([*(np.repeat(column, counts) for column in domain), np.concatenate([*numbers, np.empty(0, np.int64)])])
