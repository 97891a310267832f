# SPDX-License-Identifier: Apache-2.0
"""The lock that keeps a second process from writing below a path, where the file system has locks
and all machines share them.
"""

from __future__ import annotations

import errno
import logging
import os
from functools import cache
from pathlib import Path

from lftj.distributed.files.manifest import reported_by_the_system
from lftj.distributed.objects.mounts import shown
from lftj.errors import DistributedError
from lftj.scantree import lock_file
from lftj.storage.durable import LOCK, ProcessLock

_log = logging.getLogger(__name__)

_NO_LOCKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS)


@cache
def _warn_of_no_locks(path: Path) -> None:
    _log.warning(
        "%s: its file system has no locks; of commits of two workspaces at once one will fail with "
        "E406",
        path,
    )


class PathLock(ProcessLock):
    """Lock that lets one process at most write below a path. The system gives it back when its
    holder dies, and this object when nobody has it.

    Where the file system has no locks, or does not share them among machines, two may write; then
    of their commits on one version one happens, and the other gets E406. A forked child has the
    lock's file too, but the lock is its parent's.
    """

    def __init__(self, path: Path, held: ProcessLock | None = None):
        """Take the lock, or go on with one of the path that is `held`. Raises DistributedError
        (E402) when another workspace holds the path, (E405) when it cannot be written.
        """
        self._path = path
        if held is not None:
            super().__init__(held.passed_on())
            return
        with reported_by_the_system(path):
            path.mkdir(parents=True, exist_ok=True)
            file = os.open(path / LOCK, os.O_CREAT | os.O_RDWR)
        try:
            lock_file(file)
        except OSError as reason:
            if reason.errno in _NO_LOCKS:
                _warn_of_no_locks(path)
            else:
                os.close(file)
                hint = "close the other workspace, or choose another path"
                raise DistributedError(
                    f"{shown(path)} is in use by another workspace", code="E402", hint=hint
                ) from None
        super().__init__(file)

    def require(self) -> None:
        """Raise DistributedError (E402) in a forked child: two processes would each take what they
        know for the last version.
        """
        if not self.ours:
            hint = (
                "write in the process that opened it; a child may read, or open the path "
                "itself once it is closed there"
            )
            raise DistributedError(
                f"{shown(self._path)} was opened by the process that this one was forked from",
                code="E402",
                hint=hint,
            )
