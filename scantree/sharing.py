# SPDX-License-Identifier: Apache-2.0
"""Passes over many words, shared by threads: each takes a span of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Payload = TypeVar("Payload")
Result = TypeVar("Result")

Span = tuple[int, int]
"""The first of some rows, and the one behind the last."""

SPAN = 1 << 17
"""Rows of a span, at least: a pass over them takes several times as long as to start a thread."""
_SPANS = 4  # for each thread, so that one that is held up does not hold up all


class Threads(Protocol):
    """Threads that work together, the caller among them."""

    @property
    def workers(self) -> int:
        """The number of threads."""
        ...

    def together(
        self, task: Callable[[Payload], Result], payloads: Sequence[Payload]
    ) -> list[Result]:
        """The results for all payloads, in their order; raises what a task raises."""
        ...


class _Alone:
    workers = 1

    def together(
        self, task: Callable[[Payload], Result], payloads: Sequence[Payload]
    ) -> list[Result]:
        return [task(payload) for payload in payloads]


ALONE: Threads = _Alone()
"""The caller without help."""


def spans(rows: int, threads: Threads, least: int = SPAN) -> list[Span]:
    """Equal spans of so many rows, one where they are few or nobody helps."""
    if threads.workers == 1:
        return [(0, rows)]
    return equal_spans(rows, max(1, min(_SPANS * threads.workers, rows // least)))


def equal_spans(rows: int, count: int) -> list[Span]:
    """Spans of equal length, `count` of them, of so many rows."""
    return [(rows * number // count, rows * (number + 1) // count) for number in range(count)]
