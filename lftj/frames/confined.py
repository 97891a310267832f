# SPDX-License-Identifier: Apache-2.0
"""Files that a program's text names are opened inside one folder only: `../`, absolute paths and
links do not lead out of it.

A path is resolved, compared, and then opened step by step from the folder's own descriptor,
following no link: what is put in place of a step meanwhile is an error and not another file. Where
the system opens nothing relative to a descriptor (Windows), the resolved path alone decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import BinaryIO

from lftj.errors import PathOutsideError

_FOLDER: ContextVar[Path | None] = ContextVar("confined to", default=None)
_STEPWISE = os.open in os.supports_dir_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_A_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK


@contextmanager
def confined(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Meanwhile have `read` and writes of this thread open what lies in the folder, and nothing
    else; None: anything.
    """
    before = _FOLDER.set(None if folder is None else Path(folder).resolve())
    try:
        yield
    finally:
        _FOLDER.reset(before)


def check_inside(path: Path) -> Path:
    """The path without links. Raises PathOutsideError (E233) where that is not in the folder."""
    resolved, folder = path.resolve(), _FOLDER.get()
    if folder is None:
        return resolved
    if not resolved.is_relative_to(folder):
        raise PathOutsideError(
            f"{path} leads out of the folder {folder}", hint="move the file there"
        )
    return resolved


def check_all_inside(path: Path) -> Path:
    """As `check_inside`, for what is read with all that it holds: a table may be a folder of files,
    some of which may be links. Cost: a look at each of them.
    """
    resolved, folder = check_inside(path), _FOLDER.get()
    if folder is None or not resolved.is_dir():
        return resolved
    for link in filter(Path.is_symlink, resolved.rglob("*")):
        if not link.resolve().is_relative_to(folder):
            raise PathOutsideError(
                f"{path} holds {link.name}, which leads out of the folder {folder}",
                hint="move the files there",
            )
    return resolved


def is_confined() -> bool:
    """True when only files of one folder may be opened."""
    return _FOLDER.get() is not None


def open_file(path: Path) -> BinaryIO:
    """The file, open to be read. Raises PathOutsideError (E233), OSError."""
    if not is_confined():
        return open(path, "rb")
    resolved = check_inside(path)
    with open_folder(resolved.parent) as folder:
        return open(_seen_from(folder, resolved), "rb", opener=partial(_opened, folder))


@contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int | None]:
    """A descriptor of a folder that is inside, to be reached without links; with `make` made if
    need be. None where all is allowed.
    """
    root = _FOLDER.get()
    if root is None or not _STEPWISE:
        if make:
            path.mkdir(parents=True, exist_ok=True)
        yield None
        return
    steps = check_inside(path).relative_to(root).parts
    here = os.open(root, _A_FOLDER & ~_NO_LINK)
    try:
        for step in steps:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=here)
            inner = os.open(step, _A_FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


def _seen_from(folder: int | None, path: Path) -> str:
    return str(path) if folder is None else path.name


def _opened(folder: int | None, name: str, flags: int) -> int:
    return os.open(name, flags | _NO_LINK, 0o666, dir_fd=folder)


def create_file(folder: int | None, path: Path) -> BinaryIO:
    """A file opened to be written, in a folder that `open_folder` gave."""
    return open(_seen_from(folder, path), "wb", opener=partial(_opened, folder))
