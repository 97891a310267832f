# SPDX-License-Identifier: Apache-2.0
"""Writer of whole files: until its last byte is there a file is as it was before, or is missing.

Each is written under a passing name beside its own and given that at the end. `whole_write` is for
files of users: confined to a folder where a program names them, with errors that say what to do.
`whole_file` and `new_file` are for files of a workspace: synced, so that they outlive a loss of
power.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lftj.errors import FrameError
from lftj.frames.confined import check_inside, create_file, open_folder


@contextmanager
def whole_write(path: Path) -> Iterator[BinaryIO]:
    """Write a user's file, in place of one that is there; links stay links.

    After an exception there is what was before. Pipes and devices, and files in folders that take
    no others, are written as they stand. Raises FrameError (E232) where that cannot be: no folder,
    no right, a full disc.
    """
    hint = None
    try:
        target = check_inside(path)
        if target.exists() and not (target.is_file() and os.access(target.parent, os.W_OK)):
            with open_folder(target.parent) as folder, create_file(folder, target) as sink:
                yield sink
            return
        hint = "what the file held before is untouched" if target.exists() else None
        waiting = target.with_name(f".{uuid4().hex}.tmp")
        with open_folder(target.parent) as folder, _aside(waiting, folder) as sink:
            yield sink
            sink.close()
            _take_place(waiting, target, folder)
    except (OSError, RuntimeError) as reason:  # the latter for links that go round in circles
        raise FrameError(
            f"{path} cannot be written: {getattr(reason, 'strerror', None) or reason}",
            code="E232",
            hint=hint,
        ) from None


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Write a file of a workspace, in place of one that is there; after an exception there is what
    was before.
    """
    with _aside(waiting := _beside(target)) as sink:
        yield sink
        _sync(sink)
        os.replace(waiting, target)
    sync_folder(target.parent)


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """Write a file of a workspace that is not there yet. Raises FileExistsError where one is, and
    leaves it as it is.

    Where a network repeats what it did already, that may be the file itself.
    """
    with _aside(waiting := _beside(target)) as sink:
        yield sink
        _sync(sink)
        os.link(waiting, target)
        with suppress(OSError):  # the name is of no use, and swept away later
            waiting.unlink()
    sync_folder(target.parent)


@contextmanager
def _aside(waiting: Path, folder: int | None = None) -> Iterator[BinaryIO]:
    """A file under a passing name, in a folder that `open_folder` gave; removed after an
    exception.
    """
    try:
        with create_file(folder, waiting) as sink:
            yield sink
    except BaseException:
        with suppress(OSError):  # where the disc is full, its room is wanted
            os.unlink(_seen_from(folder, waiting), dir_fd=folder)
        raise


def _beside(target: Path) -> Path:
    """A passing name that says whose it is: what a dead process left is swept away by it."""
    return target.with_name(f"{target.name}.{uuid4().hex}.tmp")


def _take_place(waiting: Path, target: Path, folder: int | None) -> None:
    """Give the file the name and the mode of the target."""
    here, there = _seen_from(folder, waiting), _seen_from(folder, target)
    with suppress(FileNotFoundError):
        mode = os.stat(there, dir_fd=folder, follow_symlinks=False).st_mode
        os.chmod(here, stat.S_IMODE(mode), dir_fd=folder)
    os.replace(here, there, src_dir_fd=folder, dst_dir_fd=folder)


def _seen_from(folder: int | None, path: Path) -> str:
    return str(path) if folder is None else path.name


def _sync(sink: BinaryIO) -> None:
    sink.flush()
    os.fsync(sink.fileno())


def sync_folder(folder: Path) -> None:
    """Have files of a folder keep their names after a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
