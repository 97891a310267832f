# SPDX-License-Identifier: Apache-2.0
"""Limits on the work, time and memory of an evaluation, which is stopped and rolled back beyond
them.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from lftj.engine.calls.uncopied import Uncopied
from lftj.errors import DeclarationError, LimitError
from lftj.join.budget import WORD_READ, out_of_memory, timed_out
from lftj.scantree.frozen import frozen


@frozen(slots=True)
class Limits:
    """Per commit or query: `work` in kernel steps (the same on every machine; strings that functors
    make count by their length), `seconds`, and `memory` in bytes of all pages and strings.

    Raises DeclarationError (E160) for a limit that is no number.
    """

    work: int | None = None
    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, unit in (("work", "kernel steps"), ("seconds", "seconds"), ("memory", "bytes")):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, float)) or value != value
            ):
                hint = f"leave it out for no limit: `with ws.limits({name}=…):`"
                raise DeclarationError(
                    f"limit `{name}` is a number of {unit}, found {value!r}", hint=hint
                )

    @property
    def deadline(self) -> float | None:
        """The time limit from now on, on the clock of `time.monotonic`."""
        return None if self.seconds is None else time.monotonic() + self.seconds

    def within(self, outer: Limits) -> Limits:
        """Combine these limits with those of `outer` for all that these leave open."""
        return Limits(
            outer.work if self.work is None else self.work,
            outer.seconds if self.seconds is None else self.seconds,
            outer.memory if self.memory is None else self.memory,
        )


_NONE = Limits()


class LimitStack:
    """The limits in force, for each thread its own: `with` blocks nest, and the inner
    one decides.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def current(self) -> Limits:
        """The limits of this thread."""
        return getattr(self._local, "limits", _NONE)

    def set(self, limits: Limits) -> AbstractContextManager[None]:
        """Set these limits inside the `with` block."""
        return _Block(self, limits)

    def change(self, limits: Limits) -> None:
        """Set the limits of this thread from now on."""
        self._local.limits = limits


class _Block(Uncopied, AbstractContextManager[None]):
    """Context manager of a block of limits. One that is never entered would limit nothing, and
    raises an error.
    """

    kind, instead = "block of limits", "call ws.limits(…) again"
    _entered = True

    def __init__(self, stack: LimitStack, limits: Limits):
        self._stack, self._limits = stack, limits
        self._before: list[Limits] = []
        self._entered = False

    def __enter__(self) -> None:
        self._entered = True
        self._before.append(self._stack.current)
        self._stack.change(self._limits.within(self._stack.current))

    def __exit__(self, *error: object) -> None:
        self._stack.change(self._before.pop())

    def __del__(self) -> None:
        if not self._entered:
            message = (
                "ws.limits(…) bounds what is done inside `with ws.limits(…):`, and was used "
                "without it: nothing was bounded"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=2)


def in_time(limits: Limits) -> Callable[[int], None]:
    """A listener (`attending`) that raises LimitError (E331) when the time from now on is over."""
    deadline = limits.deadline

    def look(steps: int) -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise timed_out()

    return look


def while_reading(limits: Limits) -> Callable[[int], None]:
    """A listener as `in_time`, which raises LimitError (E332) too, when the words of a program do
    not fit into the memory.
    """
    look, memory, words = in_time(limits), limits.memory, 0

    def read(steps: int) -> None:
        nonlocal words
        words += steps
        look(steps)
        if memory is not None and words * WORD_READ > memory:
            raise out_of_memory(memory, f"the program takes {words * WORD_READ:,}")

    return read


class short_of_memory:
    """Context manager: LimitError (E333) where the machine, or the arena, has no more memory for
    what happens in the block.
    """

    __slots__ = ("consequence", "remedy")

    def __init__(self, consequence: str, remedy: str):
        self.consequence, self.remedy = consequence, remedy

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, MemoryError):
            hint = f"{self.remedy}, or give the machine more memory"
            message = f"memory ran out; {self.consequence}"
            raise LimitError(message, code="E333", hint=hint) from error
