"""Ctrl-C while a kernel runs that returns arrays.

Numba makes the arrays' Python objects by way of a function in Python, where the handler of a signal that has come meanwhile is called. What
it raises is lost sight of: the interpreter says that the kernel `returned a result with an exception set`, a SystemError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def raised_by_signal(error: BaseException | None) -> BaseException | None:
    """What a signal's handler raised, most often KeyboardInterrupt, where `error` is what the interpreter made of it; else None."""
    wrapped = error
    while isinstance(wrapped, SystemError) and "returned a result with an exception set" in str(wrapped):
        wrapped = wrapped.__cause__  # another such error, where several arrays were made
    return None if wrapped is error else wrapped


@contextmanager
def interrupts_as_such() -> Iterator[None]:
    """What a signal's handler raises inside the block, or a function that this decorates, leaves it as what it is."""
    try:
        yield
    except SystemError as error:
        if (raised := raised_by_signal(error)) is not None:
            raise raised from None
        raise
