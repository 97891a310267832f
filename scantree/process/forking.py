# SPDX-License-Identifier: Apache-2.0
"""Locks that a forked child finds free, and what they guard whole; and what a child has to put
right.

A child has the memory of its parent as it was, but only the thread that forked: what other threads
held, nobody gives back there, and what they were changing stays as it is.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

_PATIENCE = 5.0
"""Seconds to wait for a lock: it is the forking thread's own where a handler of signals forks."""

_locks: dict[weakref.ref[Any], None] = {}
_to_put_right: dict[weakref.ref[Any], Callable[[Any], None]] = {}
_held = threading.local()


def held_while_forking(lock: threading.Lock | threading.RLock) -> None:
    """Have whoever forks wait for this lock, so that no other thread has it then. Of locks held
    together register the outer one last.
    """
    _locks[weakref.ref(lock, _locks.pop)] = None


def put_right_in_child(owner: object, method: Callable[[Any], None]) -> None:
    """Have a forked child call `method(owner)` before it does anything else, as long as the owner
    lives: for what is held too long to wait for. One method for each owner.
    """
    _to_put_right[weakref.ref(owner, _to_put_right.pop)] = method


def _put_right() -> None:
    _release_all()
    for reference, method in tuple(_to_put_right.items()):
        if (owner := reference()) is not None:
            method(owner)


def _hold_all() -> None:
    known = (reference() for reference in reversed(tuple(_locks)))
    _held.locks = [lock for lock in known if lock is not None and lock.acquire(timeout=_PATIENCE)]


def _release_all() -> None:
    for lock in _held.__dict__.pop("locks", ()):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_put_right)
