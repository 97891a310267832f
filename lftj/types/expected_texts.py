# SPDX-License-Identifier: Apache-2.0
"""Texts of a table that mostly has what is there already, in about the same order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lftj.scantree.jit import address
from lftj.types.expected_texts_kernels import LEFT, find_expected
from lftj.types.texts import Flat

_TRIED = 1 << 16
"""Comparisons in other places that are made of a table in another order."""


class ExpectedTexts:
    """The codes that texts probably have, in the order in which they come. Texts that do come so
    are told by one comparison each.
    """

    def __init__(self, codes: Callable[[], np.ndarray]):
        """`codes` gives those of a column, NULL among them perhaps, when they are needed."""
        self._read = codes
        self._known: np.ndarray | None = None
        self._state = np.zeros(2, np.int64)
        self._state[LEFT] = _TRIED

    def find(self, flat: Flat, texts: Flat, codes: np.ndarray) -> np.ndarray:
        """Write the codes of the next texts where these are not that of NULL, and return the
        numbers of those that have other codes than any expected thereabouts. O(bytes).
        """
        if self._known is None:
            self._known = self._read()
        missed = np.empty(len(codes), np.int64)
        known, here = (address(flat[0]), address(flat[1])), (address(texts[0]), address(texts[1]))
        found = find_expected(*known, *here, self._known, self._state, codes, missed)
        return missed[: int(found)]
