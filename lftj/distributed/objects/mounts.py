# SPDX-License-Identifier: Apache-2.0
"""Addresses that this process reads, each by way of a folder: as a system mounts a disk.

Tasks carry an address, and every machine has a folder of its own for it. So what is below a path is
named by its folder in this process, and by its address on the way to another one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lftj.partition import Address
from lftj.scantree import frozen

AnyPath = str | Address
"""A path as tasks carry it: a folder that all see under this name, or an address."""


@frozen
class Mounted:
    """An address, and the folder in which this process reads it."""

    address: Address
    folder: Path


class UnknownOutcomeError(OSError):
    """An object may have been made, or be made yet: the store does not answer."""


_mounted: dict[Path, Mounted] = {}


def mount(address: Address) -> Path:
    """The folder of an address, from now on known as such."""
    folder = address.folder
    if folder not in _mounted:
        root = folder.parent
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.stat().st_uid != os.getuid():
            raise PermissionError(f"{root} belongs to another user: set PARTITION_CACHE")
        folder.mkdir(exist_ok=True)
    known = _mounted.get(folder)
    if known is None or known.address != address:  # it may come with newer options
        _mounted[folder] = Mounted(address, folder)
    return folder


def mounted(path: Path) -> Mounted | None:
    """The address that a folder, or a file in one, is the cache of; None where it is none."""
    if not _mounted:
        return None
    return next((_mounted[each] for each in (path, *path.parents) if each in _mounted), None)


def here(place: AnyPath) -> Path:
    """The folder of a path that a task carries, in this process."""
    return mount(place) if isinstance(place, Address) else Path(place)


def unmount(place: AnyPath) -> None:
    """Forget an address, and empty its cache; a folder stays as it is."""
    if isinstance(place, Address) and _mounted.pop(place.folder, None) is not None:
        shutil.rmtree(place.folder, ignore_errors=True)


def sent(path: Path) -> AnyPath:
    """A path as a task is to carry it."""
    found = mounted(path)
    if found is None:
        return str(path)
    below = path.relative_to(found.folder)
    return found.address.below(below.as_posix()) if below.parts else found.address


def shown(path: Path) -> str:
    """A path as users know it."""
    return str(sent(path))
