# SPDX-License-Identifier: Apache-2.0
"""Cuts: the ways in which the rows of a relation are divided among the parts.

A cut is a column, by whose value each row belongs to one part; or ALL, every part has all rows; or
ONE, the first part has all rows. A *hub* is a value with more rows than are good for one part:
under a `HubCut` its rows lie by a second column, or in every part. The part of a value depends on
the value alone, not on codes, so that parts, each with a dictionary of its own, and runs agree.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from lftj.scantree import distinct_values, frozen
from lftj.types import NULL_CODE, Dictionary, Role, Source, Type, encode_scalar, in_role

ALL = -1
ONE = -2
HERE = -3
"""Answers of a question lie where they were found, which no other part asks for."""

EVERYBODY = -1
"""Stands for every part in place of a part: all of them have these rows."""

Hub = int | str
"""A code, or a string itself."""

_WORDS = {ALL: "all", ONE: "one", HERE: "here"}
_MIX = tuple(np.uint64(number) for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(number) for number in (30, 27, 31))


@frozen(slots=True)
class HubCut:
    """Cut by a column; rows with one of the `hubs` there are cut by a second column instead, or, if
    that is None, lie in every part.
    """

    column: int
    second: int | None
    hubs: tuple[Hub, ...]

    @property
    def name(self) -> str:
        """Short; hubs are left out, of which a plan has the same everywhere."""
        return f"{self.column}+{_WORDS[ALL] if self.second is None else self.second}"

    def found(self, codes: np.ndarray, type: Type, dictionary: Dictionary) -> np.ndarray:
        """Mark the values of a column of codes that are hubs."""
        known = [dictionary.lookup(hub) if isinstance(hub, str) else hub for hub in self.hubs]
        return np.isin(codes, np.array([code for code in known if code is not None], np.int64))


Cut = int | HubCut


@lru_cache(maxsize=4096, typed=True)  # as `named_once`
def local_name(relation: str, cut: Cut) -> Source:
    """Name of a part's share of a relation: `edge@0`, `edge@all`, `edge@one`, `edge@0+1`,
    `edge@0+all`.
    """
    word = cut.name if isinstance(cut, HubCut) else _WORDS.get(cut, str(cut))
    return Source(relation, Role.CUT, word)


def is_local_to_one(name: str) -> bool:
    """True for the share of a relation all of whose rows are in the first part."""
    return in_role(name, Role.CUT) and name.column == _WORDS[ONE]


def label(cut: Cut) -> int | str:
    """Label of a cut in files, which outlive a plan: other hubs, another label."""
    if isinstance(cut, int):
        return cut
    return f"{cut.name}.{hashlib.sha256(repr(cut.hubs).encode()).hexdigest()[:16]}"


def slots(codes: np.ndarray, type: Type, dictionary: Dictionary, parts: int) -> np.ndarray:
    """The part (int64) of each value of a column of codes. O(n); strings are hashed once each."""
    if type.name != "str":
        return _mixed(codes) % parts
    distinct = distinct_values(codes)
    absent = int(bool(len(distinct)) and distinct[0] == NULL_CODE)
    texts = dictionary.decode(distinct[absent:]).to_pylist()
    hashes = np.array([0] * absent + [zlib.crc32(text.encode()) for text in texts], dtype=np.int64)
    if not len(distinct):
        return np.empty(0, np.int64)
    return (_mixed(hashes) % parts)[np.searchsorted(distinct, codes)]


def part_of(value: object, type: Type, parts: int) -> int:
    """The part of one value."""
    dictionary = Dictionary()
    code = encode_scalar(type, value, dictionary)
    return int(slots(np.array([code], np.int64), type, dictionary, parts)[0])


def parts_of(
    columns: list[np.ndarray], types: Sequence[Type], cut: Cut, dictionary: Dictionary, parts: int
) -> np.ndarray:
    """The part of each row, or EVERYBODY, under a cut by a column, or under ONE; ALL is kept like
    ONE, since everybody reads all of it.
    """
    if isinstance(cut, int):
        return (
            slots(columns[cut], types[cut], dictionary, parts)
            if cut >= 0
            else np.zeros(len(columns[0]), np.int64)
        )
    found = slots(columns[cut.column], types[cut.column], dictionary, parts)
    hubs = cut.found(columns[cut.column], types[cut.column], dictionary)
    found[hubs] = (
        EVERYBODY
        if cut.second is None
        else slots(columns[cut.second][hubs], types[cut.second], dictionary, parts)
    )
    return found


def holders(values: Mapping[int, object], types: Sequence[Type], cut: Cut, parts: int) -> set[int]:
    """The parts that may have rows with these values, by column."""
    if isinstance(cut, int):
        return (
            {part_of(values[cut], types[cut], parts)}
            if cut in values
            else readers(cut, None, parts)
        )
    if cut.column not in values:
        return set(range(parts))
    dictionary, type = Dictionary(), types[cut.column]
    code = np.array([encode_scalar(type, values[cut.column], dictionary)], np.int64)
    if not cut.found(code, type, dictionary)[0]:
        return {part_of(values[cut.column], type, parts)}
    second = cut.second
    return (
        {part_of(values[second], types[second], parts)}
        if second is not None and second in values
        else set(range(parts))
    )


def readers(cut: Cut, holding: Iterable[int] | None, parts: int) -> set[int]:
    """The parts that have to read a batch of rows to keep their share up to date; `holding`: those
    with rows, None when not known.
    """
    if cut == ONE:
        return {0}
    return set(range(parts)) if cut == ALL or holding is None else set(holding)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Well mixed nonnegative numbers, so that neighbours and multiples come apart (the finalizer of
    SplitMix64).
    """
    mixed = numbers.astype(np.int64).view(np.uint64)
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _MIX[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _MIX[1]
    return ((mixed ^ (mixed >> _SHIFTS[2])) >> np.uint64(1)).astype(np.int64)
