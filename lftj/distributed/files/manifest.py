# SPDX-License-Identifier: Apache-2.0
"""Manifest: one small file that names all others, with those that it adds to.

Parts and driver write rows under new names, `token` of the commit in front. Then the manifest of
the next epoch, which only one driver can make, has them be part of the workspace. A commit that
died before leaves files that nothing names, as do attempts at tasks whose results nobody took; they
are swept away when the path is compacted, or opened next.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.epochs import (
    OvertakenError,
    epoch_file,
    is_kept,
    last_epoch,
    make_epoch,
    mark_of,
    still_read,
)
from lftj.distributed.files.manifest_records import (
    ADDS,
    added_content,
    added_fields,
    extends,
    is_whole,
    whole_content,
    whole_fields,
)
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import UnknownOutcomeError, shown
from lftj.errors import DistributedError, LftjError
from lftj.scantree import frozen, lock_file
from lftj.storage.durable import LOCK, ProcessLock, sealed, unsealed
from lftj.types import Role, in_role

_log = logging.getLogger(__name__)

FORMAT = 4
_READ = (3, FORMAT)
"""Formats that are read: in 3 every manifest is whole."""
_NO_LOCKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS)
ROWS = "rows"
"""The folder of the row files, below the path."""


@frozen
class Manifest:
    """One version of a workspace.

    `epoch` counts what was true below the path: commits, compactions, openings that removed files.
    Each is made once, by one driver, which knows it by its `mark`, and the one that it `follows` by
    that one's. `token` names the commit that made the version, `program` what `programs.described`
    gives; `log` holds per relation the entries whose sum it is, `counts` its rows. `batches` holds
    the last micro-batch of each stream that is in; `tokens` the commits by version from which parts
    can be brought forward to this one by the entries that came after.
    """

    parts: int
    epoch: int = 0
    mark: str = ""
    follows: str = ""
    version: int = 0
    token: str = ""
    program: Mapping[str, Any] = field(default_factory=dict)
    log: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    batches: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[int, str] = field(default_factory=dict)
    steps: Mapping[int, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)
    """Steps of a commit, by version, for those of `tokens`: the number of steps, and the parts that
    had so many (none named: all).
    """
    roots: tuple[int, ...] = field(default=(), compare=False)
    """The epochs of whole manifests that the last ones are read from, this one from the last."""

    def following(self, before: Manifest) -> Manifest:
        """The same as what comes after another one, with an epoch and a mark of its own: written as
        what it adds to that one, unless it has not all of it, or such additions are many.
        """
        epoch, roots = before.epoch + 1, before.roots or (before.epoch,)
        if is_whole(epoch, roots[-1], self) or not extends(self, before):
            roots = (*roots, epoch)
        roots = still_read(roots, epoch)
        return replace(self, epoch=epoch, mark=uuid4().hex, follows=before.mark, roots=roots)

    def store(self, path: Path, before: Manifest | None = None) -> None:
        """Make this the truth: write, fsync, link, fsync the folder. `before`: the one that it
        follows, if there is one. Raises DistributedError (E406) where another is in its place.
        """
        path.mkdir(parents=True, exist_ok=True)
        with suppress(OvertakenError):  # where it is by ourselves all is well
            make_epoch(path, self.epoch, self._written(before), self.roots)
        if not self.is_stored(path):
            raise overtaken(path)

    def is_stored(self, path: Path) -> bool:
        """Check that this manifest was committed below a path: it has its name, and its predecessor
        was not removed before.
        """
        try:
            return mark_of(path, self.epoch) == self.mark and (
                not self.follows or mark_of(path, self.epoch - 1) == self.follows
            )
        except OSError:
            return False

    def require_last(self, path: Path) -> None:
        """Raise DistributedError (E406) where another workspace has gone on from this. Reads the
        folder.
        """
        if is_overtaken(path, self.epoch):
            raise overtaken(path)

    def _written(self, before: Manifest | None = None) -> bytes:
        head: dict[str, Any] = {
            "format": FORMAT,
            "epoch": self.epoch,
            "mark": self.mark,
            "follows": self.follows,
        }
        if before is None or self.epoch in self.roots:
            roots = self.roots if self.epoch in self.roots else (self.epoch,)
            return sealed({**head, "roots": roots, **whole_content(self)})
        return sealed({**head, "roots": self.roots, ADDS: added_content(before, self)})

    @staticmethod
    def load(path: Path) -> Manifest | None:
        """The truth below a path, None where there is none yet. Raises DistributedError (E403) for
        what this version cannot read.
        """
        while (epoch := last_epoch(path)) is not None:
            if (found := Manifest.of(path, epoch)) is not None:  # else it is of long ago by now
                return found
        return None

    @staticmethod
    def of(path: Path, epoch: int, known: Manifest | None = None) -> Manifest | None:
        """Read the manifest of an epoch, as long as it is kept. Raises as `load`. `known`: one that
        was read before; if it comes before this one, only what was added since is read.
        """
        contents: list[dict[str, Any]] = []
        mark: str | None = None
        for number in range(epoch, -1, -1):
            if known is not None and known.epoch == number and known.mark == mark:
                break
            content = _content(path, number)
            if content is None or (mark is not None and content["mark"] != mark):
                if number == epoch or not is_kept(path, epoch):
                    return None
                raise _damaged(epoch_file(path, number), "another manifest builds on what is gone")
            contents.append(content)
            mark = content["follows"]
            if ADDS not in content:
                known = None
                break
        for content in reversed(contents):
            known = _made(known, content)
        return known

    @staticmethod
    def opened(path: Path, parts: int) -> Manifest:
        """The truth below a path, begun where nothing is yet. Raises DistributedError (E403) as
        `load`, where there are other parts, and where rows are that no manifest names: they are not
        ours to remove.
        """
        found = Manifest.load(path)
        if found is None:
            if store_of(path).names(path / ROWS):
                raise manifest_missing(path)
            with suppress(OvertakenError):  # two may begin it at once
                path.mkdir(parents=True, exist_ok=True)
                make_epoch(path, 0, Manifest(parts, mark=uuid4().hex)._written())
            return Manifest.opened(path, parts)
        if found.version and found.parts != parts:
            message = f"{shown(path)} holds {found.parts} parts, the executor has {parts}"
            raise DistributedError(
                message, code="E403", hint=f"write partitions={found.parts}, or choose another path"
            )
        return found if found.version else replace(found, parts=parts)

    def version_of(self, token: str) -> int | None:
        """The version that a commit made, if parts can be brought forward from it."""
        return next((version for version, known in self.tokens.items() if known == token), None)

    def has_done(self, version: int, token: str, part: int, steps: int) -> bool:
        """Test for a commit from which parts can be brought forward, with so many steps in a
        part.
        """
        return self.tokens.get(version) == token and self.steps_in(version, part) == steps

    def steps_in(self, version: int, part: int) -> int:
        """Steps that a commit had in a part, 0 where it had none there."""
        done = self.steps.get(version, {}).items()
        return next((steps for steps, parts in done if not parts or part in parts), 0)

    def base_log(self) -> dict[str, tuple[Entry, ...]]:
        """The entries of base rows."""
        return {name: entries for name, entries in self.log.items() if in_role(name, Role.BASE)}

    def files(self) -> set[str]:
        """The row files that this version consists of."""
        return files_of(entry for entries in self.log.values() for entry in entries)

    def advanced(self, **changes: Any) -> Manifest:
        """A manifest with some parts of it new."""
        return replace(self, **changes)


def _content(path: Path, epoch: int) -> dict[str, Any] | None:
    """Read the file of an epoch; None where it is gone. Raises as `Manifest.load`."""
    file = epoch_file(path, epoch)
    try:
        content = unsealed(store_of(path).read(file))
    except FileNotFoundError:
        return None
    except ValueError as reason:
        raise _damaged(file, str(reason)) from None
    if content.get("format") not in _READ:
        message = f"{file} has format {content.get('format')}, this version reads {FORMAT}"
        raise DistributedError(
            message,
            code="E403",
            hint="choose another path, or the version of lftj that wrote it",
        )
    return content


def _damaged(file: Path, reason: str) -> DistributedError:
    return DistributedError(
        f"{file} is damaged: {reason}", code="E403", hint="take the path back from a copy"
    )


def _made(before: Manifest | None, content: Mapping[str, Any]) -> Manifest:
    """The manifest that a file says, whole or as an addition to the one before it."""
    head: dict[str, Any] = {name: content[name] for name in ("epoch", "mark", "follows")}
    head["roots"] = tuple(content.get("roots", (content["epoch"],)))
    if ADDS not in content:
        return Manifest(**head, **whole_fields(content))
    assert before is not None
    return replace(before, **head, **added_fields(before, content[ADDS]))


def manifest_missing(path: Path) -> DistributedError:
    """The error for a path with rows and no manifest."""
    hint = f"take the path back from a copy; to begin anew remove {shown(path / ROWS)}"
    return DistributedError(
        f"the manifest is missing, though {shown(path)} holds rows", code="E403", hint=hint
    )


@contextmanager
def reported_by_the_system(path: Path) -> Iterator[None]:
    """Turn errors of the system about files below a path into a DistributedError (E405) that names
    it; leave other errors as they are.
    """
    try:
        yield
    except (LftjError, ConnectionError):
        raise
    except UnknownOutcomeError as reason:
        hint = (
            "open the path again, and look whether the commit is there, before doing it once more"
        )
        raise DistributedError(str(reason), code="E407", hint=hint) from reason
    except OSError as reason:
        hint = (
            "nothing has happened; see that the folder is there, has room and may be written, "
            "and try again"
        )
        raise DistributedError(
            f"{shown(path)} cannot be used: {reason}", code="E405", hint=hint
        ) from reason


def is_overtaken(path: Path, epoch: int) -> bool:
    """Test for a manifest after this one."""
    store = store_of(path)
    if store.exists(epoch_file(path, epoch + 1)):
        return True
    return not store.exists(epoch_file(path, epoch)) and (last_epoch(path) or 0) > epoch


def overtaken(path: Path) -> DistributedError:
    """The error for a driver whose version another one has gone on from."""
    hint = (
        "nothing of this has happened; close the workspace, open the path again, and do it "
        "once more on what is there now"
    )
    return DistributedError(
        f"another workspace has written below {shown(path)} since this one opened it",
        code="E406",
        hint=hint,
    )


def files_from(path: Path, stem: str) -> set[str]:
    """The row files below a path whose names begin with a stem and a hyphen. Reads the folder."""
    return store_of(path).names(path / ROWS, f"{stem}-")


def row_files(path: Path) -> set[str]:
    """All row files below a path. Reads the folder."""
    return store_of(path).names(path / ROWS)


def remove_files(path: Path, files: Iterable[str]) -> None:
    """Remove row files below a path; those that are gone already are passed over."""
    store_of(path).remove([path / ROWS / file for file in files])


def swept(path: Path, parts: int) -> Manifest:
    """The truth below a path, `opened`, with no file that it does not name.

    Where there are such files, another driver may be about to name them, though it should not be
    there. So an epoch of our own comes before they go: from then on nobody can, and who writes more
    builds on it.
    """
    while True:
        halves = list(path.glob("manifest-*.tmp"))
        before, found = Manifest.opened(path, parts), row_files(path)
        stray = found - before.files()
        if not stray and not halves:
            return before
        manifest = before.following(before)
        try:
            manifest.store(path, before)
        except DistributedError as reason:
            if reason.code != "E406":
                raise
            continue
        remove_files(path, stray)
        for half in halves:
            half.unlink(missing_ok=True)
        return manifest


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

    def __init__(self, path: Path):
        """Raises DistributedError (E402) when another workspace holds the path, (E405) when it
        cannot be written.
        """
        self._path = path
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
