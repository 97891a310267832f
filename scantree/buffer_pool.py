# SPDX-License-Identifier: Apache-2.0
"""Hash tables and buffers that are no longer in use, for the next user.

Zeroing memory that this process has is many times cheaper than having the system map and zero new
pages, most of all on virtual machines: to sort a million words that way takes longer for the memory
than for the words. The pool has a bounded size; a buffer that finds no room is freed.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from lftj.scantree.process.forking import held_while_forking

_MOST = 64 << 20  # bytes that are kept
_LEAST = 64 << 10  # bytes of a table that is worth keeping

_spare: dict[int, list[np.ndarray]] = {}  # bytes → tables of that size
_kept = 0
_lock = Lock()
held_while_forking(_lock)


def zeroed(slots: int, word: type[np.int64 | np.uint32]) -> np.ndarray:
    """An array of so many zeros, a power of two."""
    table = _taken(slots * np.dtype(word).itemsize)
    if table is None:
        return np.zeros(slots, word)
    table.fill(0)
    return table.view(word)


def unfilled(words: int) -> np.ndarray:
    """An array of so many words, whatever they are."""
    size = 8 << max(words - 1, 0).bit_length()
    table = _taken(size)
    return (np.empty(size, np.uint8) if table is None else table).view(np.int64)[:words]


def give_back(table: np.ndarray) -> None:
    """Keep an array of this module that nobody reads any more, if there is room for it."""
    global _kept
    whole = table if table.base is None else table.base
    assert isinstance(whole, np.ndarray)
    with _lock:
        if _LEAST <= whole.nbytes <= _MOST - _kept:
            _spare.setdefault(whole.nbytes, []).append(whole.view(np.uint8))
            _kept += whole.nbytes


def _taken(size: int) -> np.ndarray | None:
    """A table of `size` bytes that was given back."""
    global _kept
    with _lock:
        tables = _spare.get(size)
        if not tables:
            return None
        _kept -= size
        return tables.pop()
