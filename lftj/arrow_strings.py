"""Strings in Arrow's arrays, of which there are many kinds: to one kind, to `str` objects, and to their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lftj.arrow_arrays import arrow_array
from lftj.errors import ValueTypeError


def one_piece(strings: Any) -> Any:
    """The strings as an Arrow array with one buffer of text. Raises ValueTypeError for what are no strings of Unicode characters."""
    if isinstance(strings, pa.ChunkedArray) and strings.num_chunks == 1:
        strings = strings.chunk(0)
    if isinstance(strings, (pa.StringArray, pa.LargeStringArray)):
        return strings
    if isinstance(strings, (pa.Array, pa.ChunkedArray)):
        return as_large_strings(strings)
    try:
        return arrow_array(strings, type=pa.large_string())
    except (UnicodeEncodeError, pa.ArrowTypeError, pa.ArrowInvalid) as reason:
        raise ValueTypeError(f"not a string of Unicode characters: {reason}", hint="remove lone surrogates") from None


def to_str(strings: Any) -> list[str]:
    """The strings of an Arrow array, whose bytes nobody has looked at yet. Raises ValueTypeError for bytes that are not UTF-8."""
    try:
        texts: list[str] = strings.to_pylist()
    except UnicodeDecodeError as reason:
        raise ValueTypeError(f"not a string of Unicode characters: {reason}", hint="write the text anew in UTF-8") from None
    return texts


def as_large_strings(strings: Any) -> pa.LargeStringArray:
    """An Arrow column of any string type, dictionary-encoded or chunked, in the one layout that all of Arrow's functions know."""
    if isinstance(strings, pa.ChunkedArray):
        chunks = [as_large_strings(chunk) for chunk in strings.chunks]
        return pa.chunked_array(chunks, type=pa.large_string()).combine_chunks()
    if isinstance(strings, pa.DictionaryArray):
        strings = pa.DictionaryArray.from_arrays(strings.indices, strings.dictionary.cast(pa.large_string()))
    return strings.cast(pa.large_string())


def bytes_of(strings: pa.LargeStringArray) -> np.ndarray:
    """The UTF-8 bytes of an array without NULL, end to end (uint8)."""
    _, offsets, data = strings.buffers()
    if data is None:
        return np.empty(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]
