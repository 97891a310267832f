"""Files that are whole or not there: written under another name, synced, and given their own."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

# Small files of JSON that say themselves when they are not what was written.

_SEAL = re.compile(rb', "sum": (\d+)}$')


def sealed(content: Mapping[str, Any]) -> bytes:
    """Content, of some keys, as JSON with its checksum at the end, as one more key `sum`."""
    body = json.dumps(content).encode()
    return body[:-1] + f', "sum": {zlib.crc32(body)}}}'.encode()


def unsealed(found: bytes) -> dict[str, Any]:
    """The content again. Raises ValueError where it is another one; what has no checksum is taken
    as it is.
    """
    seal = _SEAL.search(found)
    if seal is not None:
        found = found[: seal.start()] + b"}"
        if zlib.crc32(found) != int(seal[1]):
            raise ValueError("it is not what was written")
    content = json.loads(found)
    if not isinstance(content, dict):
        raise ValueError("it is not what was written")
    return content


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """What is written here becomes the file in the end, in place of one that is there; after an
    exception there is what was before.
    """
    with _written(target) as (sink, waiting):
        yield sink
        _sync(sink)
        os.replace(waiting, target)


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """What is written here becomes the file in the end. Raises FileExistsError where one is there,
    and leaves it as it is.

    Where a network repeats what it did already, that may be the file itself.
    """
    with _written(target) as (sink, waiting):
        yield sink
        _sync(sink)
        os.link(waiting, target)
        with suppress(OSError):  # the name is of no use, and swept away later
            waiting.unlink()


@contextmanager
def _written(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A file under another name, removed after an exception; at the end the folder is synced."""
    waiting = target.with_name(f"{target.name}.{uuid4().hex}.tmp")
    try:
        with open(waiting, "wb") as sink:
            yield sink, waiting
    except BaseException:
        with suppress(OSError):  # where the disc is full, its room is wanted
            waiting.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync(sink: BinaryIO) -> None:
    sink.flush()
    os.fsync(sink.fileno())


def _sync_folder(folder: Path) -> None:
    """Have files of a folder keep their names after a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
