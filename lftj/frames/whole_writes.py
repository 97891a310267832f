"""Files that are written whole: until the last byte is there the file is what it was before, or is
not there.
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
    """What is written here becomes the file at the end of the block, in place of one that is there;
    links stay links.

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
        with open_folder(target.parent) as folder, _replacing(folder, target) as sink:
            yield sink
    except (OSError, RuntimeError) as reason:  # the latter for links that go round in circles
        raise FrameError(
            f"{path} cannot be written: {getattr(reason, 'strerror', None) or reason}",
            code="E232",
            hint=hint,
        ) from None


@contextmanager
def _replacing(folder: int | None, target: Path) -> Iterator[BinaryIO]:
    """A file beside the target, which takes its place and its mode at the end of the block."""
    waiting = target.with_name(f".{uuid4().hex}.tmp")
    here, there = (str(path) if folder is None else path.name for path in (waiting, target))
    try:
        with create_file(folder, waiting) as sink:
            yield sink
        with suppress(FileNotFoundError):
            mode = os.stat(there, dir_fd=folder, follow_symlinks=False).st_mode
            os.chmod(here, stat.S_IMODE(mode), dir_fd=folder)
        os.replace(here, there, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(here, dir_fd=folder)
        raise
