# SPDX-License-Identifier: Apache-2.0
"""Paths whose workspace goes on over parts, or in one process again. Rows stay in the files where
they are: only what is true below the path changes, the log or the manifests.

Where the log is, it is true, whatever manifests are beside it: a move was broken off. So the move
to parts has happened when the log is gone, and the move back when it is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.files.leases import READERS
from lftj.distributed.files.manifest import Manifest, reported_by_the_system
from lftj.distributed.files.path_lock import PathLock
from lftj.distributed.files.programs import PROGRAMS
from lftj.distributed.files.runs import RUNS
from lftj.distributed.partitioning.programs import restored
from lftj.distributed.stored.stored_files import STATE
from lftj.distributed.verify import sweep_verified
from lftj.frames import sync_folder, whole_file
from lftj.program import Program
from lftj.storage import base_name
from lftj.storage.durable import LEFT, LOG, ROWS, sealed

_HOME = 0  # the part in whose name rows of pages are counted
_UNCUT = "left"
"""The cut of rows in pages: none that a part reads, so each picks its own rows."""


def entries_of_pages(
    path: Path, left: Mapping[str, Any], rows: Mapping[str, int], version: int
) -> dict[str, Entry]:
    """Write a file that names the pages in which relations lie, and an entry for each of so many
    rows. Raises OSError.
    """
    file = f"{version}-{uuid4().hex[:16]}{LEFT}"
    (path / ROWS).mkdir(parents=True, exist_ok=True)
    with whole_file(path / ROWS / file) as sink:
        sink.write(sealed(left))
    sync_folder(path / ROWS)
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
def left_by_parts(path: Path) -> Iterator[LeftByParts | None]:
    """The last version of parts below a path, which nobody else writes to meanwhile; None where
    there are none any more. Raises DistributedError (E402) where the path is in use, (E403) where
    something is damaged.
    """
    lock = PathLock(path)
    try:
        with reported_by_the_system(path):
            manifest = None if (path / LOG).exists() else Manifest.load(path)
            yield None if manifest is None else _left(manifest)
    finally:
        lock.release()


def _left(manifest: Manifest) -> LeftByParts:
    program, views = restored(manifest.program)
    relations = {
        name: [
            (entry.pieces[0].file, list(entry.pieces[0].sums))
            for entry in manifest.log.get(base_name(name), ())
        ]
        for name in program.catalog.kept
    }
    return LeftByParts(manifest.version, program, views, relations)


def forget_parts(path: Path) -> None:
    """Remove what parts left below a path, but for rows. Raises OSError. With the path's lock held,
    where the log is.
    """
    for file in path.glob("manifest-*"):
        file.unlink(missing_ok=True)
    for folder in (RUNS, PROGRAMS, STATE, READERS):
        shutil.rmtree(path / folder, ignore_errors=True)
    sweep_verified(path)
