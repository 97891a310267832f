# SPDX-License-Identifier: Apache-2.0
"""The store of the files below a path: a folder that all see, or objects that each machine has a
cache of.

Files are written once, or only appended to, and are known by their place in a folder. Where that is
a cache, what was written is published, and what is read is fetched before. Nothing is renamed,
linked, locked or mapped but in the folder. One operation decides between writers: `create`, which
makes a file that is not there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

from lftj.distributed.objects.mounts import Mounted, mounted
from lftj.frames import new_file, whole_file


class FileStore(Protocol):
    """Files below a path, by where they are in its folder, or its cache on this machine. All
    operations raise OSError where the store does not answer.
    """

    shared: bool
    """True when all see the folder itself: nothing has to be published, or fetched."""

    def read(self, file: Path) -> bytes:
        """The content of a small file that may have been created by others. Raises
        FileNotFoundError.
        """
        ...

    def create(self, file: Path, content: bytes) -> None:
        """Make a file that is not there, and sync. Raises FileExistsError where there is one; after
        UnknownOutcomeError it may have been made, or be made yet.
        """
        ...

    def exists(self, file: Path) -> bool:
        """Test for a file."""
        ...

    def names(self, folder: Path, prefix: str = "", suffix: str = "") -> set[str]:
        """The names of the files of a folder that begin and end like this. Files that were made, or
        removed, just now may not be told of: so no truth may rest on it.
        """
        ...

    def ages(self, folder: Path) -> dict[str, float]:
        """The names of the files of a folder, with the seconds since each was last written, by the
        clock of the store. As `names`.
        """
        ...

    def publish(self, files: Iterable[Path]) -> None:
        """Have others see files that were written here, and are not written again."""
        ...

    def fetch(self, file: Path) -> None:
        """Have a published file here. Raises FileNotFoundError."""
        ...

    def put_all(self, contents: Sequence[tuple[Path, bytes]]) -> None:
        """Write files that are nowhere but in the store."""
        ...

    def get_all(self, files: Sequence[Path]) -> list[bytes]:
        """The contents of files of the store. Raises FileNotFoundError where one is gone."""
        ...

    def remove(self, files: Iterable[Path]) -> None:
        """Remove files; those that are gone already are passed over."""
        ...

    def copy(self, file: Path, name: Path) -> None:
        """Give a file another name besides. Raises FileNotFoundError."""
        ...

    def clear(self, folder: Path) -> None:
        """Remove a folder with all that is in it."""
        ...


class _FolderStore:
    """A folder that all see."""

    shared = True

    def read(self, file: Path) -> bytes:
        return file.read_bytes()

    def create(self, file: Path, content: bytes) -> None:
        with new_file(file) as sink:
            sink.write(content)

    def exists(self, file: Path) -> bool:
        return file.exists()

    def names(self, folder: Path, prefix: str = "", suffix: str = "") -> set[str]:
        try:
            found = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return set()
        return {name for name in found if name.startswith(prefix) and name.endswith(suffix)}

    def ages(self, folder: Path) -> dict[str, float]:
        written = dict[str, float]()
        for file in folder.glob("*"):
            with suppress(FileNotFoundError):
                written[file.name] = file.stat().st_mtime
        if not written:
            return {}
        with TemporaryFile(dir=folder) as clock:  # which may be another machine's
            clock.write(b" ")
            clock.flush()
            now = os.fstat(clock.fileno()).st_mtime
        return {name: now - then for name, then in written.items()}

    def publish(self, files: Iterable[Path]) -> None:
        pass

    def fetch(self, file: Path) -> None:
        pass

    def put_all(self, contents: Sequence[tuple[Path, bytes]]) -> None:
        for file, content in contents:
            with whole_file(file) as sink:
                sink.write(content)

    def get_all(self, files: Sequence[Path]) -> list[bytes]:
        return [file.read_bytes() for file in files]

    def remove(self, files: Iterable[Path]) -> None:
        for file in files:
            file.unlink(missing_ok=True)

    def copy(self, file: Path, name: Path) -> None:
        try:
            os.link(file, name)
        except FileNotFoundError:
            raise
        except OSError:  # the file system has no links
            shutil.copyfile(file, name)

    def clear(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)


_FOLDER = _FolderStore()


def store_of(path: Path) -> FileStore:
    """The store of a folder, or of a file in one."""
    found = mounted(path)
    return _FOLDER if found is None else _objects(found)


@cache
def _objects(found: Mounted) -> FileStore:
    from lftj.distributed.objects.object_store import ObjectStore  # which not everybody needs

    return ObjectStore(found)
