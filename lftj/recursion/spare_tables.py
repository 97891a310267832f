"""Hash tables that nobody uses any more, kept for the next one.

Zeroing memory that this process has is many times cheaper than having the system map and zero new pages, most of all on virtual machines.
A bounded amount is kept, the largest tables first given up.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

_MOST = 64 << 20  # bytes that are kept
_LEAST = 64 << 10  # bytes of a table that is worth keeping

_spare: dict[int, list[np.ndarray]] = {}  # bytes → tables of that size
_kept = 0
_lock = Lock()


def zeroed(slots: int, word: type[np.int64 | np.uint32]) -> np.ndarray:
    """An array of so many zeros."""
    global _kept
    size = slots * np.dtype(word).itemsize
    with _lock:
        tables = _spare.get(size)
        if not tables:
            return np.zeros(slots, word)
        table = tables.pop()
        _kept -= size
    table.fill(0)
    return table.view(word)


def give_back(table: np.ndarray) -> None:
    """Keep a table from `zeroed` that nobody reads any more, if there is room for it."""
    global _kept
    with _lock:
        if _LEAST <= table.nbytes <= _MOST - _kept:
            _spare.setdefault(table.nbytes, []).append(table.view(np.uint8))
            _kept += table.nbytes
