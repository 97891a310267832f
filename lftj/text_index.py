"""Codes of many texts at a time, found in compiled code among the texts of a dictionary.

A Python `dict` finds one string sooner than a kernel can be called; for a batch each of its look-ups waits for memory, four places one
after another, and each needs a `str` object first. Here a batch is read where Arrow has it, and look-ups go side by side.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lftj.text_index_kernels import enter, find
from scantree.jit import address

_SLOTS = 1 << 11
_ROOM = 2  # slots for each text, at least


class TextIndex:
    """An open-addressing table of the codes of distinct texts. 16 to 32 bytes a text. Whoever writes sees to it that no one reads."""

    def __init__(self) -> None:
        self._slots = np.zeros(_SLOTS, np.int64)
        self._count = 0

    def extend(self, offsets: np.ndarray, data: np.ndarray) -> None:
        """Take in the codes that came since the last call; the arrays are a dictionary's, of all texts. O(new texts), at times O(all)."""
        count = len(offsets) - 1
        first, size = self._count, len(self._slots)
        if _ROOM * count > size:
            first, size = 0, 1 << (_ROOM * count - 1).bit_length()
        slots = np.zeros(size, np.int64) if first < self._count or size > len(self._slots) else self._slots
        if count > first:
            enter(slots, _shift(slots), address(offsets), address(data), first, count)
        self._slots, self._count = slots, count

    def find(self, offsets: np.ndarray, data: np.ndarray, texts: pa.StringArray | pa.LargeStringArray) -> tuple[np.ndarray, int]:
        """The code of each text, of which none is NULL, −1 for those that have none, and how many these are. O(bytes)."""
        _, ends, text = texts.buffers()
        codes = np.empty(len(texts), np.int64)
        if not len(codes):
            return codes, 0
        kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        ends = np.frombuffer(ends, kind)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
        text = np.frombuffer(text, np.uint8) if text is not None and len(text) else np.zeros(1, np.uint8)
        missing = find(self._slots, _shift(self._slots), address(offsets), address(data), address(ends), address(text), codes)
        return codes, int(missing)


def _shift(slots: np.ndarray) -> int:
    """By which a hash of 63 bits becomes the number of a slot."""
    return 64 - len(slots).bit_length()
