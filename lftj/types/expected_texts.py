# SPDX-License-Identifier: Apache-2.0
"""Texts of a table that mostly has what is there already, in about the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lftj.scantree.jit import address
from lftj.types.codes import NULL_CODE
from lftj.types.expected_texts_kernels import LEFT, find_expected
from lftj.types.text_index import bytes_of_texts
from lftj.types.texts import Flat

_TRIED = 1 << 16
"""Comparisons in other places that are made of a table in another order."""


class ExpectedTexts:
    """The codes that texts probably have, in the order in which they come. Texts that do come so
    are told by one comparison each.
    """

    def __init__(self, codes: np.ndarray):
        """`codes`: those of a column, NULL among them perhaps."""
        self._codes = codes if not len(codes) or codes.min() >= 0 else codes[codes != NULL_CODE]
        self._state = np.zeros(2, np.int64)
        self._state[LEFT] = _TRIED

    def find(
        self, flat: Flat, texts: pa.StringArray | pa.LargeStringArray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the next texts, and the numbers of those that have other codes than any
        expected thereabouts. O(bytes).
        """
        codes, missed = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        ends, text = bytes_of_texts(texts)
        known, here = (address(flat[0]), address(flat[1])), (address(ends), address(text))
        found = find_expected(*known, *here, self._codes, self._state, codes, missed)
        return codes, missed[: int(found)]
