# SPDX-License-Identifier: Apache-2.0
"""Columns that are coded when they are asked for, whole or some rows at a time: of what an Arrow
table holds no second copy has to be there at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lftj.errors import WrongValueError
from lftj.frames.arrow_columns import code_texts, held_in, is_held, is_text, require_whole
from lftj.frames.frame import Late, Target
from lftj.types import NULL_CODE, floats_to_codes
from lftj.types.arrow_arrays import arrow_array, as_large_strings, numpy_array, writable_view
from lftj.types.expected_texts import ExpectedTexts
from lftj.types.text_index import places_of_texts

_BLOCK = 1 << 14  # values that stay in the nearest caches
_PLAIN_TEXTS = (pa.string(), pa.large_string())

Refused = Callable[[WrongValueError], WrongValueError]
"""Makes the error about a value that of all that do not fit."""


class HeldCodes(NamedTuple):
    """Codes that are there already."""

    codes: np.ndarray

    def __call__(self) -> np.ndarray:
        """See `Late`."""
        return self.codes

    def read(self, first: int, out: np.ndarray, beside: np.ndarray) -> None:
        """See `Late`."""
        out[:] = self.codes[first : first + len(out)]


class _Chunks:
    """Base of a column in chunks, some of which lack values."""

    def __init__(self, chunks: Sequence[Any]) -> None:
        self._chunks = chunks
        self._ends = list(accumulate(map(len, chunks)))

    def _spans(self, first: int, rows: int) -> Iterator[tuple[int, int, slice]]:
        """The chunks that hold so many rows from `first` on: the number of each, its first row of
        these, and which of the rows it holds.
        """
        done, number = 0, bisect_right(self._ends, first)
        while done < rows:
            end = self._ends[number]
            start = first + done - (end - len(self._chunks[number]))
            size = min(rows - done, end - first - done)
            yield number, start, slice(done, done + size)
            done, number = done + size, number + 1

    def _missing(self, number: int, start: int, rows: int) -> np.ndarray | None:
        """True where some rows of a chunk have no value; None where all have one."""
        chunk = self._chunks[number]
        return numpy_array(chunk.slice(start, rows).is_null()) if chunk.null_count else None


class LateNumbers(_Chunks):
    """A column of an Arrow table whose memory holds its codes, or floats, if in fewer bits."""

    def __init__(self, chunks: Sequence[Any], values: Sequence[np.ndarray], floats: bool) -> None:
        """`values`: of each chunk, anything where it lacks one."""
        super().__init__(chunks)
        self._values, self._floats = values, floats

    def __call__(self) -> np.ndarray:
        """See `Late`. It may be the memory of the table."""
        if len(self._values) == 1 and not self._chunks[0].null_count:
            only = self._values[0]
            if only.dtype == np.int64 and only.flags.c_contiguous and only.flags.aligned:
                return writable_view(only)
        codes = np.empty(sum(map(len, self._values)), np.int64)
        for first in range(0, len(codes), _BLOCK):
            out = codes[first : first + _BLOCK]
            self.read(first, out, out)
        return codes

    def read(self, first: int, out: np.ndarray, beside: np.ndarray) -> None:
        """See `Late`."""
        for number, start, here in self._spans(first, len(out)):
            rows = here.stop - here.start
            values = self._values[number][start : start + rows]
            if self._floats:
                floats_to_codes(values, out[here])
            else:
                out[here] = values
            if (missing := self._missing(number, start, rows)) is not None:
                np.putmask(out[here], missing, NULL_CODE)


class LateTexts(_Chunks):
    """A column of strings of an Arrow table, coded as texts that are probably there already."""

    def __init__(self, chunks: Sequence[Any], target: Target, refused: Refused) -> None:
        super().__init__(chunks)
        self._target, self._refused = target, refused
        self._places = list(map(places_of_texts, chunks))

    def __call__(self) -> np.ndarray:
        """See `Late`."""
        codes = np.empty(self._ends[-1] if self._ends else 0, np.int64)
        assert self._target.expected is not None
        self._code(0, codes, self._target.expected)
        return codes

    def read(self, first: int, out: np.ndarray, beside: np.ndarray) -> None:
        """See `Late`."""
        self._code(first, out, ExpectedTexts(lambda: beside))

    def _code(self, first: int, out: np.ndarray, expected: ExpectedTexts) -> None:
        flat = self._target.dictionary.flat()
        for number, start, here in self._spans(first, len(out)):
            codes, rows = out[here], here.stop - here.start
            places, text = self._places[number]
            codes[:] = 0
            if (missing := self._missing(number, start, rows)) is not None:
                np.putmask(codes, missing, NULL_CODE)
            ends = places[start : start + rows + 1].astype(np.int64)
            missed = expected.find(flat, (ends, text), codes)
            if len(missed):
                self._look_up(number, start, missed, codes, first + here.start)

    def _look_up(
        self, number: int, start: int, missed: np.ndarray, codes: np.ndarray, first: int
    ) -> None:
        """The codes of texts that are not expected, or of all where these are most."""
        chunk = self._chunks[number]
        texts = chunk.slice(start, len(codes))
        if 2 * len(missed) > len(codes) and not chunk.null_count:
            missed = np.arange(len(codes))
        else:
            texts = texts.take(arrow_array(missed))
        try:
            codes[missed] = code_texts(texts, self._target._replace(expected=None), first + missed)
        except WrongValueError as error:
            raise self._refused(error) from None


def late_codes(column: pa.ChunkedArray, target: Target, refused: Refused) -> Late | None:
    """The codes of a column, to be made when they are asked for; None where a value has none, or
    others would have to be made first. O(n) for what has a range. Raises FrameError (E232) for a
    damaged column.

    Strings are late where some are expected; bytes that are no text are `refused` then.
    """
    floats, texts = (target.type.name == name for name in ("float", "str"))
    if (
        (target.expected is None or not is_text(column.type))
        if texts
        else not is_held(column.type, target.type)
    ):
        return None
    require_whole(column, target.name, target.place)
    if column.null_count and not target.type.optional:
        return None
    if texts:
        found = column if column.type in _PLAIN_TEXTS else as_large_strings(column)
        pieces = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
        return LateTexts([each for each in pieces if len(each)], target, refused)
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    values = [held_in(chunk, target.type) for chunk in chunks]
    known = [each for each in values if each is not None]
    return LateNumbers(chunks, known, floats) if len(known) == len(chunks) else None
