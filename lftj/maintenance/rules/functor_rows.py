# SPDX-License-Identifier: Apache-2.0
"""Functors as relations: the rows of the domain, each longer by each value of the functor (or kept,
when a predicate holds).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from lftj.errors import LftjError
from lftj.frames.frame import Target
from lftj.frames.out import to_values
from lftj.frames.python_columns import code_values
from lftj.functions import FUNCTORS, USERS, functor_named
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.shared_work import Account, each_of
from lftj.program.normal_form import FunctorRule
from lftj.scantree.rows import equal_runs, sort_rows
from lftj.types import NULL_CODE, STR, floats_to_codes
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import numpy_array
from lftj.types.texts import Texts

_CHARACTERS = 8  # of a string, made in the time of a kernel step
_TEXT_AT_ONCE = 4 << 20
"""Bytes of text between them, where patterns are looked for."""
_TEXT_OF_STEP = 64
"""Bytes of text that a pattern is looked for in, in the time of a kernel step or two."""

Found = TypeVar("Found")
_SLICE_ROWS = 8192
"""Rows between looks at limits and at Ctrl-C where Python makes each."""


def functor_rows(rule: FunctorRule, domain: Columns, context: Context) -> Columns:
    """The sorted rows of a functor's relation over these rows of its domain, which are sorted.

    By columns in Arrow where the functor can, else one Python call per row, about half a
    microsecond; values become codes, and codes values, a column at a time. `match` goes through all
    texts of a pattern at once. Rows count as work, and strings by their length: in a cycle they may
    grow for ever. Of NULL a functor is NULL, and a predicate does not hold.
    """
    optional = [column for type, column in zip(rule.types, domain, strict=True) if type.optional]
    given = replace(
        rule,
        types=tuple(type.required for type in rule.types),
        result=rule.result and rule.result.required,
    )
    absent = np.logical_or.reduce([column == NULL_CODE for column in optional] or [False])
    if not np.any(absent):
        return _rows_of_values(given, domain, context)
    found = _rows_of_values(given, [column[~absent] for column in domain], context)
    if rule.result is None or functor_named(rule.functor).many:
        return found
    null = np.full(int(absent.sum()), NULL_CODE)
    gaps = [*(column[absent] for column in domain), null]
    return sort_rows([np.concatenate(pair) for pair in zip(found, gaps, strict=True)])


def _rows_of_values(rule: FunctorRule, domain: Columns, context: Context) -> Columns:
    """The same where no argument is NULL."""
    functor = functor_named(rule.functor)
    try:
        if functor is USERS:
            results = context.resources.called.codes(rule.functor, domain, context)
            return [*domain, results]
        if functor.at_once is not None:
            keep = _matching(functor.at_once, domain, context) ^ rule.functor.startswith("!")
            return [column[keep] for column in domain]
        if functor.many:
            results = [found for piece in _slices(rule, domain, context, _each) for found in piece]
            return _with_each(domain, results, context)
        results = [np.empty(0, np.int64), *_slices(rule, domain, context, _codes_of)]
    except LftjError as error:
        error.span = error.span or rule.span
        raise
    if rule.result is None:
        keep = np.concatenate(results).astype(np.bool_)
        return [column[keep] for column in domain]
    return sort_rows([*domain, np.concatenate(results)])


_OfSlice = Callable[[FunctorRule, Columns, Context], tuple[Found, int]]
"""The results for some rows of a domain, and how many characters of text these have."""


def _slices(
    rule: FunctorRule, domain: Columns, context: Context, of: _OfSlice[Found]
) -> Iterator[Found]:
    """Yield the results of some thousand rows after the other."""
    made = 0  # bytes of text, about
    at_once = _SLICE_ROWS
    for first in range(0, len(domain[0]), at_once):
        some = [column[first : first + at_once] for column in domain]
        found, letters = of(rule, some, context)
        made += letters
        context.budget.spend(len(some[0]) + letters // _CHARACTERS)
        context.budget.check_memory(made)
        yield found


def _each(rule: FunctorRule, some: Columns, context: Context) -> tuple[list[Any], int]:
    """The result for each row, row by row."""
    arguments = [
        to_values(type, column, context.resources.dictionary)
        for type, column in zip(rule.types, some, strict=True)
    ]
    evaluate = FUNCTORS[rule.functor].evaluate
    found = [evaluate(*values) for values in zip(*arguments, strict=True)]
    return found, sum(map(len, found)) if rule.result == STR else 0


def _codes_of(rule: FunctorRule, some: Columns, context: Context) -> tuple[np.ndarray, int]:
    """The code of each row's result, of a predicate a truth value."""
    if (found := _by_columns(rule, some, context)) is not None:
        if rule.result != STR:
            return numpy_array(found).astype(np.int64), 0
        letters = pc.sum(pc.utf8_length(found)).as_py()
        return context.resources.dictionary.encode(found), letters
    values, letters = _each(rule, some, context)
    if rule.result is None:
        return np.array(values, np.int64), letters
    target = Target(rule.functor, rule.result, context.resources.dictionary)
    return code_values(values, target).codes, letters


def _by_columns(rule: FunctorRule, some: Columns, context: Context) -> pa.Array | None:
    """The results for some rows as Arrow has them; None where it has none."""
    columns, texts = FUNCTORS[rule.functor].columns, context.resources.dictionary.texts()
    if columns is None:
        return None
    try:
        return columns(
            *(
                texts.decode(column) if type.name == "str" else column
                for type, column in zip(rule.types, some, strict=True)
            )
        )
    except pa.ArrowException:  # more text than it has room for: row by row limits tell
        return None


def _matching(
    at_once: Callable[[str, Any], np.ndarray], domain: Columns, context: Context
) -> np.ndarray:
    """Mark the rows whose second column's text matches their first's, by which rows are sorted."""
    patterns, texts = domain
    known = context.resources.dictionary.texts()
    starts = equal_runs([patterns], 1).tolist()
    ends = [*starts[1:], len(texts)] if starts else []
    lengths = np.cumsum(known.lengths(texts))
    found = [np.empty(0, bool)]
    for first, last in zip(starts, ends, strict=True):
        test = partial(at_once, known.decode_one(int(patterns[first])))
        pieces = list(_pieces(lengths, first, last))
        match = partial(_piece, test, known, texts, pieces)
        found += each_of(len(pieces), match, context)
    return np.concatenate(found)


def _piece(
    test: Callable[[Any], np.ndarray],
    known: Texts,
    texts: np.ndarray,
    pieces: Sequence[tuple[int, int, int]],
    number: int,
    account: Account,
) -> np.ndarray:
    """The marks of the texts of one piece; on any thread."""
    begin, end, letters = pieces[number]
    marks = test(known.decode(texts[begin:end]))
    account.spend(end - begin + letters // _TEXT_OF_STEP)
    return marks


def _pieces(lengths: np.ndarray, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """The texts numbered [first, last), so many bytes at once: the ends of each piece, and its
    bytes. `lengths`: of the texts up to each.
    """
    while first < last:
        before = int(lengths[first - 1]) if first else 0
        behind = int(np.searchsorted(lengths, before + _TEXT_AT_ONCE, side="right"))
        end = min(last, max(first + 1, behind))
        yield first, end, int(lengths[end - 1]) - before
        first = end


def _codes(numbers: range | np.ndarray) -> np.ndarray:
    return (
        numbers.start + numbers.step * np.arange(len(numbers), dtype=np.int64)
        if isinstance(numbers, range)
        else floats_to_codes(numbers)
    )


def _with_each(domain: Columns, results: Sequence[range | np.ndarray], context: Context) -> Columns:
    """Each row of the domain with each of its numbers. Raises LimitError before they are made where
    they would pass a limit.
    """
    counts = np.array([len(numbers) for numbers in results], np.int64)
    total = int(counts.sum())
    context.budget.spend(total)
    context.budget.check_memory(8 * total * (len(domain) + 1))
    numbers = [_codes(each) for each in results]
    return sort_rows(
        [
            *(np.repeat(column, counts) for column in domain),
            np.concatenate([*numbers, np.empty(0, np.int64)]),
        ]
    )
