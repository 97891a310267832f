# SPDX-License-Identifier: Apache-2.0
"""The segments below one path, as far as a process knows them: those that it mapped, and those that
it writes.

Pages that only one part has are in segments of that part's; those of relations that parts have
whole are in segments of the process, once for all its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lftj.scantree import Arena
from lftj.scantree.segment import (
    ROOM,
    Segment,
    SegmentFile,
    SegmentFullError,
    forget_stored,
    needed,
    open_segments,
)
from lftj.scantree.segment_homes import give_back_homes, owner_of
from lftj.scantree.watched_files import FileDamagedError

NOT_TO_BE_HAD = (OSError, LookupError, ValueError, TypeError, FileDamagedError)
"""Errors of opening files that are not what was written. That memory runs out says nothing of them:
what they say of sizes is under checksums.
"""
_ROOM = 4  # times what a segment begins with, so that it is written again before it is full
_SEGMENTS = 8  # of one owner that may be there
_HOMES = 16
"""Homes from which on those of files that are gone are looked for: what that costs follows the
pages of the arena, so it is done each time there are twice as many as were left.
"""


class StoredPages:
    """Below one folder, in one arena. `full`: the words that each owner's pages took when all were
    written; `rewritten`: the owners of which all were written again, until somebody looks.
    `read_whole`: whoever maps what is written here reads all of it.
    """

    def __init__(self, arena: Arena, folder: Path, *, read_whole: bool = False) -> None:
        self.folder, self._read_whole = folder, read_whole
        self.full: dict[str, int] = {}
        self.rewritten: set[str] = set()
        self._arena = arena
        self._known: dict[str, Segment] = {}
        self._files: dict[str, SegmentFile] = {}
        self._most = _HOMES

    def append(self, owner: str, roots: Sequence[int]) -> None:
        """Write what these pages reach and no segment has. OSError or MemoryError: nothing was
        written.
        """
        file = self._files.get(owner)
        if file is None:
            file = self._begun(owner, ROOM)
        try:
            self._appended(file, roots)
        except SegmentFullError as full:
            self._appended(self._begun(owner, max(ROOM, _ROOM * full.words)), roots)
        self.full.setdefault(owner, self._files[owner].segment.words)

    def rewrite(self, owner: str, roots: Sequence[int]) -> None:
        """Write all of these pages, into one new segment. O(pages).

        Where files that this process maps are of no use then, they may go: so all of them is
        checked while it is there. Raises FileDamagedError, and as `append`.
        """
        words = self.full.get(owner, 0)
        names = [name for name in self._arena.mapped if owner_of(name) == owner]
        self._arena.watch.check(everything=True, of={self.folder / name for name in names})
        self.forget(owner, roots)
        if _ROOM * words > ROOM:
            self._begun(owner, _ROOM * words)
        self.append(owner, roots)
        self.rewritten.add(owner)

    def forget(self, owner: str, roots: Sequence[int]) -> None:
        """Have these pages be in no segment, so that the next one of this owner gets them all."""
        forget_stored(self._arena, roots)
        file = self._files.pop(owner, None)
        if file is not None:
            file.close()
        self.full.pop(owner, None)

    def overgrown(self, owner: str, segments: Iterable[Segment], growth: float, spare: int) -> bool:
        """Decide if it is time to write all pages again: these segments' pages of this owner are
        `growth` times those of one version, and `spare` words more, or files are many.
        """
        own = [segment.words for segment in segments if owner_of(segment.name) == owner]
        return len(own) > _SEGMENTS or sum(own) > growth * self.full.get(owner, 0) + spare

    def check(self) -> None:
        """Check what was looked at of mapped files, before it is relied on. Raises
        FileDamagedError.
        """
        self._arena.watch.check()

    def needed(self, addresses: Iterable[int]) -> list[Segment]:
        """The segments in which pages at these addresses are, and all below them."""
        return needed(list(self._known.values()), addresses)

    def there(self, segments: Iterable[Segment]) -> bool:
        """Check that nobody removed a file of these."""
        return all((self.folder / segment.name).exists() for segment in segments)

    def opened(self, segments: Sequence[Segment], addresses: Sequence[int]) -> list[int]:
        """The pages at these addresses. Raises as `open_segments`."""
        pages = open_segments(self._arena, self.folder, segments, addresses)
        for segment in segments:
            known = self._known.get(segment.name)
            if known is None or known.words < segment.words:
                self._known[segment.name] = segment
        return pages

    def _begun(self, owner: str, room: int) -> SegmentFile:
        if len(self._arena.homes) >= self._most:
            self._give_back()
            self._most = max(_HOMES, 2 * len(self._arena.homes))
        whole = self._read_whole
        try:
            file = SegmentFile(self._arena, self.folder, owner, room, read_whole=whole)
        except MemoryError:
            if not self._give_back():
                raise
            file = SegmentFile(self._arena, self.folder, owner, room, read_whole=whole)
        self._files[owner] = file
        return file

    def _give_back(self) -> set[str]:
        """Give back the homes of files that are gone, but for those in which pages of others have
        children.
        """
        writing = {file.segment.name for file in self._files.values()}
        known = {segment.name: segment for segment in list(self._known.values())}
        waiting = [name for name in known if name in writing or (self.folder / name).exists()]
        kept = set(writing)
        while waiting:
            name = waiting.pop()
            kept.add(name)
            waiting += [read for read in known[name].reads if read in known and read not in kept]
        gone = give_back_homes(self._arena, self.folder, kept)
        for name in gone:
            self._known.pop(name, None)
        return gone

    def _appended(self, file: SegmentFile, roots: Sequence[int]) -> None:
        others = [segment for segment in self._known.values() if segment.name != file.segment.name]
        segment = file.append(roots, others)
        self._known[segment.name] = segment


def regrown(owner: str, segments: Iterable[Segment], full: Mapping[str, int]) -> bool:
    """Tell whether these segments have pages of an owner that were written after the last time that
    all were, when they took as many words as `full` says.
    """
    own = [segment.words for segment in segments if owner_of(segment.name) == owner]
    return len(own) > 1 or sum(own) > full.get(owner, 0)


def segment_data(segment: Segment) -> dict[str, Any]:
    """A segment as data."""
    return asdict(segment)


def segment_of(data: dict[str, Any]) -> Segment:
    """The segment again."""
    return Segment(**{**data, "reads": tuple(data["reads"])})
