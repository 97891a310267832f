# SPDX-License-Identifier: Apache-2.0
"""Memory that a process gives back, and soon wants again."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # parameters of mallopt(3)
_KEPT = 1 << 30


def keep_memory() -> None:
    """Have this process, and those forked from it, keep up to a GB of memory that they gave back.

    Workers do much the same again and again, and fresh pages are dear. Only the GNU library takes
    this; others go on as they do.
    """
    with suppress(OSError, AttributeError):
        tell = ctypes.CDLL(None).mallopt
        tell(_MMAP_MAX, 0)
        tell(_TRIM_THRESHOLD, _KEPT)
