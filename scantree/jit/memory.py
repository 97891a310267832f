# SPDX-License-Identifier: Apache-2.0
"""Loads and stores that skip Python's negative-index handling, by array or by address, and the bits
of floats.

Here they are functions of Python; `lftj.scantree.jit.lowerings` tells Numba what they are to it.
"""

from __future__ import annotations

import struct
from threading import Lock
from typing import Any

import numpy as np

from lftj.scantree.jit.directory import ADDRESSES


def address(array: np.ndarray) -> Any:
    """Give a kernel the address of `array` (one-dimensional, contiguous), or the array itself where
    accesses are checked or interpreted.

    The caller keeps the array alive while the kernel runs.
    """
    if not ADDRESSES:
        return array
    return array.__array_interface__["data"][0]


def load(memory: Any, index: Any) -> Any:
    """`memory[index]` for index ≥ 0, without the wrap-around test; `memory` is an array of integers
    or the address of an int64 array.
    """
    return np.int64(memory[_inside(index)])


def load_byte(memory: Any, index: Any) -> Any:
    """As `load`, of a uint8 array."""
    return int(memory[_inside(index)])


def store(memory: Any, index: Any, value: Any) -> None:
    """`memory[index] = value` for index ≥ 0, without the wrap-around test; `memory` is as for
    `load`.
    """
    memory[_inside(index)] = value


def _inside(index: Any) -> Any:
    """The index. Raises IndexError below zero, where machine code would go outside the array."""
    if index < 0:
        raise IndexError(f"index {index} is below zero")
    return index


_claiming = Lock()


def claim(memory: Any, index: Any, expected: Any, value: Any) -> Any:
    """Compare and swap: read `memory[index]` and, where that is `expected`, set it to `value`, in
    one step. Of several threads one succeeds.

    The words are whatever other threads have written there by then, in no order that they can rely
    on for other words.
    """
    with _claiming:
        found = int(memory[_inside(index)])
        if found == expected:
            memory[index] = value
        return found


def fetch(memory: Any, index: Any) -> None:
    """Have `memory[index]`, and what lies around it, brought near: it will be read soon. Nothing
    waits for it.
    """


# ── floats and their bits ─────────────────────────────────────────────────────────────────────────
def bits_to_float(bits: int) -> float:
    """The double whose IEEE 754 bits are `bits`."""
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def float_to_bits(value: float) -> int:
    """The IEEE 754 bits of `value` as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]
