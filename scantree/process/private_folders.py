# SPDX-License-Identifier: Apache-2.0
"""Folders that nobody but the user can put anything into.

Numba's index of machine code is a pickle: who can write the folder runs code in each process that
reads it. The permissions of the folder alone do not tell: who can rename one of its parents puts
another folder there.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_OTHERS_WRITE = (
    stat.S_IWGRP | stat.S_IWOTH
)  # of a file with an access list the former tells of all whom the list names
_LINKS = 40  # links that one path may lead over, as in Linux


class UnsafeFolderError(Exception):
    """Others could write a folder or replace one of its parents; the message says which and why."""


def private_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made with mode 0700 together with its missing parents; the path returned holds no
    links.

    Goes from the root downwards. Each step (folder or link) belongs to the user or to root, and
    only these may write in it; in a folder with the sticky bit others may write, but not replace
    what is the user's. So nobody else can change a step once it was looked at, and no time passes
    between check and use. Raises UnsafeFolderError where others may write, OSError where the folder
    cannot be made.
    """
    if not hasattr(
        os, "getuid"
    ):  # where there are no owners the system keeps the profiles of users apart
        os.makedirs(path, exist_ok=True)
        return Path(path).resolve()
    place, steps, links = os.sep, _reversed_steps(os.path.abspath(path)), 0
    _require_ours(place, os.lstat(place))
    while steps:
        here = os.path.normpath(os.path.join(place, steps.pop()))
        status = _made(here)
        if stat.S_ISLNK(status.st_mode):
            _require_owner(here, status)
            if (links := links + 1) > _LINKS:
                raise OSError(f"too many links lead to {path}")
            target = os.readlink(here)
            place = os.sep if os.path.isabs(target) else place
            steps += _reversed_steps(target)
            continue
        _require_ours(here, status, last=not steps)
        place = here
    return Path(place)


def _reversed_steps(path: str) -> list[str]:
    return [step for step in reversed(path.split(os.sep)) if step not in ("", ".")]


def _made(path: str) -> os.stat_result:
    """The status of what is at a path, or of the folder made there."""
    with suppress(FileNotFoundError):
        return os.lstat(path)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    return os.lstat(path)


def _require_owner(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.getuid()):
        raise UnsafeFolderError(f"{path} belongs to another user")


def _require_ours(path: str, status: os.stat_result, last: bool = False) -> None:
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{path} is no folder")
    _require_owner(path, status)
    if status.st_mode & _OTHERS_WRITE and (last or not status.st_mode & stat.S_ISVTX):
        raise UnsafeFolderError(f"others may write in {path}")
    if last:
        if status.st_uid != os.getuid():
            raise UnsafeFolderError(f"{path} belongs to another user")
        if status.st_mode & 0o077:  # files may be made with a mask that lets others write them
            os.chmod(path, 0o700)
