"""Spark on this machine, ready for parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.distributed.work.warm import warm
from lftj.errors import MissingDependencyError, as_ours
from partition.java import JavaMissingError

if TYPE_CHECKING:
    import pyspark.sql


def local_spark(
    threads: int = 2, *, memory: str = "1g", failures: int = 4, **settings: str
) -> pyspark.sql.SparkSession:
    """A Spark session on `threads` cores of this machine, or the one that runs already. Takes some
    seconds.

    `memory` is that of the Java process, which holds little: parts are in Python workers.
    `failures`: how often a task may fail before its commit does. `settings`: others of Spark's, `_`
    for `.`. Needs pyspark 4, MissingDependencyError (E250) without; Java is found by
    `partition.java`, or it is E251.
    """
    with as_ours():
        from partition.spark import local_session  # pyspark is imported by those who want it
    try:
        return local_session(threads, memory=memory, failures=failures, preload=[warm], **settings)
    except JavaMissingError as reason:
        raise MissingDependencyError(str(reason), code="E251") from reason
