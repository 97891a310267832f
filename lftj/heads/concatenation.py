# SPDX-License-Identifier: Apache-2.0
"""`concat(text, separator, key…)`: the texts of a group joined in ascending order of their keys,
then of the texts themselves.

*State kept:* the ordered rows (group, key…, text, separator) with their support counts, in a scan
tree. *INSERT* and *ERASE* of an assignment change one support count, and a text is repeated as
often as its count says; the group's result is the scan of its range in key order. String order is
by code point, so the result does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lftj.heads.concatenation_kernels import measure_joined, write_joined
from lftj.heads.values import by_value
from lftj.scantree.rows import sort_order
from lftj.types import Type
from lftj.types.dictionary import Dictionary


def order_in_groups(
    columns: Sequence[np.ndarray], types: Sequence[Type], starts: np.ndarray, dictionary: Dictionary
) -> np.ndarray:
    """The positions of rows in ascending order of their values inside each run of rows; runs stay
    where they are.
    """
    rows = len(columns[0]) if columns else 0
    run = np.zeros(rows, dtype=np.int64)
    run[starts[1:]] = 1
    keys = [
        by_value(column, type, dictionary)[0] for column, type in zip(columns, types, strict=True)
    ]
    return sort_order([np.cumsum(run), *keys])


def grouped_concatenations(
    args: Sequence[np.ndarray],
    types: Sequence[Type],
    counts: np.ndarray,
    starts: np.ndarray,
    dictionary: Dictionary,
) -> np.ndarray:
    """The string code of each run's concatenation. `args` are the texts, the separators (may be
    missing: none) and the keys.

    The separator before a text is the one of its own row. O(n log n) and the length of the results.
    """
    text, *rest = args
    by = [*rest[1:], text, *rest[:1]]
    by_types = [*types[2:], types[0], *types[1:2]]
    order = order_in_groups(by, by_types, starts, dictionary)
    offsets, data = dictionary.flat()
    given = (
        text.take(order),
        rest[0].take(order) if rest else np.empty(0, np.int64),
        counts.take(order),
        np.ascontiguousarray(starts),
    )
    ends = np.zeros(len(starts) + 1, np.int64)
    if not measure_joined(offsets, *given, ends):
        raise MemoryError("texts of more bytes than there is memory for")
    results = np.empty(int(ends[-1]), np.uint8)
    write_joined(offsets, data, *given, results)
    return dictionary.encode(
        pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(ends), pa.py_buffer(results))
    )


def joined(texts: list[str], separators: list[str]) -> str:
    """Texts, some, with its own separator before each but the first."""
    if len(set(separators)) == 1:
        return separators[0].join(texts)
    return texts[0] + "".join(
        separator + text for separator, text in zip(separators[1:], texts[1:], strict=True)
    )
