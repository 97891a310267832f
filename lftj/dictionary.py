"""The dictionary of strings: every distinct string gets the next free code 0, 1, 2, … and keeps it for ever.

Strings are kept twice: in a Python `dict` (to find a string's code) and as UTF-8 bytes end to end in NumPy arrays (to find a code's
string, in bulk and in compiled code), with an index of these (to find the codes of a batch). Memory: about 190 bytes plus twice its
length for a string of ASCII letters, most of it the `dict` and its `str` objects. Nothing is ever forgotten: the strings of rows that were
deleted or rolled back stay. A dictionary may begin with strings that lie in mapped files (`begin`): of these it keeps nothing.

One writer at a time (a lock sees to it); readers take no lock. What a reader holds stays valid while others add strings: the arrays are
replaced when they grow and are never changed in the part that was handed out.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from lftj.errors import NullValueError, ValueTypeError
from lftj.text_index import Table, TextIndex

pc: Any = pyarrow.compute  # its functions are made at import time, where no type checker sees them


_ENTRY = 190
"""Bytes of a string of no letters in the `dict`, in the index and as an offset."""


class Dictionary:
    """Append-only interning of strings to dense int64 codes in order of arrival."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._first = 0  # the first code whose string is in the `dict`
        self._offsets = np.zeros(1024, dtype=np.int64)
        self._data = np.empty(8192, dtype=np.uint8)
        self._flat = (self._offsets[:1], self._data[:0])
        self._index = TextIndex()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._flat[0]) - 1

    @property
    def bytes_in_use(self) -> int:
        """About what the strings take, in all the ways they are kept; those in mapped files take nothing. O(1)."""
        offsets, data = self._flat
        return _ENTRY * (len(self) - self._first) + 2 * (len(data) - int(offsets[self._first]))

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.lookup(text) is not None

    def begin(self, offsets: np.ndarray, data: np.ndarray, count: int, tables: Sequence[Table]) -> None:
        """Take the first `count` strings from arrays as those of `flat`, with room behind them for more; the dictionary is empty.

        `tables` find their codes; those that none has are entered. Nothing else is read: O(strings without a table). Only strings that come
        later are kept in the `dict`.
        """
        assert not len(self)
        with self._lock:
            self._first, self._offsets, self._data = count, offsets, data
            self._flat = (offsets[: count + 1], data[: int(offsets[count])])
            self._index = TextIndex(tables, count)
            self._index.extend(*self._flat)

    # ── strings to codes ──────────────────────────────────────────────────────────────────────────────────────────────
    def encode(self, strings: pa.Array | pa.ChunkedArray | Sequence[str]) -> np.ndarray:
        """Codes (int64, one per string) of an Arrow array of any string type or of a sequence of `str`; new strings are added.

        A batch of fewer strings than are known takes one compiled pass. Of others, and of what that did not find, only the distinct strings
        pass through Python: O(n) in Arrow plus O(distinct) look-ups at about 0.2 µs.
        Raises NullValueError for NULL, ValueTypeError for what is not a string of Unicode characters.
        """
        batch = _one_piece(strings)
        if batch.null_count:
            row = int(np.flatnonzero(np.asarray(batch.is_null()))[0])
            raise NullValueError(f"row {row}: NULL is not a string", hint='leave the row out, or load with nulls="drop"')
        if len(batch) > len(self):
            distinct = as_large_strings(batch).dictionary_encode()
            return self._encode_distinct(distinct.dictionary)[distinct.indices.to_numpy(zero_copy_only=False)]
        with self._lock:
            codes, missing = self._index.find(*self._flat, batch)
        if missing:
            new = np.flatnonzero(codes < 0)
            texts = _texts(batch.take(pa.array(new)))
            self._encode_distinct(pa.array(list(dict.fromkeys(texts)), type=pa.large_string()))
            codes[new] = np.fromiter(map(self._codes.__getitem__, texts), dtype=np.int64, count=len(texts))
        return codes

    def encode_one(self, text: str) -> int:
        """The code of one string, added when new. Raises ValueTypeError for a lone surrogate, which UTF-8 cannot hold."""
        code = self._codes.get(text)
        return int(self.encode([text])[0]) if code is None else code

    def lookup(self, text: str) -> int | None:
        """The code of a string, or None when it never entered the dictionary. O(1)."""
        code = self._codes.get(text)
        if code is None and self._first:
            with self._lock, suppress(ValueTypeError):
                code = int(self._index.find(*self._flat, _one_piece([text]))[0][0])
        return None if code is None or code < 0 else code

    def _encode_distinct(self, distinct: pa.Array) -> np.ndarray:
        texts = _texts(distinct)
        with self._lock:
            known = self._codes
            self._finish()
            codes = np.fromiter(map(known.get, texts, repeat(-1)), dtype=np.int64, count=len(texts))
            new = np.flatnonzero(codes < 0)
            if len(new) and self._first:
                codes[new] = self._index.find(*self._flat, distinct.take(pa.array(new)))[0]
                new = np.flatnonzero(codes < 0)
            if len(new):
                first = len(self)
                codes[new] = np.arange(first, first + len(new))
                if len(new) < len(texts):
                    distinct, texts = distinct.take(pa.array(new)), [texts[i] for i in new.tolist()]
                self._append(distinct)
                known.update(zip(texts, range(first, first + len(new)), strict=True))
        return codes

    def _finish(self) -> None:
        """Ends what an interrupt (Ctrl-C) left half done: strings whose bytes are published but that cannot be looked up yet."""
        for code in range(self._first + len(self._codes), len(self)):
            self._codes[self.decode_one(code)] = code

    # ── codes to strings ──────────────────────────────────────────────────────────────────────────────────────────────
    def flat(self) -> tuple[np.ndarray, np.ndarray]:
        """`(offsets int64[n+1], data uint8[])`: code c is the UTF-8 text `data[offsets[c]:offsets[c+1]]`. O(1), no copy.

        The arrays cover the codes known now and stay valid; call again to see strings that came later. Read only.
        """
        return self._flat

    def decode(self, codes: np.ndarray | Sequence[int]) -> pa.StringArray:
        """The strings of codes. O(n + bytes), in Arrow. The strings together must stay below 2 GiB, which is what a StringArray holds."""
        offsets, data = self._flat
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        every = pa.LargeStringArray.from_buffers(len(offsets) - 1, buffers[1], buffers[2])
        return every.take(pa.array(codes, type=pa.int64())).cast(pa.string())

    def decode_one(self, code: int) -> str:
        """The string of one code. O(length). Raises IndexError for a code never given out."""
        offsets, data = self._flat
        if not 0 <= code < len(offsets) - 1:
            raise IndexError(f"no string has code {code}")
        return data[offsets[code] : offsets[code + 1]].tobytes().decode()

    def lengths(self, codes: np.ndarray) -> np.ndarray:
        """Bytes (int64) of each code's UTF-8 text."""
        offsets, _ = self._flat
        return offsets[codes + 1] - offsets[codes]

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """For *distinct* codes, the place (int64, from 0) of each among them in order of code points. O(n log n) string comparisons."""
        offsets, data = self._flat
        every = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
        order = pc.sort_indices(every.take(pa.array(codes, type=pa.int64())))  # by bytes: in UTF-8 that is by code point
        ranks = np.empty(len(codes), dtype=np.int64)
        ranks[order.to_numpy()] = np.arange(len(codes))
        return ranks

    def _append(self, strings: pa.Array) -> None:
        """Adds the bytes of new strings behind the known ones, then shows both arrays to readers in one assignment."""
        count, used = len(self), int(self._offsets[len(self)])
        ends = used + np.cumsum(pc.binary_length(strings).to_numpy().astype(np.int64))
        self._offsets = _with_room(self._offsets, count + 1, count + 1 + len(strings))
        self._data = _with_room(self._data, used, int(ends[-1]))
        self._offsets[count + 1 : count + 1 + len(strings)] = ends
        self._data[used : ends[-1]] = _bytes_of(strings)
        self._flat = (self._offsets[: count + 1 + len(strings)], self._data[: ends[-1]])
        self._index.extend(*self._flat)


def _one_piece(strings: Any) -> Any:
    """The strings as an Arrow array with one buffer of text. Raises ValueTypeError for what are no strings of Unicode characters."""
    if isinstance(strings, pa.ChunkedArray) and strings.num_chunks == 1:
        strings = strings.chunk(0)
    if isinstance(strings, (pa.StringArray, pa.LargeStringArray)):
        return strings
    if isinstance(strings, (pa.Array, pa.ChunkedArray)):
        return as_large_strings(strings)
    try:
        return pa.array(strings, type=pa.large_string())
    except (UnicodeEncodeError, pa.ArrowTypeError, pa.ArrowInvalid) as reason:
        raise ValueTypeError(f"not a string of Unicode characters: {reason}", hint="remove lone surrogates") from None


def _texts(strings: Any) -> list[str]:
    """The strings of an Arrow array, whose bytes nobody has looked at yet. Raises ValueTypeError for bytes that are not UTF-8."""
    try:
        texts: list[str] = strings.to_pylist()
    except UnicodeDecodeError as reason:
        raise ValueTypeError(f"not a string of Unicode characters: {reason}", hint="write the text anew in UTF-8") from None
    return texts


def as_large_strings(strings: Any) -> pa.LargeStringArray:
    """An Arrow column of any string type, dictionary-encoded or chunked, in the one layout that all of Arrow's functions know."""
    if isinstance(strings, pa.ChunkedArray):
        chunks = [as_large_strings(chunk) for chunk in strings.chunks]
        return pa.chunked_array(chunks, type=pa.large_string()).combine_chunks()
    if isinstance(strings, pa.DictionaryArray):
        strings = pa.DictionaryArray.from_arrays(strings.indices, strings.dictionary.cast(pa.large_string()))
    return strings.cast(pa.large_string())


def _with_room(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    """`array` itself, or a copy of its used part at least twice as long; readers may go on with the old one."""
    if needed <= len(array):
        return array
    grown = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    grown[:used] = array[:used]
    return grown


def _bytes_of(strings: pa.LargeStringArray) -> np.ndarray:
    """The UTF-8 bytes of an array without NULL, end to end (uint8)."""
    _, offsets, data = strings.buffers()
    if data is None:
        return np.empty(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]
