# SPDX-License-Identifier: Apache-2.0
"""Executors as users make them. Refusals of `partition`, and packages that are not installed,
become errors of this library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lftj.engine.calls import Kind, refused
from lftj.errors import as_ours

with as_ours():
    from lftj.partition import SparkExecutor as _SparkExecutor
    from lftj.partition import UnsupportedError

if TYPE_CHECKING:
    import pyspark.sql


class SparkExecutor(_SparkExecutor):
    """Runs tasks on the executors of a Spark session.

    `partitions`: into how many parts data is split, best 2 to 4 times the cores. `path`: a folder
    that driver and executors see under this name, where parts keep their state; or the address of
    an object store, such as `s3://bucket/flights`, with `storage_options` as obstore takes them
    (else from the environment). `keep_alive`:
    seconds after the last commit or question for which Spark's Python workers are kept, by a small
    job now and then; 0: Spark ends them after a minute, as it does all. Raises
    DeclarationError (E160) and OptionError (E171) for wrong arguments, DistributedError (E400) for
    an address of another kind and for a session of Spark Connect.
    """

    def __init__(
        self,
        spark: pyspark.sql.SparkSession,
        partitions: int = 8,
        *,
        path: str | os.PathLike[str],
        keep_alive: float = 3600.0,
        storage_options: Mapping[str, str] | None = None,
    ):
        with as_ours():
            try:
                super().__init__(
                    spark,
                    partitions,
                    path=path,
                    keep_alive=keep_alive,
                    storage_options=storage_options,
                )
            except UnsupportedError as reason:
                raise refused(reason.subject, Kind.PARTS, reason.problem) from None
