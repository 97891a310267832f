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

from lftj.frames import new_file

_KEPT = 4  # files before the last one: who lists a folder while others go on finds one of these
_MARK = re.compile(rb'"mark": "(\w*)"')
_HEAD = 256  # bytes, within which the mark is
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class OvertakenError(Exception):
    """Another process made the file of this number."""


def epoch_file(path: Path, epoch: int) -> Path:
    """The file of a number."""
    return path / f"manifest-{epoch}.json"


def epochs(path: Path) -> Iterator[int]:
    """The numbers of the files that are there, the last one first."""
    found = (file.stem.removeprefix("manifest-") for file in path.glob("manifest-*.json"))
    yield from sorted((int(number) for number in found if number.isdecimal()), reverse=True)


def still_read(roots: tuple[int, ...], epoch: int) -> tuple[int, ...]:
    """Numbers that the files which are kept need, of those from which files up to `epoch` are read,
    in order.
    """
    later = [*roots[1:], epoch + 1]
    return tuple(root for root, end in zip(roots, later, strict=True) if end > epoch - _KEPT)


def is_kept(path: Path, epoch: int) -> bool:
    """Tell whether all that a file is read from is kept, as it is one of the last."""
    return epoch >= next(epochs(path), epoch) - _KEPT


def make_epoch(path: Path, epoch: int, content: bytes, roots: tuple[int, ...] = ()) -> None:
    """Make the file of a number, and sync; before that, files of long ago go, which those that are
    kept are not read from; `roots`: what these are read from.

    Raises OvertakenError, or OSError, after which the file may be there.
    """
    for old in sorted(
        epochs(path)
    ):  # in this order: that a file is there says that those behind it were never removed
        if old < min((epoch - _KEPT, *roots[:1])):
            epoch_file(path, old).unlink(missing_ok=True)
    try:
        with new_file(epoch_file(path, epoch)) as sink:
            sink.write(content)
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
    with suppress(FileNotFoundError), open(epoch_file(path, epoch), "rb") as source:
        found = _MARK.search(source.read(_HEAD))
        return "" if found is None else found[1].decode()
    return None
