# SPDX-License-Identifier: Apache-2.0
"""Says that a kernel is being compiled: what is used for the first time on a machine takes seconds,
and a user should know why.

On a terminal in one line of standard error, gone at the end; in a notebook in a line that stays;
elsewhere by the logger `lftj`, at level INFO. Or by whoever shows a line of progress already.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Say = Callable[[str], None]

_others: list[Say] = []
_line = False
_several = False


@contextmanager
def said_by(say: Say) -> Iterator[None]:
    """Meanwhile have `say` called with each line of text, instead of standard error being written
    to.
    """
    _others.append(say)
    try:
        yield
    finally:
        _others.remove(say)


@contextmanager
def all_of(kernels: int) -> Iterator[None]:
    """Say once that so many kernels are being compiled, and meanwhile nothing of each."""
    global _several
    if _several:  # another thread has said it
        yield
        return
    _say(f"compiling {kernels} kernels, once for this machine: this may take half a minute")
    _several = True
    try:
        yield
    finally:
        _several = False
        end()


@contextmanager
def whole_library(kernels: int, seconds: int) -> Iterator[None]:
    """Say that the library of so many kernels is being built, and how long that may take."""
    _say(f"compiling {kernels} kernels, once for this machine: some {seconds} seconds")
    try:
        yield
    finally:
        end()


def begin(kernel: str) -> None:
    """Say that this kernel is being compiled."""
    if not _several:
        _say(f"compiling the kernel {kernel}, once for this machine")


def end() -> None:
    """Take it back."""
    global _line
    if _line and not _several:
        _line = False
        _write("\r\033[K")


def _say(text: str) -> None:
    global _line
    if _others:
        _others[-1](text)
    elif sys.stderr is not None and sys.stderr.isatty():
        _line = True
        _write(f"\rlftj: {text} …\033[K")
    elif "ipykernel" in sys.modules:
        _write(f"lftj: {text} …\n")
    else:
        logging.getLogger("lftj").info(text)


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads it any more
        sys.stderr.write(text)
        sys.stderr.flush()
