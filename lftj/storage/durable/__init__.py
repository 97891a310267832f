# SPDX-License-Identifier: Apache-2.0
"""Stored workspaces: the log of commits, and pages, strings and checksums on disk, for workspaces
of one process and for parts on Spark.
"""

from __future__ import annotations

from lftj.scantree.segment_homes import owner_of
from lftj.storage.durable.appended_files import (
    appended_sizes,
    read_stretch,
    require_own_homes,
    size_of,
    take_head,
    write_stretch,
)
from lftj.storage.durable.folder_lock import LOCK, LOG, ProcessLock
from lftj.storage.durable.row_files import (
    LEFT,
    PAGES,
    ROWS,
    all_rows,
    batch_sum,
    change_in_order,
    left_pages,
    open_batches,
    read_rows,
)
from lftj.storage.durable.sealed import sealed, unsealed
from lftj.storage.durable.signed_rows import coded_rows, signed_table
from lftj.storage.durable.stored_format import stored_format
from lftj.storage.durable.stored_pages import (
    NOT_TO_BE_HAD,
    StoredPages,
    regrown,
    segment_data,
    segment_of,
)
from lftj.storage.durable.stored_strings import Chain, StoredStrings, chain_of
from lftj.storage.durable.stored_trees import (
    OpenedTrees,
    StoredTrees,
    TreeData,
    relation_data,
    relation_of,
)
from lftj.storage.durable.strings_file import files_of

__all__ = [
    "LEFT",
    "LOCK",
    "LOG",
    "NOT_TO_BE_HAD",
    "PAGES",
    "ROWS",
    "Chain",
    "OpenedTrees",
    "ProcessLock",
    "StoredPages",
    "StoredStrings",
    "StoredTrees",
    "TreeData",
    "all_rows",
    "appended_sizes",
    "batch_sum",
    "chain_of",
    "change_in_order",
    "coded_rows",
    "files_of",
    "left_pages",
    "open_batches",
    "owner_of",
    "read_rows",
    "read_stretch",
    "regrown",
    "relation_data",
    "relation_of",
    "require_own_homes",
    "sealed",
    "segment_data",
    "segment_of",
    "signed_table",
    "size_of",
    "stored_format",
    "take_head",
    "unsealed",
    "write_stretch",
]
