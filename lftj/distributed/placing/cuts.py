"""How the rows of a relation lie over the parts.

A cut is a column, by whose value each row belongs to one part; or ALL, every part has all rows; or ONE, the first part has all rows. The
part of a value depends on the value alone, not on codes, so that parts, each with a dictionary of its own, and runs agree.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np

from lftj.dictionary import Dictionary
from lftj.types import Type, encode_scalar

ALL = -1
ONE = -2
HERE = -3
"""Answers of a question lie where they were found, which no other part asks for."""

_WORDS = {ALL: "all", ONE: "one", HERE: "here"}
_MIX = tuple(np.uint64(number) for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(number) for number in (30, 27, 31))


def local_name(relation: str, cut: int) -> str:
    """What a part calls its share of a relation: `edge@0`, `edge@all`, `edge@one`."""
    return f"{relation}@{_WORDS.get(cut, cut)}"


def slots(codes: np.ndarray, type: Type, dictionary: Dictionary, parts: int) -> np.ndarray:
    """The part (int64) of each value of a column of codes. O(n); strings are hashed once each."""
    if type.name != "str":
        return _mixed(codes) % parts
    distinct, places = np.unique(codes, return_inverse=True)
    hashes = np.array([zlib.crc32(text.encode()) for text in dictionary.decode(distinct).to_pylist()], dtype=np.int64)
    return (_mixed(hashes) % parts)[places] if len(distinct) else np.empty(0, np.int64)


def part_of(value: object, type: Type, parts: int) -> int:
    """The part of one value."""
    dictionary = Dictionary()
    code = encode_scalar(type, value, dictionary)
    return int(slots(np.array([code], np.int64), type, dictionary, parts)[0])


def parts_of(columns: list[np.ndarray], types: list[Type], cut: int, dictionary: Dictionary, parts: int) -> np.ndarray:
    """The part of each row under a cut by a column, or under ONE; ALL is kept like ONE, since everybody reads all of it."""
    if cut < 0:
        return np.zeros(len(columns[0]), np.int64)
    return slots(columns[cut], types[cut], dictionary, parts)


def readers(cut: int, holding: Iterable[int] | None, parts: int) -> set[int]:
    """The parts that have to read a batch of rows to keep their share up to date; `holding`: those with rows, None when not known."""
    if cut == ONE:
        return {0}
    return set(range(parts)) if cut == ALL or holding is None else set(holding)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Well mixed nonnegative numbers, so that neighbours and multiples come apart (the finalizer of SplitMix64)."""
    mixed = numbers.astype(np.int64).view(np.uint64)
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _MIX[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _MIX[1]
    return ((mixed ^ (mixed >> _SHIFTS[2])) >> np.uint64(1)).astype(np.int64)
