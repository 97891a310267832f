# SPDX-License-Identifier: Apache-2.0
"""Entries: what one commit did to one relation, as the files of its rows, by cut and part.

No name of a file is given twice: a second attempt at a task, which may have the same rows in
another order, writes other files. Whoever takes a result reads the files that this result names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from lftj.distributed.partitioning.cuts import EVERYBODY, Cut, label
from lftj.scantree import frozen
from lftj.storage.durable import LEFT


@frozen(slots=True)
class Piece:
    """A file with rows in one cut, by its label: `parts` are (part, rows) of its record batches, in
    their order, and `sums` their checksums. `numbers`: which batches these are, where some of the
    file's are left out.
    """

    file: str
    cut: int | str
    parts: tuple[tuple[int, int], ...]
    sums: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()

    def lies_by(self, cut: Cut) -> bool:
        """Test for record batches that are those of a cut."""
        return self.cut == label(cut)

    @property
    def is_left(self) -> bool:
        """Test for a relation in the pages that one process left."""
        return self.file.endswith(LEFT)

    def of(self, *holders: int) -> Piece:
        """Restrict the piece to the record batches of these holders."""
        places = [place for place, (holder, _) in enumerate(self.parts) if holder in holders]
        return replace(
            self,
            parts=tuple(self.parts[place] for place in places),
            sums=tuple(self.sums[place] for place in places),
            numbers=tuple(self.numbers[place] if self.numbers else place for place in places),
        )


@frozen(slots=True)
class Entry:
    """The same rows in one or more cuts; the home cut comes first. `bytes` is what all
    files take.
    """

    version: int
    pieces: tuple[Piece, ...]
    bytes: int = 0

    def piece(self, cut: Cut) -> Piece:
        """The piece to read for a cut: the one made for it, else the first, which has each row
        once.
        """
        return next((piece for piece in self.pieces if piece.lies_by(cut)), self.pieces[0])

    def holding(self, cut: Cut) -> list[int] | None:
        """The parts that have rows under a cut; None when it is all, or this entry cannot tell."""
        piece = self.piece(cut)
        holders = [part for part, _ in piece.parts]
        return holders if piece.lies_by(cut) and EVERYBODY not in holders else None

    def only(self, part: int, cut: Cut) -> Entry:
        """Restrict the entry to the batches that one part reads in a cut."""
        piece = self.piece(cut)
        if piece.lies_by(cut) and not is_whole(cut):
            piece = piece.of(part, EVERYBODY)
        return replace(self, pieces=(piece,))

    def at_home(self, part: int) -> Entry:
        """Restrict the entry to the batches that hold a part's own rows."""
        return replace(self, pieces=(self.pieces[0].of(part),))

    @property
    def rows(self) -> int:
        """Number of rows, both signs."""
        return sum(rows for _, rows in self.pieces[0].parts)

    def to_json(self) -> dict[str, Any]:
        """JSON of the entry, for a manifest."""
        pieces = [
            [piece.file, piece.cut, [list(pair) for pair in piece.parts], list(piece.sums)]
            for piece in self.pieces
        ]
        return {"version": self.version, "pieces": pieces, "bytes": self.bytes}

    @staticmethod
    def from_json(found: Mapping[str, Any]) -> Entry:
        """The entry that `to_json` made this of."""
        pieces = (
            Piece(file, cut, tuple((part, rows) for part, rows in parts), tuple(sums))
            for file, cut, parts, sums in found["pieces"]
        )
        return Entry(found["version"], tuple(pieces), found["bytes"])


def only(entries: Iterable[Entry], part: int, cut: Cut) -> tuple[Entry, ...]:
    """Restrict entries to the batches that one part reads in a cut."""
    return tuple(found for entry in entries if (found := entry.only(part, cut)).pieces[0].parts)


def files_of(entries: Iterable[Entry]) -> set[str]:
    """The names of the files that entries name."""
    return {piece.file for entry in entries for piece in entry.pieces}


def is_whole(cut: Cut) -> bool:
    """Test for a cut in which each part has all rows of an entry."""
    return isinstance(cut, int) and cut < 0
