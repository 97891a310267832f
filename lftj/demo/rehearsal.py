# SPDX-License-Identifier: Apache-2.0
"""A few days of flights played through once per machine, so that no time the demo shows holds the
compilation of kernels.
"""

from __future__ import annotations

import time
from contextlib import suppress

from lftj.demo import feed
from lftj.demo.desk import Desk
from lftj.scantree.jit.directory import DISABLED, cache_directory
from lftj.scantree.jit.library import library

_DAYS = 2  # days loaded, and as many committed


def rehearsed() -> bool:
    """True when the kernels of the demo were compiled on this machine already, or never are."""
    return DISABLED or library() is not None or (cache_directory() / "demo-rehearsed").exists()


def rehearse() -> float:
    """Load and commit a few days in a workspace of their own, which compiles what that needs; the
    seconds it took.
    """
    started = time.perf_counter()
    desk = Desk()
    last = feed.FIRST_DAY - feed.ONE_DAY * _DAYS
    desk.load(last, first=last - feed.ONE_DAY * _DAYS)
    for days in range(1, _DAYS + 1):
        desk.commit(last + feed.ONE_DAY * days)
    desk.check()
    with suppress(OSError):  # a cache that cannot be written keeps no kernels either
        (cache_directory() / "demo-rehearsed").touch()
    return time.perf_counter() - started
