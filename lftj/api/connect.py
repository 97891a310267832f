# SPDX-License-Identifier: Apache-2.0
"""Workspaces as users open them, and Spark on this machine, ready for parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from lftj.api.in_process import InProcess
from lftj.api.workspace import Workspace
from lftj.engine.calls.options import named_options
from lftj.engine.calls.refusals import Kind, refused
from lftj.engine.machine_code.compiled_ahead import WARM, compile_named
from lftj.engine.versions.past import keep_of
from lftj.errors import DeclarationError, DurableError, MissingDependencyError, as_ours
from lftj.partition import executor as threads
from lftj.partition.java import JavaMissingError
from lftj.scantree.arena import WIDE
from lftj.storage.durable.folder_lock import LOG
from lftj.tuning import DEFAULT, Tuning
from lftj.tuning.tuning import is_amount

if TYPE_CHECKING:
    import pyspark.sql

    from lftj.distributed.backend import Parts
    from lftj.distributed.reader import PartsReader
    from lftj.partition.address import Address
    from lftj.partition.executor import Executor


_TRACE_BUDGET = 1 << 28


class ThreadExecutor(threads.ThreadExecutor):
    __doc__ = threads.ThreadExecutor.__doc__

    def __init__(
        self, threads: int | None = None, *, parts: int | None = None, patience: int = 1_000_000
    ) -> None:
        """Raises DeclarationError (E160) for numbers below 1."""
        with as_ours():
            super().__init__(threads, parts=parts, patience=patience)


@overload
def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    read_only: bool = False,
    copy: bool = False,
    move: bool = False,
    durability: str = "full",
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = _TRACE_BUDGET,
    executor: ThreadExecutor | None = None,
    tuning: Tuning = DEFAULT,
    keep: Literal["all"] | int | timedelta | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Workspace: ...
@overload
def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    executor: Executor,
    copy: bool = False,
    move: bool = False,
    storage_options: Mapping[str, str] | None = None,
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = _TRACE_BUDGET,
    tuning: Tuning = DEFAULT,
) -> Workspace: ...


@named_options
def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    read_only: bool = False,
    copy: bool = False,
    move: bool = False,
    durability: str = "full",
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = _TRACE_BUDGET,
    executor: Any = None,
    tuning: Tuning = DEFAULT,
    keep: Literal["all"] | int | timedelta | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Workspace:
    """A workspace: a new, empty one in memory, or with a `path` one that lasts.

    The workspace at `path`, a folder, is opened, or begun where nothing is; `create=False` refuses
    to begin one. One process writes to it, any number read along: `read_only=True`, then
    `ws.refresh()`. `copy=True` gives a workspace in memory with all that is there, with an executor
    of Spark one over parts; what is there may be over parts, too. `move=True` has what is at `path`
    go on there over parts, with an executor of that path, or in one process again; rows stay in
    their files.
    `durability="full"`: a commit is on disk when it returns; "normal" and "off" leave it to the
    system when, as SQLite does; all of them survive the end of the process. Raises DurableError
    (E350 to E357).

    `writer_timeout`: seconds that a transaction waits for one of another thread. `progress` is
    called with a line of text when evaluation takes up something new; without it notebooks show
    such lines, and `lftj.progress` logs them, where work takes seconds. `elastic`: how much of a
    view's last full evaluation (in kernel steps) an update may cost before it is given up for a
    full one. With 0 recursive views are evaluated anew at every change, with `math.inf` always
    updated; others take small updates in any case. `executor`: what evaluates large rules in parts,
    by default threads on all cores; ThreadExecutor(threads=1) does everything on one.
    `trace_budget`: bytes that sensitivity indices may take, all together; with 0 every change is
    looked up by delta queries. `tuning`: thresholds that choose between ways to get the same
    result, for experiments. `keep`: past versions for `ws.at` and `ws.history`, "all", so many of
    the last ones, or the versions of a `timedelta`; by default none in memory, where they would
    hold pages, and at a path what the log has anyway, since a checkpoint.

    With `executor=lftj.SparkExecutor(spark, partitions=…, path=…)` data lives with Spark's
    executors and below that path, and the workspace there is opened again or begun; it has the same
    calls, without the options of files: DistributedError (E400). There the parts share
    `trace_budget` equally, `progress` is called as jobs begin, and `elastic` is also the share of a
    stratum in supersteps that is taken away, and derived again, after a deletion.
    `connect(path, read_only=True)` reads along there, too, without Spark: a folder, or the address
    of an object store, for which `storage_options` are as for the executor.
    """
    _check(writer_timeout, progress, elastic, trace_budget, tuning)
    of_path = {
        "create": (create, True),
        "read_only": (read_only, False),
        "copy": (copy, False),
        "move": (move, False),
        "durability": (durability, "full"),
    }
    if getattr(executor, "distributed", False):
        # only those who want it pay for importing it
        from lftj.distributed.backend import Parts
        from lftj.distributed.parts.task import TRACE_BUDGET, Settings

        if move and (copy or path is None):
            raise refused("move", Kind.PARTS)
        source = None
        if (copy or move) and path is not None:
            source = _place_of(path, storage_options)
            of_path["move" if move else "copy"] = False, False
        else:
            _refuse(Kind.PARTS, path=(path, None), storage_options=(storage_options, None))
        _refuse(Kind.PARTS, keep=(keep, None), **of_path)
        share = (
            TRACE_BUDGET if trace_budget == _TRACE_BUDGET else trace_budget // executor.partitions
        )
        settings = Settings(tuple(tuning.others()), share)
        begin = partial(Parts, executor, writer_timeout, elastic, settings, progress)
        if move and source is not None:
            return _move_to(executor, source, begin)
        workspace = Workspace(begin())
        if source is not None:
            _copy_into(workspace, source)
        return workspace
    if executor is not None and not hasattr(executor, "workers"):
        hint = "lftj.ThreadExecutor(threads=2), or lftj.SparkExecutor(…)"
        raise DeclarationError(f"{executor!r} evaluates nothing", hint=hint)
    workers = executor or ThreadExecutor()
    place = None if path is None else _place_of(path, storage_options)
    if storage_options is not None and (place is None or isinstance(place, Path)):
        raise refused("storage_options", Kind.PATH, storage_options)
    if place is not None:
        if read_only and _are_parts(place):
            _refuse(Kind.PARTS, **{**of_path, "read_only": (False, False)}, keep=(keep, None))
            return Workspace(_reader(place, writer_timeout, progress, workers, tuning))
        if not (copy or isinstance(place, Path)):
            raise refused("writing to an address", Kind.PARTS, path)
        if move and (read_only or copy or not isinstance(place, Path)):
            raise refused("move and copy", Kind.PATH)
        if isinstance(place, Path) and not (read_only or copy):
            _moved_back(place, move=move)
    parts = copy and place is not None and _are_parts(place)
    engine = InProcess(
        writer_timeout,
        progress,
        elastic,
        trace_budget,
        workers,
        tuning,
        None if place is None or parts else WIDE,
        keep_of(keep, files=place is not None and not copy),
    )
    if place is None:
        _refuse(Kind.MEMORY, **of_path)
    elif parts or not isinstance(place, Path):
        return _copy_into(Workspace(engine), place)
    else:
        from lftj.engine.durable.opening import (
            open_path,  # SQLite is imported where there are files
        )

        open_path(
            engine, place, create=create, read_only=read_only, copy=copy, durability=durability
        )
    return Workspace(engine)


def _place_of(
    path: str | os.PathLike[str], storage_options: Mapping[str, str] | None
) -> Path | Address:
    """The folder or address that a path names. Raises DistributedError (E400) for an address of
    another kind.
    """
    if ":/" not in os.fspath(path):
        return Path(path)
    from lftj.partition.address import UnsupportedError, place_of  # paid by who names an address

    try:
        return place_of(path, storage_options)
    except UnsupportedError as reason:
        raise refused("address", Kind.PARTS, reason.problem) from None


def _are_parts(place: Path | Address) -> bool:
    """Test for an address, or a folder with the manifests of parts. Beside a log these are those of
    a move that was broken off.
    """
    return not isinstance(place, Path) or (not (place / LOG).exists() and _has_manifests(place))


def _has_manifests(place: Path) -> bool:
    """Test for a folder with manifests of parts."""
    return any(re.fullmatch(r"manifest-\d+", file.stem) for file in place.glob("manifest-*.json"))


def _moved_back(place: Path, *, move: bool) -> None:
    """Have a path be one of one process, where it is over parts and `move` says so, or where a move
    was broken off. Raises DurableError (E351) where there is nothing to move.
    """
    if move:
        _require_there(place)
    if _has_manifests(place) and (move or (place / LOG).exists()):
        from lftj.api.moving import go_on_in_one_process  # as above

        go_on_in_one_process(place)


def _require_there(place: Path) -> None:
    """Raise DurableError (E351) where there is nothing to move."""
    if not ((place / LOG).exists() or _has_manifests(place)):
        hint = "see that the path is right; leave out move=True to begin a workspace there"
        raise DurableError(f"there is no workspace at {place}", code="E351", hint=hint)


def _move_to(executor: Executor, place: Path | Address, begin: Callable[..., Parts]) -> Workspace:
    """The workspace at a place over parts there. Raises DistributedError (E400) where the executor
    has another path, DurableError (E351) where there is nothing to move.
    """
    if not isinstance(place, Path) or place.resolve() != Path(executor.path).resolve():
        raise refused("move", Kind.PARTS)
    _require_there(place)
    from lftj.api.moving import go_on_over_parts  # as above

    return go_on_over_parts(place, begin)


def _copy_into(workspace: Workspace, place: Path | Address) -> Workspace:
    """An empty workspace that begins with a copy; after an error it is closed."""
    from lftj.api.beginning import begin_with_copy  # as above

    try:
        begin_with_copy(workspace, place, parts=_are_parts(place))
    except BaseException:
        workspace.close()
        raise
    return workspace


def _reader(
    place: Path | Address,
    writer_timeout: float,
    progress: Callable[[str], None] | None,
    workers: threads.ThreadExecutor,
    tuning: Tuning,
) -> PartsReader:
    """A reader of parts. Raises as it does."""
    from lftj.distributed.reader import PartsReader  # as above
    from lftj.engine.live.engine import Engine

    return PartsReader(place, Engine(writer_timeout, progress, threads=workers, tuning=tuning))


def _refuse(kind: Kind, **options: tuple[object, object]) -> None:
    """Raise what the list says of an option that has another value than it has by default."""
    for option, (value, default) in options.items():
        if value != default:
            raise refused(option, kind, value)


def _check(
    writer_timeout: object,
    progress: object,
    elastic: object,
    trace_budget: object,
    tuning: object,
) -> None:
    """Raise DeclarationError (E160) for options of another kind."""
    if isinstance(trace_budget, bool) or not isinstance(trace_budget, int) or trace_budget < 0:
        raise DeclarationError(
            f"trace_budget is a number of bytes, found {trace_budget!r}",
            hint="1 << 28 allows 256 MiB, 0 no indices",
        )
    if not is_amount(writer_timeout):
        hint = "60.0 waits for a minute, math.inf for as long as it takes"
        raise DeclarationError(
            f"writer_timeout is a number of seconds of at least 0, found {writer_timeout!r}",
            hint=hint,
        )
    if not is_amount(elastic):
        raise DeclarationError(
            f"elastic is a fraction of at least 0, found {elastic!r}",
            hint="0.2 allows a fifth of a full evaluation",
        )
    if progress is not None and not callable(progress):
        raise DeclarationError(
            f"progress cannot be called: {progress!r}",
            hint="pass a function of a line of text, such as print",
        )
    if not isinstance(tuning, Tuning):
        raise DeclarationError(
            f"tuning is a Tuning, found {tuning!r}", hint="lftj.Tuning(sampled_rows=4096)"
        )
    if tuning.without:
        from lftj.views.switchable import check_without

        check_without(tuning)


def local_spark(
    threads: int = 2, *, memory: str = "1g", failures: int = 4, **settings: str
) -> pyspark.sql.SparkSession:
    """A Spark session on `threads` cores of this machine, or the one that runs already. Takes some
    seconds, and once for a machine a minute, in which kernels are compiled.

    `memory` is that of the Java process, which holds little: parts are in Python workers.
    `failures`: how often a task may fail before its commit does. `settings`: others of Spark's, `_`
    for `.`. Needs pyspark 4, MissingDependencyError (E250) without; Java is found by
    `lftj.partition.java`, or it is E251.
    """
    with as_ours():
        from lftj.partition.spark import local_session  # pyspark is imported by those who want it
    from lftj.distributed.work.warm import warm  # and so is what workers load

    try:
        session = local_session(
            threads, memory=memory, failures=failures, preload=[warm], **settings
        )
    except JavaMissingError as reason:
        raise MissingDependencyError(str(reason), code="E251") from reason
    compile_named(WARM)
    return session
