# SPDX-License-Identifier: Apache-2.0
"""The folder of a durable workspace: who may write there, and the files that nobody needs.

log.sqlite     commits and checkpoints (`storage/durable/log.py`)
acknowledged   the number of the last commit that is surely on disk
pages/         segments of pages, strings, and their checksums
rows/          files of rows as parts left them, until a checkpoint has pages of these
writer.lock    held by the one process that writes
readers.lock   held by all others, shared: no file is removed meanwhile
unchecked      there while a writer has mapped pages that nobody has compared with their
               checksums; one that died so has the next one compare all of them
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lftj.errors import DurableError
from lftj.frames.whole_files import sync_folder
from lftj.scantree.process.file_locks import lock_file, unlock_file
from lftj.scantree.watched_files import SUMS
from lftj.storage.durable.acknowledged import ACKNOWLEDGED
from lftj.storage.durable.folder_lock import LOCK, LOG, FolderLock, HeldError
from lftj.storage.durable.log import Log
from lftj.storage.durable.log_file import ENDS
from lftj.storage.durable.row_files import LEFT, PAGES, ROWS, left_pages
from lftj.storage.durable.strings_file import files_of

READERS = "readers.lock"
UNCHECKED = "unchecked"
HEAD, TEMPORARY = ".head", ".tmp"
_OURS = (LOCK, READERS, PAGES, UNCHECKED, ACKNOWLEDGED, *(LOG + end for end in ENDS))


@contextmanager
def system_errors(folder: Path) -> Iterator[None]:
    """Raise what the system says about files of a folder as DurableError (E354)."""
    try:
        yield
    except DurableError:
        raise
    except OSError as reason:
        hint = "see that the folder is there, has room and may be written, and try again"
        raise DurableError(f"{folder} cannot be used: {reason}", code="E354", hint=hint) from reason


def require_workspace(folder: Path, *, create: bool) -> None:
    """Raise DurableError (E351) where there is no workspace and none is to be begun, or other files
    are.
    """
    with system_errors(folder):
        if (folder / LOG).is_file():
            return
        if folder.exists() and (
            not folder.is_dir() or any(file.name not in _OURS for file in folder.iterdir())
        ):
            hint = (
                "choose a path where nothing is, or one that lftj.connect(path) made; "
                "parts are opened with executor=lftj.SparkExecutor(…), or with read_only=True, and "
                "go on in one process with move=True"
            )
            raise DurableError(f"{folder} is no workspace", code="E351", hint=hint)
        if not create:
            hint = "see that the path is right; lftj.connect(path) begins a workspace"
            raise DurableError(f"there is no workspace at {folder}", code="E351", hint=hint)
        (folder / PAGES).mkdir(parents=True, exist_ok=True)
        for each in (folder, folder.resolve().parent):
            sync_folder(each)


def writer_lock(folder: Path) -> FolderLock:
    """The lock of the one who writes. Raises DurableError (E350) that names the first one."""
    with system_errors(folder):
        try:
            return FolderLock(folder)
        except HeldError as held:
            hint = "close it there, or open the path with read_only=True"
            raise DurableError(
                f"{folder} is open for writing by {held.holder}", code="E350", hint=hint
            ) from None


class ReadersLock:
    """Held while a reader has the folder open, where the folder lets it. Removing files waits."""

    _file: int | None = None

    def __init__(self, folder: Path):
        """Never raises: a folder that nobody can write to loses no files."""
        with suppress(OSError):
            self._file = os.open(folder / READERS, os.O_CREAT | os.O_RDWR, 0o644)
            lock_file(self._file, shared=True)

    def release(self) -> None:
        """Let files be removed. Harmless when repeated."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __del__(self) -> None:
        self.release()


@contextmanager
def require_unread(folder: Path) -> Iterator[None]:
    """Have nobody open the folder to read for the length of a block, as far as it has locks. Raises
    DurableError (E350) where somebody has.
    """
    file = os.open(folder / READERS, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        lock_file(file)
        yield
    except BlockingIOError:
        raise DurableError(
            f"{folder} is open for reading by another process or workspace",
            code="E350",
            hint="close it there; it would see no later version",
        ) from None
    finally:
        os.close(file)


def sweep(folder: Path, records: Iterable[dict[str, Any]], mapped: Container[str]) -> None:
    """Remove the files of pages and strings that no record names, but for those that this process
    has `mapped`, unless someone reads the folder.
    """
    pages = folder / PAGES
    file = os.open(folder / READERS, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        lock_file(file)
        records = list(records)
        rows = set[str]().union(*map(files_of_rows, records))
        records += [left_pages(folder / ROWS / each) for each in rows if each.endswith(LEFT)]
        named = set[str]()
        for record in records:
            segments = [segment["name"] for segment in record["segments"]]
            named |= {*segments, *(name + SUMS for name in segments)}
            named |= files_of(pages, [name for name, _ in record["strings"]])
        for each in pages.iterdir():
            if each.name not in named and each.name.removesuffix(SUMS) not in mapped:
                each.unlink(missing_ok=True)
        _sweep_rows(folder / ROWS, rows)
        unlock_file(file)
    except BlockingIOError:
        return
    finally:
        os.close(file)


def files_of_rows(record: Mapping[str, Any]) -> set[str]:
    """The files of rows that a record of a checkpoint names: parts left them."""
    if record["format"] != ROWS:
        return set()
    return {file for files in record["relations"].values() for file, _ in files}


def _sweep_rows(rows: Path, named: Container[str]) -> None:
    """Remove what parts left that is of no use any more."""
    if rows.exists():
        for each in rows.iterdir():
            if each.name not in named and each.suffix in (".arrow", ".parts", LEFT):
                each.unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty
            rows.rmdir()


def copy_workspace(source: Path, target: Path, log: Log) -> None:
    """Write the files of a workspace to a folder that is not there, or is empty. Raises
    DurableError; then nothing is there.

    The log comes first: it names what pages must have. The heads of strings come before the strings
    that they tell of. All of these files are only ever appended to.
    """
    with system_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            hint = "choose a path where nothing is"
            raise DurableError(f"there is something at {target}", code="E351", hint=hint)
        try:
            (target / PAGES).mkdir()
            log.copy_to(target)
            heads_first = sorted(
                (source / PAGES).iterdir(), key=lambda file: (file.suffix != HEAD, file.name)
            )
            for file in heads_first:
                if file.suffix != TEMPORARY:
                    _copy(file, target / PAGES / file.name)
            if (source / ROWS).exists():
                (target / ROWS).mkdir()
                for file in (source / ROWS).iterdir():
                    _copy(file, target / ROWS / file.name)
                sync_folder(target / ROWS)
            for folder in (target / PAGES, target, target.resolve().parent):
                sync_folder(folder)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("wb") as written:
        shutil.copyfileobj(read, written, 1 << 20)
        written.flush()
        os.fsync(written.fileno())
