"""Says that a kernel is being compiled: what is used for the first time on a machine takes seconds, and a user should know why.

On one line of standard error, gone at the end, and only when that is a terminal; or by whoever shows a line of progress already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Say = Callable[[str], None]

_others: list[Say] = []
_line = False


@contextmanager
def said_by(say: Say) -> Iterator[None]:
    """Meanwhile have `say` called with each line of text, instead of standard error being written to."""
    _others.append(say)
    try:
        yield
    finally:
        _others.remove(say)


def begin(kernel: str) -> None:
    """Say that this kernel is being compiled."""
    global _line
    text = f"compiling the kernel {kernel}, once for this machine"
    if _others:
        _others[-1](text)
    elif sys.stderr is not None and sys.stderr.isatty():
        _line = True
        _write(f"\rlftj: {text} …\033[K")


def end() -> None:
    """Take it back."""
    global _line
    if _line:
        _line = False
        _write("\r\033[K")


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads it any more
        sys.stderr.write(text)
        sys.stderr.flush()
