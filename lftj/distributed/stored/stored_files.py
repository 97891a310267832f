# SPDX-License-Identifier: Apache-2.0
"""The files of stored states below a path: which there are, and which are of no use any more."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lftj.distributed.files.manifest import ROWS, Manifest
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.stored.stored_objects import PAGES, objects_in
from lftj.distributed.stored.storing import nobody_storing
from lftj.scantree import SUMS
from lftj.storage.durable import files_of, unsealed

STATE = "state"
"""The folder of pages, strings and records, below the path."""
_RECORD = ".json"
UNTOUCHED = 600.0
"""Seconds for which a file that no record names may be one that a worker is just going to name,
where locks do not tell.
"""
_SHARED = ("whole", "strings")
"""Owners of files that are of no one part."""
_CACHED = 3600.0
"""Seconds after which files of rows, and records, leave the cache of a machine."""
_CACHED_WITHOUT_ROOM = 60.0
"""The same where these take more room than the disk has left."""
_PATIENCE = 5.0
"""Seconds that a compaction waits for workers that are storing."""


@dataclass(frozen=True, order=True)
class RecordName:
    """Name of a record: the part, the commit (version and token), the number of its steps that the
    part had done, and its writer's `attempt`.
    """

    part: int
    version: int
    token: str
    steps: int
    attempt: str

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.part}.{self.version}.{self.token}.{self.steps}.{self.attempt}{_RECORD}"

    @property
    def owner(self) -> str:
        """Whose segments have the pages that only this part has."""
        return f"part{self.part}"


_TRIAL = ".trial"


def trial(part: int) -> str:
    """The name of the file that is there while a worker works with a part of which nothing was
    checked yet.
    """
    return f"{part}{_TRIAL}"


def set_aside(file: Path) -> None:
    """Have nobody open a damaged file: records that name it are passed over."""
    with suppress(OSError):
        os.replace(file, file.with_name(f"damaged-{file.name}"))


def records(folder: Path, part: int | None = None) -> list[RecordName]:
    """The records in a folder, of one part or of all, the latest first."""
    names = store_of(folder).names(folder, "" if part is None else f"{part}.", _RECORD)
    found = (name.removesuffix(_RECORD).split(".") for name in names)
    return sorted(
        (
            RecordName(int(p), int(version), token, int(steps), attempt)
            for p, version, token, steps, attempt in found
        ),
        reverse=True,
    )


def _named(folder: Path, kept: Iterable[RecordName]) -> set[str]:
    """The files and objects that these records need, and they themselves."""
    found: set[str] = set()
    for name in kept:
        try:
            store_of(folder).fetch(folder / name.file)
            record = unsealed((folder / name.file).read_bytes())
        except (OSError, ValueError):
            continue
        segments = {segment["name"] for segment in record["segments"]}
        found |= (
            {name.file}
            | segments
            | {segment + SUMS for segment in segments}
            | files_of(folder, [file for file, _ in record["strings"]])
            | objects_in(record)
        )
    return found


def remove_older(folder: Path, latest: RecordName, base: int) -> None:
    """Remove the records of a part that nobody will open: those before the last one that is of a
    true commit (`base` is one, and those before it), and those of fewer steps than the latest; and
    pages of the part that no record needs any more.
    """
    found = records(folder, latest.part)
    last = max((name.version for name in found if name.version <= base), default=0)
    stale = [
        name
        for name in found
        if name.version < last or (name.token == latest.token and name.steps < latest.steps)
    ]
    if stale:
        store_of(folder).remove([folder / name.file for name in stale])
        kept = set(found).difference(stale)
        named = _named(folder, kept)
        for file in folder.glob(f"{stale[0].owner}-*"):
            if file.name not in named:
                file.unlink(missing_ok=True)
        if named.issuperset(name.file for name in kept):
            _sweep_objects(folder, [stale[0].owner], named, _PATIENCE)


def sweep_shared(path: Path) -> None:
    """Remove pages and strings of no one part that no record needs, when nobody stores, or else
    those that nobody wrote to of late. Workers may have parts below the path: one that wants such a
    file again sees that it is gone, and writes all anew.
    """
    with nobody_storing(path) as alone:
        _sweep(path / STATE, _SHARED, alone=alone)
    empty_cache(path)


def empty_cache(path: Path) -> None:
    """Remove files of rows, and records, from the cache of this machine that were fetched long ago,
    or a minute ago where they take more room than the disk has left: who wants one again fetches
    it. Nothing where all see the folder.
    """
    if store_of(path).shared:
        return
    found: list[tuple[Path, os.stat_result]] = []
    for file in (*(path / ROWS).glob("*"), *(path / STATE).glob(f"*{_RECORD}")):
        with suppress(FileNotFoundError):
            found.append((file, file.stat()))
    if not found:
        return
    ample = sum([at.st_size for _, at in found]) <= shutil.disk_usage(path).free
    latest = time.time() - (_CACHED if ample else _CACHED_WITHOUT_ROOM)
    for file, at in found:
        if at.st_mtime <= latest:
            file.unlink(missing_ok=True)


def state_files(path: Path) -> set[str]:
    """All files of stored states below a path. Reads the folder."""
    return store_of(path).names(path / STATE)


def sweep_compacted(path: Path, kept: Set[str], manifest: Manifest) -> None:
    """Remove the records up to a version but those `kept`, by their files, where there is one of
    the same part or no such part any more, and then all that no record needs. As `sweep_shared`.
    """
    folder = path / STATE
    with nobody_storing(path, _PATIENCE) as alone:
        found = records(folder)
        parts = {name.part for name in found if name.file in kept}
        stale = [
            folder / name.file
            for name in found
            if (name.part in parts and name.version <= manifest.version and name.file not in kept)
            or name.part >= manifest.parts
        ]
        store_of(folder).remove(stale)
        owners = {*(name.owner for name in found), *_SHARED}
        _sweep(folder, owners, alone=alone, seconds=_PATIENCE)


def _sweep(folder: Path, owners: Iterable[str], *, alone: bool, seconds: float = UNTOUCHED) -> None:
    """Remove files of these owners that no record needs; of objects those that were made so many
    seconds ago.
    """
    latest = time.time() - UNTOUCHED
    found = records(folder)
    named = _named(folder, found)
    if not named.issuperset(name.file for name in found) or records(folder) != found:
        return  # parts are being stored
    for owner in owners:
        for file in folder.glob(f"{owner}-*"):
            if file.name not in named and (alone or file.stat().st_mtime <= latest):
                file.unlink(missing_ok=True)
    _sweep_objects(folder, owners, named, seconds)


def _sweep_objects(
    folder: Path, owners: Iterable[str], named: Set[str], seconds: float = 0.0
) -> None:
    """Remove the objects of these owners that no record names, and that were made so many seconds
    ago: younger ones may be named by the record that is made next. Who relies on one that is gone
    makes it again.
    """
    store = store_of(folder)
    if store.shared:
        return
    for owner in owners:
        pages = folder.parent / PAGES / owner
        old = (name for name, age in store.ages(pages).items() if age >= seconds)
        store.remove([pages / name for name in old if f"{owner}/{name}" not in named])


def sweep_states(path: Path, manifest: Manifest) -> None:
    """Remove what no part can be opened from, when no worker has parts below the path, or none that
    may not be built.

    Marks of who died with a part stay: the driver may have died of the same, and be started again.
    """
    folder = path / STATE
    found = records(folder)
    true = [
        name for name in found if manifest.has_done(name.version, name.token, name.part, name.steps)
    ]
    kept = {name.part: name for name in reversed(true)}.values()
    named, store = _named(folder, kept), store_of(folder)
    for file in folder.glob("*"):
        if file.name not in named and file.suffix != _TRIAL:
            file.unlink(missing_ok=True)
    if store.shared or not named.issuperset(name.file for name in kept):
        return
    store.remove([folder / name.file for name in found if name.file not in named])
    parts = {*range(manifest.parts), *(name.part for name in found)}
    owners = [*(f"part{part}" for part in parts), *_SHARED]
    _sweep_objects(folder, owners, named)
