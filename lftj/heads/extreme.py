"""`min` and `max`: semigroups, which cannot take a value out again [LFTJ-IVM 2.3.3].

*State kept:* the ordered rows (group, value) with their support counts, in a scan tree whose scan is min or max. *INSERT* and *ERASE* of an
assignment change one support count; a row appears or vanishes there as a projection's does, and the group's result is the scan of its
range, O(log n). The functions here compute the same result for whole columns at once.
"""

from __future__ import annotations

import numpy as np

from lftj.dictionary import Dictionary
from lftj.heads.values import by_value
from lftj.types import Type


def grouped_extremes(codes: np.ndarray, starts: np.ndarray, type: Type, dictionary: Dictionary, *, greatest: bool) -> np.ndarray:
    """The code of the least or greatest value of each run; strings compare by code point. O(n), more for strings (see `by_value`)."""
    keys, back = by_value(codes, type, dictionary)
    found = (np.maximum if greatest else np.minimum).reduceat(keys, starts)
    return found if back is None else back.take(found)
