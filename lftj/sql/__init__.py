# SPDX-License-Identifier: Apache-2.0
"""Rules as SQL: each rule a query over tables of the declared columns, for DuckDB and for Spark.

`to_sql` writes a program as views in the order of their strata; `run` evaluates it on a connection,
with loops over delta tables where no one query says what a recursive stratum holds.
"""

from __future__ import annotations

from lftj.sql.program import SqlProgram, to_sql
from lftj.sql.run import run

__all__ = ["SqlProgram", "run", "to_sql"]
