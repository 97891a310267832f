# SPDX-License-Identifier: Apache-2.0
"""Delivery of one step of a commit to each part: a file of which a part reads its own section.

The record batches and row files that a part has to read depend on the part, and in supersteps
nearly every part has some for every other. If tasks carried this list, it would be sent many times
over. So the driver writes it once a step, by part, and tasks find their own section by its place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.files.row_files import damaged, missing
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.partitioning.cuts import ALL, EVERYBODY, ONE, Cut
from lftj.storage.durable import sealed, unsealed
from lftj.types import read_name

Log = Mapping[str, Sequence[Entry]]
"""Entries by relation."""

_LENGTH = 8  # bytes in front that say how long the head is
_NUMBER = np.dtype("<i8")


class _Batch(NamedTuple):
    """A record batch by its entry, piece and number, its rows and their checksum."""

    entry: int
    piece: int
    number: int
    holder: int
    rows: int
    sum: int


_WIDTH = len(_Batch._fields)


def delivery_name(version: int, token: str, step: int) -> str:
    """The name of the file of a step, one of those of its commit."""
    return f"{version}-{token}-step{step}.parts"


def write_delivery(target: Path, log: Log, reads: Mapping[str, Iterable[Cut]], parts: int) -> None:
    """Write what each part reads of these entries; `reads`: the cuts in which it does so, by
    relation.

    It is not synced: nobody needs it once the commit is over.
    """
    sections: list[list[_Batch]] = [[] for _ in range(parts + 1)]  # the first one is everybody's
    named: list[list[Any]] = []
    for relation, entries in log.items():
        for entry in entries:
            for part, batch in _batches_of(entry, len(named), tuple(reads.get(relation, (ALL,)))):
                sections[part + 1].append(batch)
            pieces = [[piece.file, piece.cut] for piece in entry.pieces]
            named.append([relation, entry.version, entry.bytes, pieces])
    blocks = [np.array(section, _NUMBER).tobytes() for section in sections]
    head = sealed(
        {
            "entries": named,
            "sizes": [len(block) for block in blocks],
            "sums": [zlib.crc32(block) for block in blocks],
        }
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join((len(head).to_bytes(_LENGTH, "little"), head, *blocks)))
    store_of(target).publish([target])


def _batches_of(entry: Entry, number: int, cuts: Sequence[Cut]) -> Iterator[tuple[int, _Batch]]:
    """The record batches that are read under some of the cuts, with the part that reads each, or
    EVERYBODY.
    """
    for place, piece in enumerate(entry.pieces):
        read = [cut for cut in cuts if entry.piece(cut) is piece]
        by_part = any(cut != ONE for cut in read)
        whole = any(cut == ALL or (cut != ONE and not piece.lies_by(cut)) for cut in read)
        for at, (holder, rows) in enumerate(piece.parts):
            batch = _Batch(number, place, at, holder, rows, piece.sums[at])
            if whole:
                yield EVERYBODY, batch
                continue
            if ONE in read and not (by_part and holder in (0, EVERYBODY)):
                yield 0, batch
            if by_part:
                yield holder, batch


def read_delivery(file: Path, part: int) -> Log:
    """The entries that a part reads, of these the record batches that it has to. Raises
    DistributedError (E403) for a file that is gone or damaged.
    """
    try:
        store_of(file).fetch(file)
        with open(file, "rb") as source:
            length = int.from_bytes(source.read(_LENGTH), "little")
            head = unsealed(source.read(length))
            sizes, sums = head["sizes"], head["sums"]
            found = list[np.ndarray]()
            for section in (0, part + 1):
                source.seek(_LENGTH + length + sum(sizes[:section]))
                block = source.read(sizes[section])
                if zlib.crc32(block) != sums[section]:
                    raise ValueError("it is not what was written")
                found.append(np.frombuffer(block, _NUMBER).reshape(-1, _WIDTH))
    except FileNotFoundError:
        raise missing(file) from None
    except (ValueError, KeyError, IndexError) as reason:
        raise damaged(file, str(reason)) from None
    return _narrowed(head["entries"], np.concatenate(found))


def _narrowed(named: Sequence[Sequence[Any]], rows: np.ndarray) -> dict[str, list[Entry]]:
    """The entries that have some of these record batches, with these alone."""
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    batches: dict[int, dict[int, list[_Batch]]] = {}
    for batch in map(_Batch._make, rows.tolist()):
        batches.setdefault(batch.entry, {}).setdefault(batch.piece, []).append(batch)
    log: dict[str, list[Entry]] = {}
    for number, (relation, version, size, pieces) in enumerate(named):
        if number in batches:
            held = (batches[number].get(place, []) for place in range(len(pieces)))
            log.setdefault(read_name(relation), []).append(
                Entry(
                    version, tuple(_piece(*each) for each in zip(pieces, held, strict=True)), size
                )
            )
    return log


def _piece(named: Sequence[Any], batches: Sequence[_Batch]) -> Piece:
    file, cut = named
    return Piece(
        file,
        cut,
        tuple((batch.holder, batch.rows) for batch in batches),
        tuple(batch.sum for batch in batches),
        tuple(batch.number for batch in batches),
    )
