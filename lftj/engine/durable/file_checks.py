# SPDX-License-Identifier: Apache-2.0
"""Care for the files of a durable workspace: sizes, and problems that checksums and rules find.

A workspace is looked at as a reader does, so another process may write meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lftj.engine.calls.limits import short_of_memory
from lftj.engine.durable.durable import Durable
from lftj.engine.durable.folder import PAGES
from lftj.engine.live.verify import broken_keys, view_discrepancies
from lftj.errors import DurableError, LftjError
from lftj.scantree.rows import sort_rows
from lftj.scantree.watched_files import FileDamagedError

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_NOT_OPENED = (LookupError, ValueError, TypeError, OSError, FileDamagedError)


class Info(NamedTuple):
    """Sizes and numbers of a workspace's files: versions of `branches` beside main by name,
    `bytes` by file or kind of file.
    """

    path: Path
    version: int
    relations: int
    rules: int
    rows: int
    commits: int
    oldest: datetime | None
    checkpoints: int
    branches: dict[str, int]
    bytes: dict[str, int]


def info(engine: Engine, path: Path) -> Info:
    """Numbers of a workspace, opened in an empty engine. Raises DurableError."""
    durable = Durable(engine, path, write=False)
    try:
        durable.open()
        state, commits = engine.state, durable.log.since(*durable.log.oldest()) or []
        relations = state.program.catalog.relations
        return Info(
            path,
            state.version,
            len(relations),
            len(state.program.sources),
            sum(state.database[name].count for name in relations),
            len(commits),
            datetime.fromtimestamp(commits[0].time) if commits else None,
            len(durable.log.checkpoints()),
            {each.name: each.state.version for each in engine.family() if each.number},
            sizes(path),
        )
    finally:
        durable.close()


def sizes(path: Path) -> dict[str, int]:
    """Bytes of a workspace's files by kind."""
    found = {"log": 0, "pages": 0, "strings": 0, "other": 0}
    for file in path.rglob("*"):
        if not file.is_file():
            continue
        strings = file.parent.name == PAGES and file.name.startswith("strings-")
        pages = file.parent.name == PAGES and not strings
        log = file.name.startswith("log.sqlite")
        kind = "strings" if strings else "pages" if pages else "log" if log else "other"
        found[kind] += file.stat().st_size
    return found


def problems(engine: Engine, path: Path, *, deep: bool = False) -> Iterator[str]:
    """Problems of a workspace's files, opened in an engine that nobody else uses: each checksum of
    the log, of every checkpoint's pages and strings, row counts and the order of rows; with `deep`
    views that are not what rules derive. Raises DurableError where there is no workspace.
    """
    durable = Durable(engine, path, write=False)
    try:
        yield from (f"log.sqlite: {text}" for text in durable.log.integrity())
        numbers = durable.log.checkpoints()
        if numbers and durable.past.oldest() == 0:  # commits lead from nothing to the first of them
            numbers.append(0)
        for number, following in zip(numbers, [None, *numbers], strict=False):
            yield from _problems_from(durable, engine, number, following)
        durable.begin_anew()
        durable.open()
        durable.past.entries()
        for branch in engine.family():
            of = f" of branch {branch.name}" if branch.number else ""
            yield from (text + of for text in _problems_of_rows(branch))
            for each in broken_keys(branch, branch.state):
                yield f"{each.relation}{of} has several rows of one key: {each.difference}"
            for each in view_discrepancies(branch, branch.state) if deep else ():
                yield f"view {each.relation}{of} is not what its rules derive: {each.difference}"
    except LftjError as error:
        if error.code in ("E333", "E350", "E351", "E352", "E357"):
            raise
        yield error.message
    finally:
        durable.close()


def _problems_from(
    durable: Durable, engine: Engine, number: int, following: int | None
) -> Iterator[str]:
    """Problems of one checkpoint and the commits after it, up to the `following` checkpoint."""
    short = short_of_memory("not all was checked", "check it where more memory is free")
    try:
        with short:
            durable.begin_anew()
            durable.open_at(number, following)
            engine.arena.watch.check(everything=True)
    except DurableError as error:
        yield error.message
    except _NOT_OPENED as reason:
        yield f"checkpoint {number}: {reason}"


def _problems_of_rows(engine: Engine) -> Iterator[str]:
    """Problems of key orders: each holds the rows of its relation once, in ascending order."""
    for name, relation in engine.state.database.items():
        rows = relation.columns()
        if rows and len(rows[0]) != relation.count:
            yield f"relation {name} has {len(rows[0])} rows where {relation.count} are counted"
        for order in relation.kept_orders(0):
            found = relation.tree(order).columns()
            if not _same(found, sort_rows(found)):
                yield f"key order {order} of {name} is not in order"
            back = sort_rows([found[order.index(place)] for place in range(len(order))])
            if order and not _same(back, rows):
                yield f"key order {order} of {name} has other rows than the relation"


def _same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(map(np.array_equal, some, others))
