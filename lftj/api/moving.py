# SPDX-License-Identifier: Apache-2.0
"""Workspaces that go on where they are, over parts or in one process again. No row is copied: the
files of rows stay, and what is true below the path is another root, the log or a manifest.

What is kept with views is another thing in parts than in one process, so views are derived from the
rows, once.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from lftj.api.beginning import begin_with
from lftj.api.workspace import Workspace
from lftj.distributed.files.manifest import reported_by_the_system
from lftj.distributed.moving import entries_of_pages, forget_parts, left_by_parts, noted
from lftj.engine.calls.refusals import Kind, refused
from lftj.engine.delivery.consumers import require_caught_up
from lftj.engine.durable.checkpoint import program_text, record_of_files
from lftj.engine.durable.dump import Contents, contents_of, own_rows
from lftj.engine.durable.durable import Durable
from lftj.engine.durable.folder import files_of_rows, require_unread, system_errors
from lftj.engine.live.engine import Engine
from lftj.engine.transaction.feeds import POSITIONS
from lftj.engine.versions.state import State
from lftj.errors import DurableError
from lftj.frames.whole_files import sync_folder
from lftj.scantree import frozen
from lftj.storage.database import Database, base_name
from lftj.storage.durable.acknowledged import ACKNOWLEDGED
from lftj.storage.durable.folder_lock import LOG, ProcessLock
from lftj.storage.durable.log import Commit, Log
from lftj.storage.durable.log_file import ENDS
from lftj.storage.durable.row_files import PAGES
from lftj.tuning import DEFAULT

if TYPE_CHECKING:
    from lftj.distributed.backend import Parts

_BESIDE = "moving"
"""Begins the name of the folder in which a log is made that is not true yet."""
_NOTHING: dict[str, Any] = {
    "format": "",
    "relations": {},
    "segments": [],
    "trees": [],
    "strings": [],
}
"""The record of a workspace without commits."""
_After = tuple[int, ProcessLock]
"""A version of one process, and the lock of its path."""


@frozen
class _Left:
    """The last version of one process: rows by relation, in the pages that a record names, and the
    positions of feeds.
    """

    version: int
    contents: Contents
    record: dict[str, Any]
    rows: dict[str, int]
    positions: dict[str, int]


def go_on_over_parts(path: Path, begin: Callable[[_After | None], Parts]) -> Workspace:
    """The workspace at a path over parts, which `begin` opens there: after a version of one process
    whose lock it goes on with, or, with None, where parts are already. O(record), and what deriving
    the views takes.

    The past stays behind. Raises DistributedError (E400) where there are branches, DurableError
    where others have the path open (E350), ConsumerError (E372) where a consumer has not
    acknowledged all, and as a commit over parts does; then one process goes on.
    """
    if not (path / LOG).exists():
        parts = begin(None)
        _remove_beside(path)  # where a process died once the log was gone
        return Workspace(parts)
    durable = Durable(Engine(writer_timeout=0, progress=None), path.absolute(), create=False)
    try:
        left = _left_by(durable)
        with reported_by_the_system(path):
            forget_parts(path)  # of a move that was broken off
        parts = begin((left.version, durable.passed_on()))
    except BaseException:
        durable.abandon()
        raise
    try:
        workspace = Workspace(parts)
        with reported_by_the_system(path):
            entries = entries_of_pages(path, left.record, left.rows, left.version + 1)
        # rows first: by their numbers rules are planned, and hubs found
        begin_with(workspace, left.contents._replace(rules=""), (), entries, noted(left.positions))
        if left.contents.rules:
            workspace.add_rules(left.contents.rules)
        with reported_by_the_system(path), require_unread(path):
            _remove_log(path)
    except BaseException:
        if (path / LOG).exists():
            forget_parts(path)
        parts.close()
        raise
    return workspace


def go_on_in_one_process(path: Path) -> None:
    """Have one process go on with what parts left at a path. O(files of rows); the views are
    derived as the path is opened. Nothing happens where parts have gone already.

    Raises DistributedError where the path is in use (E402) or damaged (E403), DurableError (E350)
    where others read it, or (E354).
    """
    with left_by_parts(path, POSITIONS) as left, system_errors(path):
        if left is not None:
            state = State(left.program, Database({}, left.version), left.views)
            text = program_text(state, DEFAULT)
            _write_log(path, text, record_of_files(left.version, text, left.relations))
        elif (path / LOG).exists():
            forget_parts(path)
            _remove_unfinished(path)


def _left_by(durable: Durable) -> _Left:
    """Open a path, write pages of the last version, and say where these are."""
    durable.open()
    engine, path = durable.engine, durable.path
    if len(engine.family()) > 1:
        names = ", ".join(each.name for each in engine.family()[1:])
        raise refused("moving branches", Kind.PARTS, names)
    require_caught_up(engine.positions, engine.state.version)
    durable.checkpoint()
    point, commits = durable.log.opened()
    state = engine.state
    record = _NOTHING if point is None else point.record
    if commits or files_of_rows(record):
        raise DurableError(
            f"{path}: pages of the last version could not be written",
            code="E354",
            hint="see that there is room, and try again",
        )
    rows = {name: len(rows) for name, rows in own_rows(engine, state)}
    stored = record["relations"]
    own = {name: base_name(name) if base_name(name) in stored else name for name in rows}
    kept = {
        "relations": {name: stored[each] for name, each in own.items()},
        "segments": record["segments"],
        "trees": record["trees"],
        "strings": record["strings"],
    }
    positions: dict[str, int] = {}
    if POSITIONS.name in rows:
        found = engine.base_result(state, state.program.catalog.relation(POSITIONS.name))
        positions = dict(cast("list[tuple[str, int]]", found.fetchall()))
    # the rules of programs are there, each by itself
    contents = contents_of(state)._replace(programs={})
    return _Left(state.version, contents, kept, rows, positions)


def _remove_log(path: Path) -> None:
    """Have parts be true: the log goes, and then what belongs to it."""
    (path / LOG).unlink()
    sync_folder(path)
    _remove_beside(path)


def _remove_beside(path: Path) -> None:
    """Remove what belongs to a log that is not there, or never came."""
    for name in (*(LOG + end for end in ENDS if end), ACKNOWLEDGED):
        (path / name).unlink(missing_ok=True)
    _remove_unfinished(path)


def _remove_unfinished(path: Path) -> None:
    """Remove logs that were not finished."""
    for folder in path.glob(f"{_BESIDE}-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _write_log(path: Path, text: str, record: dict[str, Any]) -> None:
    """Have one process be true: a log comes, with one commit and the record of it. With the path's
    lock held.
    """
    _remove_beside(path)
    (path / PAGES).mkdir(exist_ok=True)
    beside = path / f"{_BESIDE}-{uuid4().hex[:12]}"
    beside.mkdir()
    try:
        log = Log(beside, write=True)
        try:
            log.append([Commit(1, record["version"], time.time(), text, b"")], 0, record)
            log.move_into_database()
        finally:
            log.close()
        with open(beside / LOG, "rb") as file:
            os.fsync(file.fileno())
        os.replace(beside / LOG, path / LOG)
        sync_folder(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    forget_parts(path)
