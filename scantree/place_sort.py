# SPDX-License-Identifier: Apache-2.0
"""The places of rows in ascending order: rows are sorted by one word each, what comes first in them
and behind that their place.

Of rows too wide for a word most begin differently all the same. What is behind is looked at only
where two begin alike; where too many do, rows are sorted column by column, from the last to the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from lftj.scantree.columns import as_matrix
from lftj.scantree.packing_kernels import KEY_BITS
from lftj.scantree.place_sort_kernels import add_field, sort_places, sort_ties, spread
from lftj.scantree.sharing import ALONE, Span, Threads, spans
from lftj.scantree.word_sort import FEW, digits_of, sort_words

_SAMPLED = 1 << 13
"""Rows from which on a sample takes less than what it may save."""
_SAMPLE = 1 << 10
_ALIKE = 2
"""Rows of a sample that may begin as others do without being equal to them: where more do, most
rows have many such.
"""
_BLOCK = 1 << 14
"""Values of which distances are taken at once: they stay in the processor's cache."""
_PATIENCE = 3
"""Words moved for each row beyond which too many begin alike after all."""

Columns = Sequence[np.ndarray]


class Field(NamedTuple):
    """The bits of a word that stand for a column: `kept` bits of the distance from its least value,
    without `dropped` low ones.
    """

    low: int
    kept: int
    dropped: int


def places_in_order(columns: Columns | np.ndarray, threads: Threads = ALONE) -> np.ndarray:
    """The positions of rows of int64 columns, or of a matrix of columns × rows, in ascending order;
    equal rows keep theirs.

    O(n · bits of a word), where rows are too wide and many begin alike O(n · bits of a row).
    """
    if len(columns[0]) < FEW:
        return np.lexsort(columns[::-1])
    columns = (
        columns if isinstance(columns, np.ndarray) else list(map(np.ascontiguousarray, columns))
    )
    places = _by_beginnings(columns, threads)
    return _by_columns(columns) if places is None else places


def beginnings(
    columns: Sequence[Callable[[], np.ndarray]], threads: Threads
) -> tuple[np.ndarray, int, int]:
    """Words of what comes first in some rows and, in so many low bits, of the place of each, in
    ascending order; and of how many columns something is in them. `columns` are asked for one at a
    time, and not for more than these.
    """
    rows = len(columns[0]())
    bits = (rows - 1).bit_length()
    fields, _ = _fields((column() for column in columns), KEY_BITS - bits, threads)
    words = _words((column() for column in columns), fields, threads)
    words <<= bits
    words |= np.arange(rows, dtype=np.int64)
    sort_words(words, bits + sum(field.kept for field in fields), bits, threads)
    return words, bits, len(fields)


def _by_beginnings(columns: Columns | np.ndarray, threads: Threads) -> np.ndarray | None:
    """The places; None where too many rows begin alike."""
    rows = len(columns[0])
    bits = (rows - 1).bit_length()
    fields, whole = _fields(columns, KEY_BITS - bits)
    if not whole and (
        rows < _SAMPLED or _many_alike([column[:: rows // _SAMPLE] for column in columns], fields)
    ):
        return None
    words = _words(columns, fields, threads)
    words <<= bits
    words |= np.arange(rows, dtype=np.int64)
    sort_words(words, bits + sum(field.kept for field in fields), bits, threads)
    if whole:
        return words & ((1 << bits) - 1)
    places = np.empty(rows, np.int64)
    return (
        places
        if sort_ties(words, bits, as_matrix(columns, len(columns)), places, _PATIENCE * rows)
        else None
    )


def spread_of(column: np.ndarray, threads: Threads) -> tuple[int, int, int]:
    """The least and the greatest value of a column of some rows, and the bits in which its values
    differ.
    """
    parts = [column[slice(*span)] for span in spans(len(column), threads)]
    found = [tuple(map(int, each)) for each in threads.together(spread, parts)]
    lows, highs, differing = zip(*found, strict=True)
    first = int(column[0])
    return (
        min(lows),
        max(highs),
        reduce(or_, (first ^ int(part[0]) for part in parts), 0) | reduce(or_, differing),
    )


def _fields(
    columns: Iterable[np.ndarray], room: int, threads: Threads = ALONE
) -> tuple[list[Field], bool]:
    """As much of each column, from the first on, as there is room for; and whether that is all
    there is, as far as one can tell.
    """
    fields: list[Field] = []
    whole = True
    for column in columns:
        if not room:
            return fields, False
        low, high, differing = spread_of(column, threads)
        alike = (
            (differing & -differing).bit_length() - 1 if differing else 0
        )  # low bits that are the same in all values
        width = (high - low).bit_length() - alike
        kept = min(width, room)
        fields.append(Field(low, kept, alike + width - kept))
        room, whole = room - kept, whole and kept == width
    return fields, whole


def _words(
    columns: Iterable[np.ndarray], fields: Sequence[Field], threads: Threads = ALONE
) -> np.ndarray:
    words: np.ndarray | None = None
    for field, column in zip(fields, columns, strict=False):
        if words is None:
            words = np.zeros(len(column), np.int64)
        if field.kept:
            add_column(words, column, field, threads)
    assert words is not None
    return words


def add_column(words: np.ndarray, column: np.ndarray, field: Field, threads: Threads) -> None:
    """Move each word up by the bits of a field, and put there what it has of the row's value."""

    def add(span: Span) -> None:
        for first in range(*span, _BLOCK):
            here = slice(first, min(first + _BLOCK, span[1]))
            # wraps where the values' range takes 64 bits: the bits that are kept are right then too
            distances = column[here] - np.int64(field.low)
            add_field(words[here], distances, field.kept, field.dropped)

    threads.together(add, spans(len(words), threads))


def _many_alike(sample: Columns, fields: Sequence[Field]) -> bool:
    """Test for many distinct rows with equal words, so many that each is compared with several
    others.
    """
    places = np.lexsort(sample[::-1])
    ordered = [column.take(places) for column in sample]
    words = _words(ordered, fields)
    differ = np.logical_or.reduce([values[1:] != values[:-1] for values in ordered])
    return int(np.count_nonzero((words[1:] == words[:-1]) & differ)) > _ALIKE


def _by_columns(columns: Columns | np.ndarray) -> np.ndarray:
    places = np.arange(len(columns[0]), dtype=np.int64)
    words_moved, places_moved = np.empty((2, places.size), np.int64)
    for column in reversed(columns):
        low = int(column.min())
        if bits := (int(column.max()) - low).bit_length():
            words, (width, digits) = column.take(places) - np.int64(low), digits_of(bits)
            sort_places(words, places, words_moved, places_moved, width, digits)
    return places
