# SPDX-License-Identifier: Apache-2.0
"""Paths whose workspace goes on over parts, or in one process again. Rows stay in the files where
they are: only what is true below the path changes, the log or the manifests.

Where the log is, it is true, whatever manifests are beside it: a move was broken off. So the move
to parts has happened when the log is gone, and the move back when it is there. Whoever moves holds
the lock of the path from its first look to its last.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from lftj import frames
from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.files.epochs import epochs
from lftj.distributed.files.leases import READERS, leased
from lftj.distributed.files.manifest import Manifest, epoch_file, reported_by_the_system
from lftj.distributed.files.path_lock import PathLock
from lftj.distributed.files.programs import PROGRAMS
from lftj.distributed.files.row_files import write_entry
from lftj.distributed.files.runs import RUNS
from lftj.distributed.partitioning.cuts import ONE
from lftj.distributed.partitioning.programs import restored
from lftj.distributed.stored.stored_files import STATE
from lftj.distributed.verify import sweep_verified
from lftj.errors import DurableError
from lftj.program import Program, RelationSchema
from lftj.storage import Delta, base_name
from lftj.storage.durable import LEFT, LOG, ROWS, sealed
from lftj.types import Dictionary

_HOME = 0  # the part in whose name rows of pages are counted
_UNCUT = "left"
"""The cut of rows in pages: none that a part reads, so each picks its own rows."""
_TABLE = "table "
"""Begins the names by which parts note tables; other names are those of streams."""


def noted(positions: Mapping[str, int]) -> dict[str, int]:
    """Positions of feeds in one process as parts note them: a feed may be a table, or one that was
    a stream over parts before.
    """
    return {**positions, **{_TABLE + feed: position for feed, position in positions.items()}}


def entries_of_pages(
    path: Path, left: Mapping[str, Any], rows: Mapping[str, int], version: int
) -> dict[str, Entry]:
    """Write a file that names the pages in which relations lie, and an entry for each of so many
    rows. Raises OSError.
    """
    if not rows:
        return {}
    file = f"{version}-{uuid4().hex[:16]}{LEFT}"
    (path / ROWS).mkdir(parents=True, exist_ok=True)
    with frames.whole_file(path / ROWS / file) as sink:
        sink.write(sealed(left))
    frames.sync_folder(path / ROWS)
    return {
        name: Entry(version, (Piece(file, _UNCUT, ((_HOME, count),), (0,)),))
        for name, count in rows.items()
    }


class LeftByParts(NamedTuple):
    """All that one process begins with: `relations` holds, of each that has rows of its own, the
    files of these with the sums of their batches.
    """

    version: int
    program: Program
    views: frozenset[str]
    relations: dict[str, list[tuple[str, list[int]]]]


@contextmanager
def left_by_parts(path: Path, positions: RelationSchema) -> Iterator[LeftByParts | None]:
    """The last version of parts below a path, which nobody else writes to meanwhile; None where
    there are none any more. `positions`: the relation in which one process notes how far feeds are.
    Raises DistributedError (E402) where the path is in use, (E403) where something is damaged,
    DurableError (E350) where others read it.
    """
    lock = PathLock(path)
    try:
        with reported_by_the_system(path):
            manifest = None if (path / LOG).exists() else Manifest.load(path)
            if manifest is not None and leased(path):
                raise DurableError(
                    f"{path} is open for reading by another process or workspace",
                    code="E350",
                    hint="close it there, and try again; of one that died, within two minutes",
                )
            yield None if manifest is None else _left(path, manifest, positions)
    finally:
        lock.release()


def _left(path: Path, manifest: Manifest, positions: RelationSchema) -> LeftByParts:
    program, views = restored(manifest.program)
    own = {name: manifest.log.get(base_name(name), ()) for name in program.catalog.kept}
    if manifest.batches:
        if positions.name not in own:
            program = program.declare(positions)
        own[positions.name] = (_entry_of_positions(path, manifest, positions),)
    relations = {
        name: [(entry.pieces[0].file, list(entry.pieces[0].sums)) for entry in entries]
        for name, entries in own.items()
    }
    return LeftByParts(manifest.version, program, views, relations)


def _entry_of_positions(path: Path, manifest: Manifest, schema: RelationSchema) -> Entry:
    """The last version of each table, and the last micro-batch of each stream, as rows."""
    last: dict[str, int] = {}
    for name, position in manifest.batches.items():
        feed = name.removeprefix(_TABLE)
        last[feed] = max(position, last.get(feed, position))
    dictionary, stem = Dictionary(), f"{manifest.version}-{uuid4().hex[:16]}-positions"
    columns = frames.read(list(last.items()), schema.columns, dictionary=dictionary).columns
    rows = Delta.insertion(list(columns))
    version = manifest.version
    return write_entry(path / ROWS, stem, version, schema, rows, (ONE,), 1, dictionary)


def forget_parts(path: Path) -> None:
    """Remove what parts left below a path, but for rows. Raises OSError. With the path's lock held,
    where the log is.
    """
    for epoch in epochs(path):
        epoch_file(path, epoch).unlink(missing_ok=True)
    for folder in (RUNS, PROGRAMS, STATE, READERS):
        shutil.rmtree(path / folder, ignore_errors=True)
    sweep_verified(path)
