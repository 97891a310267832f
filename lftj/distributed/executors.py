"""Executors as users make them: what `partition` refuses, and what is not installed, are errors of
this library.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lftj.errors import as_ours

with as_ours():
    from partition.spark import SparkExecutor as _SparkExecutor

if TYPE_CHECKING:
    import pyspark.sql


class SparkExecutor(_SparkExecutor):
    """Runs tasks on the executors of a Spark session.

    `partitions`: into how many parts data is split, best 2 to 4 times the cores. `path`: a folder
    that driver and executors see under this name, where parts keep their state. Raises
    DeclarationError (E160) and OptionError (E171) for what is neither.
    """

    def __init__(
        self, spark: pyspark.sql.SparkSession, partitions: int = 8, *, path: str | os.PathLike[str]
    ):
        with as_ours():
            super().__init__(spark, partitions, path=path)
