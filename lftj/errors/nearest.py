# SPDX-License-Identifier: Apache-2.0
"""The name that a misspelt one was meant to be.

A suggestion is made for slips of the hand only: letters that are lacking, doubled, exchanged or
replaced, and other ways to join words. Words that are merely alike, as `median` and `mean`, mean
different things, and so do names that differ in a number, or in a letter that stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_JOINTS = re.compile(r"[\W_]+")
_MARKS = re.compile(r"\d+|(?<![^\W_])[^\W_](?![^\W_])")
"""Numbers, and letters that are words of their own."""

_LONGEST = 60
"""Letters of names that are compared."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is a slip of, or None where there is none. O(len(known))."""
    if len(name) > _LONGEST:
        return None
    wanted, marks, best = _plain(name), _MARKS.findall(name), (_LONGEST, "")
    for other in known:
        if name.casefold() == other.casefold():
            return other
        if len(other) > _LONGEST or _MARKS.findall(other) != marks:
            continue
        if (far := _slips(wanted, _plain(other))) is not None:
            best = min(best, (far, other), key=lambda each: each[0])
    return best[1] or None


def _plain(name: str) -> str:
    return _JOINTS.sub("", name.casefold())


def _slips(a: str, b: str) -> int | None:
    """Number of slips that part two words, or None where these are too many to be slips."""
    if a == b:
        return 0
    if min(len(a), len(b)) < 3 or (a[0] != b[0] and a[:2] != b[1::-1]):
        return None
    longest = max(len(a), len(b))
    most = 1 if longest < 10 else 2
    if abs(len(a) - len(b)) > most:
        return None
    far = _distance(a, b)
    return far if far <= most else None


def _distance(a: str, b: str) -> int:
    """Number of letters that are added, left out, replaced, or exchanged with the next."""
    before, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row = row, [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = last
    return row[-1]
