# SPDX-License-Identifier: Apache-2.0
"""Files of past versions that somebody may still read: they stay below the path as long as who
reads them is there.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable

Files = Callable[[], Iterable[str]]


class HeldFiles:
    """The row files of results, snapshots and Spark DataFrames of this process that are still in
    use.
    """

    def __init__(self) -> None:
        self._holders: dict[int, tuple[weakref.ref[object], Files]] = {}
        self._frames: list[tuple[Callable[[], bool], Files]] = []
        self._numbers = itertools.count()

    def hold(self, holder: object, files: Files) -> None:
        """Keep files as long as an object lives; `files` must not refer to it, and is called only
        when files are to go.
        """
        number, holders = next(self._numbers), self._holders
        holders[number] = weakref.ref(holder, lambda _: holders.pop(number, None)), files

    def hold_while(self, used: Callable[[], bool], files: Files) -> None:
        """Keep files until `used` says that nobody needs them."""
        self._frames.append((used, files))

    def names(self) -> set[str]:
        """The files that are in use now."""
        self._frames = [each for each in self._frames if each[0]()]
        uses = [files for _, files in (*list(self._holders.values()), *self._frames)]
        return {name for files in uses for name in files()}
