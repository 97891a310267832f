# SPDX-License-Identifier: Apache-2.0
"""Arrow's arrays, made of values that Python or NumPy has, and back.

PyArrow imports pandas for its first `pa.array`, `pa.scalar` or `to_numpy`, wherever it is
installed: a second of start-up for programs that never see a frame. So numbers and strings pass by
their buffers here, and pandas comes with those who ask for a frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import ValueTypeError
from lftj.scantree.process.interrupts import interrupts_wait

_DTYPES = {pa.from_numpy_dtype(dtype).id: dtype for dtype in map(np.dtype, "?bhilBHILefd")}
_STRINGS = {pa.string(): np.int32, pa.large_string(): np.int64}


def arrow_array(
    values: Any, type: pa.DataType | None = None, *, from_pandas: bool | None = None
) -> Any:
    """As `pa.array`, which says more. Numbers of a NumPy array are not copied. O(n); strings about
    50 ns each.
    """
    if isinstance(values, np.ndarray):
        made = _of_numbers(values, type)
    else:
        values = (
            values if isinstance(values, list) else list(values) if type in _STRINGS else values
        )
        made = _of_strings(values, type) if type in _STRINGS else None
    if made is not None:
        return made
    acquaint_with_pandas()
    return pa.array(values, type=type, from_pandas=from_pandas)


def arrow_scalar(value: str | bool) -> Any:
    """As `pa.scalar`; a string is a `large_string`."""
    return (
        arrow_array([value], pa.large_string())[0]
        if isinstance(value, str)
        else arrow_array(np.array([value]))[0]
    )


def numpy_array(array: Any) -> np.ndarray:
    """The values of an Arrow column of numbers or truth values without NULL, not copied where that
    can be. O(chunks).
    """
    if isinstance(array, pa.ChunkedArray):
        parts = [numpy_array(chunk) for chunk in array.chunks]
        return (
            parts[0]
            if len(parts) == 1
            else np.concatenate([np.empty(0, _dtype(array.type)), *parts])
        )
    data, first, last = array.buffers()[1], array.offset, array.offset + len(array)
    if not len(array):
        return np.empty(0, _dtype(array.type))
    if pa.types.is_boolean(array.type):
        return np.unpackbits(np.frombuffer(data, np.uint8), count=last, bitorder="little")[
            first:
        ].view(np.bool_)
    return np.frombuffer(data, _dtype(array.type), last)[first:]


def writable_view(values: np.ndarray) -> np.ndarray:
    """The same memory for kernels, which take no arrays that are closed to writing; nobody may
    write to it.
    """
    return np.asarray(_Opened(values))


class _Opened:
    """An object whose array interface makes an array of another's memory, which it keeps."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values
        data = (values.ctypes.data, False)
        self.__array_interface__ = dict(values.__array_interface__, data=data)


def rows_of_nothing(rows: int) -> Any:
    """Make so many rows without columns, as structs."""
    return pa.Array.from_buffers(pa.struct([]), rows, [None])


def _dtype(type: pa.DataType) -> np.dtype[Any]:
    return _DTYPES[type.id]


def _of_numbers(values: np.ndarray, type: pa.DataType | None) -> Any:
    """The array of plain numbers or truth values; None for what else NumPy has."""
    dtype = values.dtype
    plain = (
        values.__class__ is np.ndarray
        and values.ndim == 1
        and dtype.kind in "iufb"
        and dtype.isnative
        and dtype.itemsize <= 8
    )
    if not plain or (type is not None and type != pa.from_numpy_dtype(dtype)):
        return None
    data = (
        np.packbits(values, bitorder="little")
        if dtype.kind == "b"
        else np.ascontiguousarray(values)
    )
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(dtype), len(values), [None, pa.py_buffer(data)]
    )


def _of_strings(values: Iterable[Any], type: pa.DataType) -> Any:
    """The array of strings; None where others are among them, or too many for the type. Raises
    UnicodeEncodeError for lone surrogates.
    """
    texts: Any = values
    try:
        whole = "".join(texts)
    except TypeError:
        return None
    data = whole.encode()
    if len(data) > np.iinfo(_STRINGS[type]).max:
        return None
    sizes = map(len, texts) if len(data) == len(whole) else (len(text.encode()) for text in texts)
    offsets = np.zeros(len(texts) + 1, _STRINGS[type])
    np.cumsum(np.fromiter(sizes, np.int64, len(texts)), out=offsets[1:])
    return pa.Array.from_buffers(
        type, len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


@cache
def acquaint_with_pandas() -> None:
    """Have PyArrow look for pandas, which it imports where it can, while an interrupt waits.

    PyArrow loses sight of one that comes meanwhile, and half a pandas is left, on which what is
    made of NumPy's arrays later fails.
    """
    with interrupts_wait():
        pa.array([])


# Strings in Arrow's arrays, of which there are many kinds: to one kind, to `str` objects, and to
# their bytes.


def one_piece(strings: Any) -> Any:
    """The strings as an Arrow array with one buffer of text. Raises ValueTypeError for what are no
    strings of Unicode characters.
    """
    if isinstance(strings, pa.ChunkedArray) and strings.num_chunks == 1:
        strings = strings.chunk(0)
    if isinstance(strings, (pa.StringArray, pa.LargeStringArray)):
        return strings
    if isinstance(strings, (pa.Array, pa.ChunkedArray)):
        return as_large_strings(strings)
    try:
        return arrow_array(strings, type=pa.large_string())
    except (UnicodeEncodeError, pa.ArrowTypeError, pa.ArrowInvalid) as reason:
        raise ValueTypeError(
            f"not a string of Unicode characters: {reason}", hint="remove lone surrogates"
        ) from None


def to_str(strings: Any) -> list[str]:
    """The strings of an Arrow array, whose bytes nobody has looked at yet. Raises ValueTypeError
    for bytes that are not UTF-8.
    """
    try:
        texts: list[str] = strings.to_pylist()
    except UnicodeDecodeError as reason:
        raise ValueTypeError(
            f"not a string of Unicode characters: {reason}", hint="write the text anew in UTF-8"
        ) from None
    return texts


def as_large_strings(strings: Any) -> pa.LargeStringArray:
    """An Arrow column of any string type, dictionary-encoded or chunked, in the one layout that all
    of Arrow's functions know.
    """
    if isinstance(strings, pa.ChunkedArray):
        chunks = [as_large_strings(chunk) for chunk in strings.chunks]
        return pa.chunked_array(chunks, type=pa.large_string()).combine_chunks()
    if isinstance(strings, pa.DictionaryArray):
        strings = pa.DictionaryArray.from_arrays(
            strings.indices, strings.dictionary.cast(pa.large_string())
        )
    return strings.cast(pa.large_string())


def bytes_of(strings: pa.LargeStringArray) -> np.ndarray:
    """The UTF-8 bytes of an array without NULL, end to end (uint8)."""
    _, offsets, data = strings.buffers()
    if data is None:
        return np.empty(0, dtype=np.uint8)
    last = strings.offset + len(strings)
    bounds = np.frombuffer(offsets, np.int64, last + 1)[strings.offset :]
    return np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]
