# SPDX-License-Identifier: Apache-2.0
"""The table of pointers that machine code in a library gets from the process that loads it: objects
of Python's, two functions of NumPy's, and a way to raise errors.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

TABLE = (
    "None", "True", "False", "numpy.True_", "numpy.False_", "float", "numpy.ndarray", "copy",
    "raise", "PyArray_New", "PyArray_SetBaseObject",
)  # fmt: skip
"""Names of the pointers, in their order in machine code."""

_NUMPY_FUNCTIONS = {"PyArray_New": 93, "PyArray_SetBaseObject": 282}  # places in NumPy's interface


def pointers() -> dict[str, int]:
    """The pointers by their names."""
    import numpy as np
    from numpy._core import multiarray

    interface: Any = multiarray
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = read(interface._ARRAY_API, None)
    found = {
        name: ctypes.c_void_p.from_address(functions + 8 * place).value or 0
        for name, place in _NUMPY_FUNCTIONS.items()
    }
    objects = {
        "None": None, "True": True, "False": False, "numpy.True_": np.True_, "float": float,
        "numpy.False_": np.False_, "numpy.ndarray": np.ndarray, "copy": np.array,
        "raise": _raise_described,
    }  # fmt: skip
    return found | {name: id(each) for name, each in objects.items()}


def _raise_described(description: bytes) -> None:
    """Raise the error that a kernel describes. Numba describes it by a pickle, of which the name of
    the class and the message are read, and nothing is run.
    """
    texts = [
        description[found.end() : found.end() + description[found.end() - 1]].decode()
        for found in re.finditer(rb"\x8c.", description, re.DOTALL)
    ]
    classes = {each.__name__: each for each in (MemoryError, ValueError, IndexError)}
    named = [text for text in texts if text in classes]
    raise classes[named[0] if named else "ValueError"](texts[-1] if texts else "")
