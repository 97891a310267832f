# SPDX-License-Identifier: Apache-2.0
"""Ordered data: persistent, paged, scan-augmented trees in one reserved range of memory."""

from lftj.scantree.arena import WIDE, Arena
from lftj.scantree.bounds import after_prefix
from lftj.scantree.complement import complement
from lftj.scantree.frozen import frozen, record
from lftj.scantree.interval import IntervalTree
from lftj.scantree.layout import PAGE_COLUMNS
from lftj.scantree.monoid import COUNT, Aggregate, Monoid, max_of, min_of, sum_of
from lftj.scantree.process.file_locks import lock_file
from lftj.scantree.process.garbage import collector_paused
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.scantree.rows import (
    contains,
    difference,
    differences,
    distinct_values,
    equal_runs,
    sort_rows,
)
from lftj.scantree.tree import Tree
from lftj.scantree.watched_files import SUMS, FileDamagedError

__all__ = [
    "COUNT",
    "PAGE_COLUMNS",
    "SUMS",
    "WIDE",
    "Aggregate",
    "Arena",
    "FileDamagedError",
    "IntervalTree",
    "Monoid",
    "Tree",
    "after_prefix",
    "collector_paused",
    "complement",
    "contains",
    "difference",
    "differences",
    "distinct_values",
    "equal_runs",
    "frozen",
    "interrupts_as_such",
    "lock_file",
    "max_of",
    "min_of",
    "record",
    "sort_rows",
    "sum_of",
]
