# SPDX-License-Identifier: Apache-2.0
"""Past versions that a process holds, and a record of each commit.

A version is a few roots of trees that share their pages with the versions before and after, so to
hold one costs the pages that later commits replaced. States that views are maintained with are not
held: a past version is read, and not followed.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from lftj.engine.versions.noted_work import Noted
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import State
from lftj.errors import DeclarationError, PastError
from lftj.scantree.frozen import frozen
from lftj.scantree.process.forking import held_while_forking
from lftj.types import FLOAT, INT, STR, TIMESTAMP, Type
from lftj.types.codes import shown
from lftj.views.states import NO_STATES

RECORDS = 1000
"""Records of commits that are kept in any case."""
ROOM = 1 << 25
"""Bytes that past versions may take in memory where nothing is said, or files have them too."""
_COLUMNS: tuple[tuple[str, Type], ...] = (
    ("version", INT),
    ("time", TIMESTAMP),
    ("message", STR),
    ("rows", STR),
    ("seconds", FLOAT),
    ("program", STR),
)


@frozen
class Keep:
    """Amount of the past that is kept: so many `versions`, the last one included, or those of so
    many `seconds`; None for any. `room`: bytes that they may take in memory. `asked`: False where
    it is what is cheap.
    """

    versions: int | None = None
    seconds: float | None = None
    room: int | None = None
    asked: bool = True

    def in_files(self) -> Keep:
        """The same for a workspace that goes on in files, which have what memory has no room for;
        where nothing was asked for, what they have anyway.
        """
        return replace(self, versions=self.versions if self.asked else None, room=ROOM)


def keep_of(value: object, *, files: bool) -> Keep:
    """The `keep` that `connect` was given; None: what is cheap. `files` have versions that memory
    has no room for. Raises DeclarationError (E160).
    """
    room = ROOM if files or value is None else None
    if value is None:
        return Keep(versions=None if files else 1, room=room, asked=False)
    if value == "all":
        return Keep(room=room)
    if isinstance(value, timedelta) and value >= timedelta():
        return Keep(seconds=value.total_seconds(), room=room)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return Keep(versions=value, room=room)
    raise DeclarationError(
        f'keep is "all", a number of versions, or a timedelta, found {value!r}',
        hint='keep=100 keeps the last hundred versions, keep="all" every one',
    )


def _without_states(state: State) -> State:
    """The state without what views are maintained with."""
    return State(state.program, state.database, state.views, state.aggregates, NO_STATES)


class Entry(NamedTuple):
    """The record of a commit: its version, seconds since 1970, the message, the rows that relations
    `won` and `lost`, and the seconds it took.

    Python's collector does not go through dicts of strings and numbers, as it would through pairs.
    """

    version: int
    time: float
    message: str | None = None
    won: dict[str, int] = {}  # noqa: RUF012 - never changed
    lost: dict[str, int] = {}  # noqa: RUF012 - never changed
    seconds: float = 0.0
    program: str = ""
    """Rules and programs that changed, in words."""
    works: tuple[Noted, ...] = ()
    """Works of rules that took longest."""

    @property
    def rows(self) -> dict[str, tuple[int, int]]:
        """The rows that each relation won and lost."""
        names = sorted({*self.won, *self.lost})
        return {name: (self.won.get(name, 0), self.lost.get(name, 0)) for name in names}


def log_result(entries: Iterable[Entry], version: int) -> Result:
    """Records of commits as a table, the oldest first."""
    rows = [
        (
            each.version,
            datetime.fromtimestamp(each.time),
            each.message or "",
            ", ".join(
                f"{name}{f' +{won}' if won else ''}{f' -{lost}' if lost else ''}"
                for name, (won, lost) in each.rows.items()
            ),
            each.seconds,
            each.program,
        )
        for each in entries
    ]
    return Result.of_rows(_COLUMNS, rows, version=version, name="log")


def not_kept(version: object, oldest: int, last: int, *, to_come: bool = False) -> PastError:
    """The error for a version that cannot be read: it is not kept any more, or is `to_come`."""
    asked = version if isinstance(version, str) else shown(version)
    if to_come:
        return PastError(
            f"version {asked} is not there yet: the oldest one is {oldest}, the last {last}",
            hint="leave it out for the last one; ws.log() lists versions and times",
        )
    there = f"the oldest one is {oldest}, the last {last}"
    return PastError(
        f"version {asked} is not kept: {there if oldest < last else f'only version {last} is'}",
        hint='keep more: lftj.connect(…, keep="all"), or a number of versions, or a timedelta',
    )


class Past:
    """Versions that one engine holds, without gaps, and records of its commits."""

    def __init__(self, keep: Keep, earlier: Past | None = None, first: int = 0):
        """`earlier`: the past of the branch that this one left at version `first`."""
        self.keep = keep
        self._earlier, self._first = earlier, first
        self.pinned: int | None = None
        """The oldest version that someone needs, such as a consumer; None for nobody."""
        self.waiting: deque[tuple[State, Entry | None, int]] = deque()
        """Committed states that are not entered yet, their records, and the bytes that the one
        before costs beside it. A version that comes again replaces one that was not published.
        """
        self._held: OrderedDict[int, tuple[State, int]] = OrderedDict()
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.RLock()
        held_while_forking(self._lock)

    def branched(self, state: State) -> Past:
        """The past of a branch that begins with a state. O(1)."""
        past = Past(self.keep, self, state.version)
        past.waiting.append((state, None, 0))
        return past

    def begin(self, state: State) -> None:
        """Forget all, and hold a first version."""
        self._earlier = None
        with self._lock:
            self.waiting.clear()
            self._held.clear()
            self._entries.clear()
            self._bytes = 0
            self.waiting.append((state, None, 0))
            self.enter()

    def enter(self) -> None:
        """Enter what waits, and let go of what is not kept any more. Amortised O(1)."""
        with self._lock:
            while self.waiting:
                state, entry, cost = self.waiting[0]
                version = state.version
                held = self._held.get(version)
                if held is not None:
                    self._bytes -= held[1]
                    cost += held[1] if entry is None else 0
                self._bytes += cost
                self._held[version] = _without_states(state), cost
                if entry is not None:
                    self._entries[version] = entry
                self.waiting.popleft()
            self._shrink(self._superfluous)
            while len(self._entries) > max(RECORDS, len(self._held)):
                self._entries.popitem(last=False)

    def let_go(self) -> None:
        """Hold no version but the last one and those that are pinned, where nobody asked for more
        than what is cheap.
        """
        if self.keep.room is not None:  # asked for or not: where there is room, files have them
            self.enter()
            with self._lock:
                self._shrink(lambda _: True)

    def _shrink(self, superfluous: Callable[[int], bool]) -> None:
        """Let go of the oldest versions as long as they are superfluous, and nobody needs them."""
        while len(self._held) > 1:
            oldest, following = islice(self._held, 2)
            if not superfluous(following) or (self.pinned is not None and following > self.pinned):
                break
            del self._held[oldest]
            self._bytes -= self._held[following][1]

    def _superfluous(self, following: int) -> bool:
        """Test for a version, before a `following` one, that is not kept."""
        keep, last = self.keep, next(reversed(self._held))
        entry = self._entries.get(following)
        return (
            (keep.versions is not None and last - following + 1 >= keep.versions)
            or (keep.room is not None and self._bytes > keep.room)
            or (
                keep.seconds is not None
                and entry is not None
                and entry.time <= time.time() - keep.seconds
            )
        )

    @property
    def oldest(self) -> int:
        """The oldest version that is held."""
        self.enter()
        with self._lock:
            own = next(iter(self._held), 0)
        if self._earlier is None or own > self._first:
            return own
        return min(own, self._earlier.oldest)

    def state(self, version: int) -> State | None:
        """The state of a version, without what views are maintained with."""
        if self._earlier is not None and version < self._first:
            return self._earlier.state(version)
        self.enter()
        with self._lock:
            found = self._held.get(version)
        return None if found is None else found[0]

    def entries(self) -> list[Entry]:
        """The records of commits, the oldest first."""
        self.enter()
        with self._lock:
            own = list(self._entries.values())
        if self._earlier is None:
            return own
        return [*(each for each in self._earlier.entries() if each.version <= self._first), *own]
