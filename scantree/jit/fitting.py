# SPDX-License-Identifier: Apache-2.0
"""Arguments of kernels made to fit: machine code takes arrays of one layout, and what else a caller
has is copied to that layout, and back where the kernel may have written.

So no layout of an array needs Numba. Callers have the right layouts where that matters: a copy is
noted in the log, at level DEBUG.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

ARRAYS: dict[str, tuple[str, int]] = {
    "W": ("int64", 1), "R": ("int64", 2), "A": ("int64", 2), "V": ("int64", 1), "B": ("bool", 1),
    "U8": ("uint8", 1), "U32": ("uint32", 1), "I8": ("int8", 1), "I32": ("int32", 1),
}  # fmt: skip
"""Elements and dimensions of arrays by the words of a signature (`lftj.scantree.jit.kinds`)."""


class _UnfitError(Exception):
    """No copy of an argument fits."""


class _Copied(NamedTuple):
    """An array that was copied: the copy that the kernel gets, and as it was before."""

    original: np.ndarray
    given: np.ndarray
    before: np.ndarray


def call_fitted(
    function: Callable[..., Any], arguments: Sequence[Any], signatures: Sequence[Sequence[str]]
) -> tuple[Any, int] | None:
    """Call a function of machine code with copies of arguments that fit one of its signatures.
    Returns its result and the number of arrays copied; None where no copies fit.

    What the function writes into a copy is written back. Of several signatures the one that needs
    the fewest copies is taken.
    """
    tried = [made for each in signatures if (made := _fitted(arguments, each)) is not None]
    if not tried:
        return None
    fitted, copies = min(tried, key=lambda made: len(made[1]))
    result = function(*fitted)
    for each in copies:
        if each.original.flags.writeable:
            _write_back(each)
    return result, len(copies)


def _fitted(
    arguments: Sequence[Any], kinds: Sequence[str]
) -> tuple[list[Any], list[_Copied]] | None:
    copies: list[_Copied] = []
    if len(arguments) != len(kinds):
        return None
    try:
        pairs = zip(arguments, kinds, strict=True)
        return [_fit(argument, kind, copies) for argument, kind in pairs], copies
    except _UnfitError:
        return None


def _fit(argument: Any, kind: str, copies: list[_Copied]) -> Any:
    """An argument, or a copy that fits. Raises _UnfitError."""
    name, _, fields = kind.partition(":")
    if fields:
        return _fit_tuple(argument, name.rpartition(".")[2], fields.split(","), copies)
    if kind in ARRAYS:
        return _fit_array(argument, kind, copies)
    if isinstance(argument, (bool, np.bool_, int, np.integer)):
        return {"i": int, "b": bool, "f": float}[kind](argument)
    if kind == "f" and isinstance(argument, (float, np.floating)):
        return float(argument)
    raise _UnfitError


def _fit_tuple(argument: Any, name: str, kinds: list[str], copies: list[_Copied]) -> Any:
    if not isinstance(argument, tuple) or len(argument) != len(kinds):
        raise _UnfitError
    made = type(argument)
    if made.__name__ != name:
        raise _UnfitError
    fields = [_fit(each, kind, copies) for each, kind in zip(argument, kinds, strict=True)]
    return tuple(fields) if made is tuple else made(*fields)


def _fit_array(argument: Any, kind: str, copies: list[_Copied]) -> np.ndarray:
    element, dimensions = ARRAYS[kind]
    if not isinstance(argument, np.ndarray) or argument.ndim != dimensions:
        raise _UnfitError
    wanted, flags = np.dtype(element), argument.flags
    if not np.can_cast(argument.dtype, wanted, "safe"):
        raise _UnfitError
    native = argument.dtype == wanted and flags.aligned and flags.writeable
    if native and (flags.c_contiguous or kind in "AV"):
        return argument
    given = np.array(argument, wanted, order="C", copy=True)
    copies.append(_Copied(argument, given, given.copy()))
    return given


def _write_back(copied: _Copied) -> None:
    """Write what a kernel changed. Raises OverflowError where that has no room in the original."""
    original, given, before = copied
    changed = given != before
    if not changed.any():
        return
    if not np.array_equal(given, given.astype(original.dtype)):
        raise OverflowError(f"a kernel wrote numbers that {original.dtype} has no room for")
    np.copyto(original, given, casting="unsafe", where=changed)
