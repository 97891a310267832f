# SPDX-License-Identifier: Apache-2.0
"""Types of Numba's by the words of a signature, and what a line of kernels names. Imports Numba."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from numba import types

_array: Any = types.Array
_tuple_of: Any = types.BaseTuple.from_types
_KINDS: Mapping[str, Any] = {
    "i": types.int64, "b": types.boolean,
    "W": _array(types.int64, 1, "C"), "R": _array(types.int64, 2, "C"),
    "A": _array(types.int64, 2, "A"), "V": _array(types.int64, 1, "A"), "f": types.float64,
    "B": _array(types.boolean, 1, "C"), "U8": _array(types.uint8, 1, "C"),
    "U32": _array(types.uint32, 1, "C"),
    "I8": _array(types.int8, 1, "C"), "I32": _array(types.int32, 1, "C"),
}  # fmt: skip
"""Types by the letters of a signature: numbers, words, rows, either with strides, and arrays of
other words.
"""


def kind(text: str) -> Any:
    """The type that a word of a line stands for: one of `_KINDS`, `tuple:kind,kind`, or
    `module.Class:kind,kind` for a named tuple.
    """
    name, _, fields = text.partition(":")
    if not fields:
        return _KINDS[name]
    module_name, _, class_name = name.rpartition(".")
    of_class = (named(module_name, class_name),) if module_name else ()
    return _tuple_of(tuple(_KINDS[field] for field in fields.split(",")), *of_class)


def named(module: str, name: str) -> Any:
    """The function or class of this name in a module."""
    return getattr(importlib.import_module(module), name)
