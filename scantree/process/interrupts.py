# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C where what it raises would be lost, or would leave something half made.

While a kernel runs that returns arrays: Numba makes the arrays' Python objects by way of a function
in Python, where the handler of a signal that has come meanwhile is called. What it raises is lost
sight of: the interpreter says that the kernel `returned a result with an exception set`, a
SystemError.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def raised_by_signal(error: BaseException | None) -> BaseException | None:
    """Find the exception of a signal's handler, most often KeyboardInterrupt, from which the
    interpreter made `error`; None where there is none.
    """
    wrapped = error
    while isinstance(wrapped, SystemError) and "returned a result with an exception set" in str(
        wrapped
    ):
        wrapped = wrapped.__cause__  # another such error, where several arrays were made
    return None if wrapped is error else wrapped


class interrupts_as_such(ContextDecorator):
    """Context manager and decorator: an exception of a signal's handler leaves the block as it was
    raised.
    """

    def __call__(self, function: Function) -> Function:
        """The function, as a block: one call more, where Python's own decorator takes four."""

        @wraps(function)
        def guarded(*given: Any, **named: Any) -> Any:
            try:
                return function(*given, **named)
            except BaseException as error:
                if (raised := raised_by_signal(error)) is not None:
                    raise raised from None
                raise

        return guarded  # type: ignore[return-value]

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and (raised := raised_by_signal(error)) is not None:
            raise raised from None


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Ctrl-C waits until the block is over: for what is left half made, unusable ever after, when
    it is interrupted.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if waiting:
            previous(*waiting[0])
