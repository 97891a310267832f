# SPDX-License-Identifier: Apache-2.0
"""Stored workspaces: the log of commits, and pages, strings and checksums on disk, for workspaces
of one process and for parts on Spark.
"""

from __future__ import annotations

from lftj.storage.durable.folder_lock import LOCK, ProcessLock
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
from lftj.storage.durable.stored_strings import StoredStrings
from lftj.storage.durable.stored_trees import OpenedTrees, StoredTrees, relation_data, relation_of
from lftj.storage.durable.strings_file import files_of

__all__ = [
    "LOCK",
    "NOT_TO_BE_HAD",
    "OpenedTrees",
    "ProcessLock",
    "StoredPages",
    "StoredStrings",
    "StoredTrees",
    "coded_rows",
    "files_of",
    "regrown",
    "relation_data",
    "relation_of",
    "sealed",
    "segment_data",
    "segment_of",
    "signed_table",
    "stored_format",
    "unsealed",
]
