# SPDX-License-Identifier: Apache-2.0
"""Leases by which readers in other processes hold row files below a path [Gray and Cheriton,
Leases, 1989].

A lease is one small file, which its reader writes anew every so often. While it is young, whoever
removes files leaves the ones that it names. Its age is measured by one clock, that of the store, so
clocks of machines may differ. A reader that dies writes it no more, and holds nothing soon after.

A reader first writes its lease, then looks whether all that it names is still part of the last
version. Who removes files first makes a version without them, then looks for leases. So one of the
two sees the other, in any order, where a store lists what was just written.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from lftj.distributed.files.runs import NOT_READ, packed, unpacked
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import shown

_log = logging.getLogger(__name__)

READERS = "readers"
"""The folder of the leases, below the path."""
SECONDS = 60.0
"""Seconds for which a lease holds files once it was written."""
GRACE = 60.0
"""Seconds after which an ended lease is passed over: for writes that were long on their way, and
clocks that tell whole seconds.
"""
_TIMES = 3  # that a lease is written while it holds
_SUFFIX = ".lease"


class Lease:
    """The lease of one reader, kept by a thread. `files`: those that it may read now; `version`:
    the one that it shows, for who looks into the file.
    """

    version = 0

    def __init__(self, path: Path, files: Callable[[], Set[str]]):
        self._path, self._files = path, files
        self._process = os.getpid()
        self._reader = f"{os.uname().nodename}-{self._process}"
        self._file = path / READERS / f"{self._reader}-{uuid4().hex[:12]}{_SUFFIX}"
        self._writing, self._ended = threading.Lock(), threading.Event()
        self._kept: bool | None = None
        self._thread: threading.Thread | None = None

    def renew(self) -> None:
        """Write it, and from now on every so often. Where that cannot be done, as by who may only
        read, a warning says so, and nothing is held.
        """
        with self._writing:
            if self._ended.is_set():
                return
            try:
                self._write()
            except OSError as reason:
                if self._kept is not False:
                    said = "%s: no lease could be written, so that files may go while they are read"
                    _log.warning(f"{said}: %s", shown(self._path), reason)
                self._kept = False
            else:
                self._kept = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._go_on, name="lease", daemon=True)
                with suppress(RuntimeError):  # the system allows no more
                    self._thread.start()

    def _write(self) -> None:
        said = {"reader": self._reader, "version": self.version, "seconds": SECONDS}
        said["files"] = sorted(self._files())
        self._file.parent.mkdir(parents=True, exist_ok=True)
        store_of(self._path).put_all([(self._file, packed(said))])

    def _go_on(self) -> None:
        while not self._ended.wait(SECONDS / _TIMES):
            self.renew()

    def end(self) -> None:
        """Hold nothing any more. Harmless when repeated, and in a forked child."""
        if self._process != os.getpid():
            return
        with self._writing:
            if self._ended.is_set():
                return
            self._ended.set()
            if self._kept is not None:
                with suppress(OSError):
                    store_of(self._path).remove([self._file])

    def end_with(self, reader: object) -> None:
        """End when an object is gone, or the process ends."""
        weakref.finalize(reader, self.end)


def leased(path: Path) -> set[str]:
    """The row files below a path that readers hold. Leases that have ended go. Raises OSError."""
    store, folder = store_of(path), path / READERS
    held, ended = set[str](), list[Path]()
    for name, age in store.ages(folder).items():
        if name.endswith(_SUFFIX):
            with suppress(FileNotFoundError):
                said = _said(store.read(folder / name))
                if age <= said["seconds"] + GRACE:
                    held.update(said["files"])
                else:
                    ended.append(folder / name)
    store.remove(ended)
    return held


def _said(found: bytes) -> dict[str, Any]:
    """The content of a lease; one that is damaged holds nothing."""
    try:
        return unpacked(found)
    except NOT_READ:
        return {"seconds": 0.0, "files": ()}
