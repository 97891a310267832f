"""Sees what every commit of every workspace did for each rule. The one place that knows where the
engine notes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lftj.engine.live.engine import Engine
from tests.record.lines import Work

Seen = Callable[[int, int, list[Work]], None]
"""Told of a commit: the number of the workspace, from 1 on, the version, and the work."""


class _Notes(deque[Any]):
    """The commits that `ws.profile()` can show, and the listener that hears of each."""

    def __init__(self, most: int | None, heard: Callable[[int, Any], None]):
        super().__init__(maxlen=most)
        self._heard = heard

    def append(self, commit: tuple[int, Any], /) -> None:
        """Keep it, and pass it on."""
        super().append(commit)
        self._heard(*commit)


@contextmanager
def observed(seen: Seen) -> Iterator[None]:
    """Meanwhile every workspace is on one thread unless told otherwise, and its commits
    are seen.
    """
    made, begin = 0, Engine.__init__

    def beginning(engine: Engine, *args: Any, **options: Any) -> None:
        nonlocal made
        begin(engine, *args, **options)
        made += 1
        number = made
        engine.history = _Notes(
            engine.history.maxlen,
            lambda version, works: seen(number, version, [*map(Work.of, works)]),
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lftj.partition.executor.usable_cores", lambda: 1)
        patch.setattr(Engine, "__init__", beginning)
        yield
