# SPDX-License-Identifier: Apache-2.0
"""Workspaces from files, and workspaces of memory into files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.engine.delivery.consumers import require_caught_up
from lftj.engine.durable.durable import Durable
from lftj.engine.versions.ancestry import Ancestry
from lftj.errors import DeclarationError, DurableError
from lftj.scantree.watched_files import FileDamagedError
from lftj.storage.durable.folder_lock import LOG
from lftj.storage.durable.log_file import DURABILITY

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine


def open_path(
    engine: Engine,
    path: str | os.PathLike[str],
    *,
    create: bool = True,
    read_only: bool = False,
    copy: bool = False,
    durability: str = "full",
) -> None:
    """Have an empty engine go on with a workspace's files, or with a `copy` of what is in them.
    Raises DurableError (E350 to E357), or DeclarationError (E160) for another durability.
    """
    _require_durability(durability)
    write = not (read_only or copy)
    folder = Path(path).absolute()  # the process may go to another folder
    durable = Durable(engine, folder, write=write, create=create, durability=durability)
    try:
        durable.open()
        if copy:
            engine.arena.watch.check(everything=True)
    except FileDamagedError as reason:
        durable.close()
        raise durable.damaged(reason) from None
    except BaseException:
        durable.abandon()
        raise
    if copy:
        durable.close()
    engine.writer.flush = durable.group.flush
    for each in engine.family():
        if copy:
            each.positions = {}  # changes that they have not acknowledged are not here
            each.pin()
        else:
            each.durable = durable
        each.past.begin(each.state)
        if each.durable is not None and read_only:
            each.show()


@contextmanager
def opened_to_read(
    engine: Engine, path: str | os.PathLike[str], *, salvage: bool = False
) -> Iterator[Engine]:
    """An empty engine that has a workspace's files for the length of a block. With `salvage` it has
    what is left of damaged ones: the last checkpoint that opens, the commits after it that are
    whole, and pages that are compared with their checksums when rows of them are read.
    """
    durable = Durable(engine, Path(path).absolute(), write=False)
    try:
        if salvage:
            durable.salvage()
        else:
            durable.open()
        engine.durable = durable
        yield engine
    finally:
        durable.abandon()


def save(engine: Engine, path: str | os.PathLike[str], durability: str = "full") -> None:
    """Have an engine that lives in memory go on in files at a path, where nothing is yet. With the
    writer lock held. O(pages). The past stays behind. Raises DurableError, and ConsumerError (E372)
    where a consumer has not acknowledged all of it, and then it lives in memory as before.
    """
    _require_durability(durability)
    engines = engine.family()
    for each in engines:
        require_caught_up(each.positions, each.state.version)
    folder = Path(path).absolute()
    if (folder / LOG).exists():
        hint = "choose a path where nothing is, or remove the workspace there"
        raise DurableError(f"there is a workspace at {folder} already", code="E351", hint=hint)
    durable = Durable(engine, folder, durability=durability)
    try:
        ancestry = Ancestry() if engine.branches is None else engine.branches.ancestry
        durable.begin_with(engines, ancestry)
    except BaseException:
        durable.abandon()
        raise
    engine.writer.flush = durable.group.flush
    for each in engines:
        each.durable = durable
        each.past.keep = each.past.keep.in_files()


def _require_durability(durability: str) -> None:
    if durability not in DURABILITY:
        raise DeclarationError(
            f"durability is one of {', '.join(DURABILITY)}, found {durability!r}",
            hint='"full" syncs each commit; "normal" and "off" leave it to the system',
        )
