# SPDX-License-Identifier: Apache-2.0
"""Files of a workspace: following files that others commit to, and continuing in files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from lftj.api.backend import Backend
from lftj.engine.calls.options import with_named_options
from lftj.scantree.process.interrupts import interrupts_as_such


@with_named_options
class Files(ABC):
    """Access to the files of a workspace, where it has any."""

    @property
    @abstractmethod
    def _backend(self) -> Backend:
        """The open backend. Raises LftjError (E341) where it is closed."""

    def refresh(self) -> int:
        """Go on to the last version that the writing process has committed, and return it. For
        workspaces opened with `read_only=True`; others have it already, and over parts
        DistributedError (E400) says so.
        """
        backend = self._backend
        backend.refresh()
        return backend.version

    def wait_for(self, version: int, timeout: float | None = None) -> bool:
        """Wait until a version is committed, at most `timeout` seconds, and `refresh`; False where
        it took longer. As `refresh`.
        """
        return self._backend.wait_for(version, timeout)

    def save_as(self, path: str | os.PathLike[str], *, durability: str = "full") -> None:
        """Have a workspace in memory go on in files at a path, where nothing is yet: each commit is
        durable from now on. Past versions stay behind; consumers go on. O(pages). Raises
        DurableError (E351, E354), ConsumerError (E372) where one has not acknowledged the last
        version; not over parts: DistributedError (E400).
        """
        backend = self._backend
        with backend.writer.held():
            backend.save_as(path, durability)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write the workspace as it is now to another path, where nothing is yet, while commits go
        on; readers can do it too. O(files). Raises DurableError (E351 in memory, E354); not over
        parts: DistributedError (E400).
        """
        self._backend.backup(path)

    @interrupts_as_such()
    def compact(self) -> int:
        """Write the many small files of past commits as one per part and relation, and remove them;
        how many there were. At a path: all pages into one file, the log as small as it can be; none
        in memory.

        Files that results, snapshots and DataFrames read that are still held stay. Commits do this
        by themselves when a relation has a thousand entries, or eight per part if that is more.
        """
        backend = self._backend
        with backend.writer.held():
            return backend.compact()
