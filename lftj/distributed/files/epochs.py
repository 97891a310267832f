# SPDX-License-Identifier: Apache-2.0
"""Small numbered files, of which the last one is true. Each is made once, whole, by one process:
whoever comes second is told.

That does not rest on locks, which not every file system shares among machines: a file gets its name
by a link, which there can be once. The name of the one before stays for a while. Where it is gone,
others have gone on so far that the number was free again, and the file is of no use.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lftj.distributed.objects.file_store import FileStore, store_of
from lftj.distributed.objects.mounts import shown

_KEPT = 4  # files before the last one: who lists a folder while others go on finds one of these
ROOT = "root"
"""The file that says, of objects, from which number on manifests are there."""
_MARK = re.compile(rb'"mark": "(\w*)"')
_HEAD = 256  # bytes, within which the mark is
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class OvertakenError(Exception):
    """Another process made the file of this number."""


def epoch_file(path: Path, epoch: int) -> Path:
    """The file of a number."""
    return path / f"manifest-{epoch}.json"


def epochs(path: Path) -> Iterator[int]:
    """The numbers of the files that are listed, the last one first."""
    names = store_of(path).names(path, "manifest-", ".json")
    found = (name.removeprefix("manifest-").removesuffix(".json") for name in names)
    yield from sorted((int(number) for number in found if number.isdecimal()), reverse=True)


def last_epoch(path: Path) -> int | None:
    """The last number of which a file is there; None where there is none.

    Listings of objects may lag, so these are searched for, from the first that is kept.
    """
    store = store_of(path)
    if store.shared:
        return next(epochs(path), None)
    first = _first_kept(path, store)
    if not store.exists(epoch_file(path, first)):
        if not first:
            return None
        first = next(epochs(path), -1)
        if first < 0 or not store.exists(epoch_file(path, first)):
            raise OSError(f"{shown(path)} has a root, but no manifest is found")
    last, step = first, 1
    while store.exists(epoch_file(path, last + step)):
        last, step = last + step, 2 * step
    while step > 1:
        step //= 2
        if store.exists(epoch_file(path, last + step)):
            last += step
    return last


def _first_kept(path: Path, store: FileStore) -> int:
    """The number from which on all files are there, as the root says."""
    try:
        return int(store.read(path / ROOT))
    except FileNotFoundError:
        return 0


def _remove_before(path: Path, first: int) -> None:
    """Remove files of lower numbers, in their order: that a file is there says that those behind it
    were never removed. Of objects the root says first where they begin.
    """
    store = store_of(path)
    if store.shared:
        old = [number for number in sorted(epochs(path)) if number < first]
    else:
        old = list(range(_first_kept(path, store), first))
        if old:
            (path / ROOT).write_text(str(first))
            store.publish([path / ROOT])
    for number in old:
        store.remove([epoch_file(path, number)])


def still_read(roots: tuple[int, ...], epoch: int) -> tuple[int, ...]:
    """Numbers that the files which are kept need, of those from which files up to `epoch` are read,
    in order.
    """
    later = [*roots[1:], epoch + 1]
    return tuple(root for root, end in zip(roots, later, strict=True) if end > epoch - _KEPT)


def is_kept(path: Path, epoch: int) -> bool:
    """Tell whether all that a file is read from is kept, as it is one of the last."""
    last = last_epoch(path)
    return last is None or epoch >= last - _KEPT


def make_epoch(path: Path, epoch: int, content: bytes, roots: tuple[int, ...] = ()) -> None:
    """Make the file of a number, and sync; before that, files of long ago go, which those that are
    kept are not read from; `roots`: what these are read from.

    Raises OvertakenError, or OSError, after which the file may be there.
    """
    store = store_of(path)
    if store.shared or epoch in roots:  # a request for each file to be removed
        _remove_before(path, min((epoch - _KEPT, *roots[:1])))
    try:
        store.create(epoch_file(path, epoch), content)
    except FileExistsError:
        raise OvertakenError from None
    except OSError as reason:
        if reason.errno in _NO_LINKS:
            message = (
                "its file system has no hard links, without which of two commits at once one "
                "would be lost"
            )
            raise OSError(reason.errno, message) from reason
        raise


def mark_of(path: Path, epoch: int) -> str | None:
    """The mark by which its maker knows a file, None where there is none of this number."""
    with suppress(FileNotFoundError):
        found = _MARK.search(store_of(path).read(epoch_file(path, epoch))[:_HEAD])
        return "" if found is None else found[1].decode()
    return None
