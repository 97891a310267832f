# SPDX-License-Identifier: Apache-2.0
"""Codes of many texts at a time, found in compiled code among the texts of a dictionary.

A Python `dict` finds one string sooner than a kernel can be called; for a batch each of its
look-ups waits for memory, four places one after another, and each needs a `str` object first. Here
a batch is read where Arrow has it, and look-ups go side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from lftj.scantree.frozen import frozen
from lftj.scantree.jit import address
from lftj.types.arrow_arrays import arrow_array
from lftj.types.text_index_kernels import enter, enter_some, find, find_or_enter

_SLOTS = 1 << 11
_ROOM = 2  # slots for each text, at least


@frozen
class Table:
    """The codes [first, last) in slots that are not changed any more. Other dictionaries with these
    texts, perhaps not all of them, may use it: what is found is compared with their texts.
    """

    slots: np.ndarray
    first: int
    last: int

    @staticmethod
    def of(
        offsets: np.ndarray,
        data: np.ndarray,
        first: int,
        last: int,
        forgotten: np.ndarray | None = None,
    ) -> Table:
        """Table of texts of a dictionary, but for those `forgotten`. O(last − first)."""
        if forgotten is None or not len(forgotten):
            slots = np.zeros(slots_for(last - first), np.int64)
            enter(slots, _shift(slots), address(offsets), address(data), first, last)
        else:
            kept = np.setdiff1d(np.arange(first, last), forgotten, assume_unique=True)
            slots = np.zeros(slots_for(len(kept)), np.int64)
            enter_some(slots, _shift(slots), address(offsets), address(data), kept)
        return Table(slots, first, last)


class TextIndex:
    """An open-addressing table of the codes of distinct texts. 16 to 32 bytes a text. Whoever
    writes sees to it that no one reads.

    Codes that tables from elsewhere have are not entered here.
    """

    def __init__(
        self, tables: Sequence[Table] = (), count: int = 0, kept: np.ndarray | None = None
    ) -> None:
        """`tables` are of texts below `count`; those that none has are entered at the first call of
        `extend`, or only the codes `kept`.
        """
        self._slots = np.zeros(_SLOTS, np.int64)
        self._tables = sorted(tables, key=lambda table: table.first - table.last)
        missing = (np.arange(first, last) for first, last in gaps(tables, count))
        self._kept = np.concatenate([np.empty(0, np.int64), *missing]) if kept is None else kept
        self._first = count
        self._count = 0 if len(self._kept) else count
        self._unfinished = False

    def extend(self, offsets: np.ndarray, data: np.ndarray) -> None:
        """Take in the codes that came since the last call; the arrays are a dictionary's, of all
        texts. O(new texts), at times O(all).
        """
        self._finish(offsets, data)
        self._make_room(offsets, data, 0)

    def _make_room(self, offsets: np.ndarray, data: np.ndarray, more: int) -> None:
        """Take in what is there, with slots for so many more texts."""
        count = len(offsets) - 1
        own = count - self._first + len(self._kept) + more
        slots, first = self._slots, self._count
        if first < self._first or _ROOM * own > len(slots):
            slots, first = np.zeros(max(len(slots), slots_for(own)), np.int64), self._first
            enter_some(slots, _shift(slots), address(offsets), address(data), self._kept)
        if count > first:
            enter(slots, _shift(slots), address(offsets), address(data), first, count)
        self._slots, self._count = slots, count

    def find_or_enter(
        self, offsets: np.ndarray, data: np.ndarray, texts: pa.StringArray | pa.LargeStringArray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The code of each text, of which none is NULL, and the places of those that are new, which
        get the next codes. O(bytes). Tables from elsewhere have none of them.

        Once these are behind the other texts of the dictionary, `entered` is to be called: until
        then the index is made anew whenever it is used.
        """
        self._finish(offsets, data)
        count = len(offsets) - 1
        self._make_room(offsets, data, len(texts))
        ends, text = bytes_of_texts(texts)
        codes, fresh = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        known, here = (address(offsets), address(data)), (address(ends), address(text))
        self._unfinished, slots = True, self._slots
        new = find_or_enter(slots, _shift(slots), *known, count, *here, fresh, codes)
        return codes, fresh[: int(new)]

    def entered(self, count: int) -> None:
        """The texts that were entered last are those before `count`."""
        self._count, self._unfinished = count, False

    def _finish(self, offsets: np.ndarray, data: np.ndarray) -> None:
        """Make the index anew if an interrupt left texts in it that the dictionary lacks."""
        if self._unfinished:
            self._slots = np.zeros(_SLOTS, np.int64)
            self._count = 0 if len(self._kept) else self._first
            self._unfinished = False
            self._make_room(offsets, data, 0)

    def codes(self) -> np.ndarray:
        """Codes that the index finds beside those of its tables, ascending."""
        return np.concatenate([self._kept, np.arange(self._first, self._count)])

    def find(
        self, offsets: np.ndarray, data: np.ndarray, texts: pa.StringArray | pa.LargeStringArray
    ) -> tuple[np.ndarray, int]:
        """The code of each text, of which none is NULL, −1 for those that have none, and how many
        these are. O(bytes).
        """
        self._finish(offsets, data)
        codes, missing = _find(self._slots, offsets, data, texts)
        for table in self._tables:
            if not missing:
                break
            places = np.flatnonzero(codes < 0)
            found, _ = _find(table.slots, offsets, data, texts.take(arrow_array(places)))
            found[found >= self._first] = -1
            codes[places] = found
            missing = int((codes < 0).sum())
        return codes, missing


def _find(
    slots: np.ndarray,
    offsets: np.ndarray,
    data: np.ndarray,
    texts: pa.StringArray | pa.LargeStringArray,
) -> tuple[np.ndarray, int]:
    codes = np.empty(len(texts), np.int64)
    if not len(codes):
        return codes, 0
    ends, text = bytes_of_texts(texts)
    missing = find(
        slots, _shift(slots), address(offsets), address(data), address(ends), address(text), codes
    )
    return codes, int(missing)


def places_of_texts(texts: pa.StringArray | pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """As `bytes_of_texts`, the ends in as many bits as the array has."""
    _, ends, text = texts.buffers()
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    last = texts.offset + len(texts)
    places = np.frombuffer(ends, kind, last + 1)[texts.offset :]
    if text is None or not len(text):
        return places, np.zeros(1, np.uint8)
    return places, np.frombuffer(text, np.uint8)


def bytes_of_texts(texts: pa.StringArray | pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of texts (int64), the first of them where the first text begins, and their bytes."""
    places, text = places_of_texts(texts)
    return places.astype(np.int64), text


def gaps(tables: Iterable[Table], count: int) -> Iterator[tuple[int, int]]:
    """The ranges of codes below `count` that no table has."""
    known = 0
    for table in sorted(tables, key=lambda table: table.first):
        if table.first > known:
            yield known, min(table.first, count)
        known = max(known, table.last)
    if known < count:
        yield known, count


def slots_for(texts: int) -> int:
    """Number of slots in a table of so many texts: a power of two."""
    return max(_SLOTS, 1 << (_ROOM * texts - 1).bit_length() if texts else 0)


def _shift(slots: np.ndarray) -> int:
    """Shift by which a hash of 63 bits becomes the number of a slot."""
    return 64 - len(slots).bit_length()
