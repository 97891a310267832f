# SPDX-License-Identifier: Apache-2.0
"""Vacuum: closing a workspace gives back room in its files, that of commits which lead to no
version that is kept, and of strings that no row has any more.

Both are measured before anything is read, so that closing costs what was written since. Codes of
strings are never given again: eight bytes are left of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lftj.engine.durable.branch_tips import Kept, Tip
from lftj.engine.durable.checkpoint import program_text
from lftj.engine.durable.stored_past import StoredPast
from lftj.storage.durable.log import Log
from lftj.storage.durable.strings_file import StringsFile, files_of
from lftj.tuning import Tuning
from lftj.types.dictionary import Dictionary
from lftj.types.texts import of_codes

Record = dict[str, Any]
_PIECE = 1 << 20  # words of a file that are looked at together
_FEW = 0.5
"""Share of the strings: if those in use are more, the others are not worth the work."""


def bytes_of_strings(folder: Path, chain: Sequence[Sequence[Any]]) -> int:
    """Bytes of all files of a chain of strings."""
    files = (folder / name for name in files_of(folder, [name for name, _ in chain]))
    return sum(file.stat().st_size for file in files if file.exists())


def room_in_log(log: Log, needed: int) -> int:
    """About how many bytes the commits before one take, and what was removed before."""
    first, last = log.oldest()[0], log.last()[0]
    return log.file.stat().st_size * max(0, needed - first) // max(1, last - first + 1)


def older(log: Log, past: StoredPast, number: int, most: int, tuning: Tuning) -> Kept | None:
    """The kept of a commit of main, the only branch, as a checkpoint needs it; None where
    more than so `most` commits came after it, or one whose rows the log does not have. Raises as
    `StoredPast.reach`.
    """
    before = log.sum_of(number)
    since = None if before is None else log.since(number, before)
    if since is None or len(since) > most:
        return None
    state, number, sum_ = past.reach(number)
    return Kept({0: Tip(state, program_text(state, tuning))}, number, sum_)


def without_the_dead(
    folder: Path, records: Sequence[Record], dictionary: Dictionary
) -> list[tuple[str, int]] | None:
    """The chain of a new file of strings, of those alone that may be in the pages of records; None
    where these are most of all. O(pages). Raises OSError.
    """
    flat = dictionary.flat()
    if not len(dictionary):
        return None
    used = _used(folder, records, len(flat[0]) - 1)
    lengths = np.diff(flat[0])
    if lengths[used].sum() + used.sum() > _FEW * (lengths.sum() + len(used)):
        return None
    file = StringsFile(folder, 0, 0)
    return [(file.name, file.write(*of_codes(flat, used), np.flatnonzero(~used)))]


def _used(folder: Path, records: Sequence[Record], count: int) -> np.ndarray:
    """Mark codes below `count` that may be in use. A number that only looks like a code keeps a
    string in vain, so there are not more of these than words.
    """
    used = np.zeros(count, np.bool_)
    for name in {segment["name"] for record in records for segment in record["segments"]}:
        words = np.memmap(folder / name, np.int64, "r")
        for start in range(0, len(words), _PIECE):
            piece = words[start : start + _PIECE]
            used[piece[(piece >= 0) & (piece < count)]] = True
    for number in _numbers(records):
        if 0 <= number < count:
            used[number] = True
    return used


def _numbers(data: object) -> Iterator[int]:
    """All whole numbers in data."""
    if isinstance(data, int):
        yield data
    elif isinstance(data, dict | list | tuple):
        parts: Iterable[object] = data.values() if isinstance(data, dict) else data
        for part in parts:
            yield from _numbers(part)
