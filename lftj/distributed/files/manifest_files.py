# SPDX-License-Identifier: Apache-2.0
"""Files that a manifest is read from: those of the last numbers, back to a root, and the runs that
the root names.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lftj.distributed.files.epochs import epoch_file, is_kept
from lftj.distributed.files.runs import NOT_READ, RUNS, SUMMED, Run, read_runs
from lftj.distributed.objects.file_store import store_of
from lftj.errors import DistributedError
from lftj.storage.durable import unsealed

Content = dict[str, Any]
FORMAT = 6
_READ = (3, 4, 5, FORMAT)
"""Formats that are read: in 3 every manifest is whole, in 4 one without additions is, in 5 runs are
compressed otherwise.
"""
ADDS = "adds"
"""The key under which a manifest has what it adds to the one before."""
NAMES = "runs"
"""The key under which a manifest names the runs that have all of it."""


def back_from(path: Path, epoch: int, known: tuple[int, str] = (-1, "")) -> list[Content] | None:
    """Read the files from an epoch back to a root, or to the one after a manifest that is `known`
    by its epoch and mark; None where they are of long ago by now. Raises as `Manifest.load`.

    Where the way goes through a root there is less to read than that root's runs.
    """
    contents: list[Content] = []
    roots, at_once = list[int](), dict[int, bytes]()
    mark: str | None = None
    for number in range(epoch, -1, -1):
        if known == (number, mark):
            return contents
        content = content_of(path, number, at_once.get(number))
        if content is None or (mark is not None and content["mark"] != mark):
            if roots:
                break
            if number == epoch or not is_kept(path, epoch):
                return None
            raise damaged(epoch_file(path, number), "another manifest builds on what is gone")
        if number == epoch:
            last_root = head_of(content)["roots"][-1]
            at_once = _read(path, range(max(last_root, known[0] + 1), epoch))
        contents.append(content)
        mark = content["follows"]
        if NAMES in content:
            roots.append(len(contents))
        if ADDS not in content or (roots and not epoch - SUMMED < known[0] < number):
            return contents
    return contents[: roots[0]]


def _read(path: Path, numbers: Sequence[int]) -> dict[int, bytes]:
    """The files of some numbers, read together; none where one is gone."""
    with suppress(FileNotFoundError):
        found = store_of(path).get_all([epoch_file(path, number) for number in numbers])
        return dict(zip(numbers, found, strict=True))
    return {}


def contents_of(path: Path, runs: Sequence[Run], format: int = FORMAT) -> list[Content] | None:
    """The contents of the runs of a manifest of a format; None where one is gone. Raises
    DistributedError (E403).
    """
    try:
        return read_runs(path, [run.name for run in runs], before=format < 6)
    except FileNotFoundError:
        return None
    except NOT_READ as reason:
        raise damaged(path / RUNS, str(reason)) from None


def content_of(path: Path, epoch: int, found: bytes | None = None) -> Content | None:
    """Read the file of an epoch, if it was not `found`; None where it is gone. Raises as
    `Manifest.load`.
    """
    file = epoch_file(path, epoch)
    try:
        content = unsealed(store_of(path).read(file) if found is None else found)
    except FileNotFoundError:
        return None
    except ValueError as reason:
        raise damaged(file, str(reason)) from None
    if content.get("format") not in _READ:
        message = f"{file} has format {content.get('format')}, this version reads {FORMAT}"
        raise DistributedError(
            message,
            code="E403",
            hint="choose another path, or the version of lftj that wrote it",
        )
    return content


def damaged(file: Path, reason: str) -> DistributedError:
    """The error for a file that is not as it was written."""
    return DistributedError(
        f"{file} is damaged: {reason}", code="E403", hint="take the path back from a copy"
    )


def head_of(content: Content) -> Content:
    """The fields of a manifest that say which one it is, and what it is read from."""
    head = {name: content[name] for name in ("epoch", "mark", "follows")}
    return {**head, "roots": tuple(content.get("roots", (content["epoch"],)))}


def runs_of(content: Content) -> tuple[Run, ...]:
    """The runs that a manifest names, to which others may be added: none of an older format, after
    which one is written that has all of it.
    """
    return tuple(Run(*run) for run in content[NAMES]) if content["format"] == FORMAT else ()
