"""Files that are written whole: until the last byte is there the file is what it was before, or is not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lftj.errors import FrameError


@contextmanager
def whole_write(path: Path) -> Iterator[BinaryIO]:
    """What is written here becomes the file at the end of the block, in place of one that is there; links stay links.

    After an exception there is what was before. Pipes and devices, and files in folders that take no others, are written as they stand.
    Raises FrameError (E232) where that cannot be: no folder, no right, a full disc.
    """
    hint = None
    try:
        target = path.resolve()
        if target.exists() and not (target.is_file() and os.access(target.parent, os.W_OK)):
            with open(target, "wb") as sink:
                yield sink
            return
        hint = "what the file held before is untouched" if target.exists() else None
        waiting = target.with_name(f".{uuid4().hex}.tmp")
        try:
            with open(waiting, "wb") as sink:
                yield sink
            if target.exists():
                shutil.copymode(target, waiting)
            os.replace(waiting, target)
        except BaseException:
            with suppress(OSError):
                waiting.unlink(missing_ok=True)
            raise
    except (OSError, RuntimeError) as reason:  # the latter for links that go round in circles
        raise FrameError(f"{path} cannot be written: {getattr(reason, 'strerror', None) or reason}", code="E232", hint=hint) from None
