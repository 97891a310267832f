# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays from elsewhere, looked through before anyone goes by what they say of themselves.

Arrow reads what a file or another library says of an array without asking whether it can be: an
offset or an index that leads out of a buffer is an access to memory that is not the array's. Here
it is an error. Whether strings are Unicode is not asked: the dictionary does that, of new strings.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

_BYTES = {
    pa.string().id: pa.binary(),
    pa.large_string().id: pa.large_binary(),
    pa.string_view().id: pa.binary_view(),
    pa.date64().id: pa.int64(),
}
"""Types whose full validation looks at values too, and the types of their bytes alone."""


def require_valid(column: pa.Array | pa.ChunkedArray) -> None:
    """Raise ArrowException for an array whose buffers are too short, or whose offsets, indices or
    number of NULLs cannot be. O(1) for numbers, O(bits / 64) with NULLs; 0.5 ns a string.
    """
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else (column,):
        _require(chunk)


def _require(array: Any) -> None:
    array.validate()  # sizes of buffers, before anything reads them
    kind = array.type
    if kind.id in _BYTES:
        array = array.view(_BYTES[kind.id])
    elif pa.types.is_decimal(kind):
        array = array.view(pa.binary(kind.byte_width))
    elif pa.types.is_dictionary(kind):
        _require(array.indices)
        _require(array.dictionary)
        nothing = pa.nulls(len(array.dictionary))
        array = pa.DictionaryArray.from_arrays(array.indices, nothing, safe=False)
    array.validate(full=True)
