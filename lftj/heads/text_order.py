# SPDX-License-Identifier: Apache-2.0
"""Numbers that order as texts do, though texts arrive in any order: what lets strings stand in a
scan tree in the order of their values.

Codes of strings follow arrival. Here every string that an ordered head holds gets a *label* as
well, an int64 such that labels compare as the texts do, by code point. A new text takes a label
between those of its neighbours. When there is none left between two, all texts are labelled anew,
evenly, and trees that hold labels must be written again: rare, as labels are 63 bits wide, and rows
that arrive in ascending or in descending order use a gap up from its end instead of halving it.

Two trees hold the state, label → code and code → label, so versions share what they have in common.
Texts that are no longer used keep their labels until those in use are labelled anew, which is also
done when they have become the smaller part (`crowded`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lftj.heads.text_order_kernels import find_neighbours
from lftj.heads.values import ranks_of
from lftj.scantree import Arena, Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows, union
from lftj.types.dictionary import Dictionary

_LOW, _HIGH = -(2**62), 2**62
_BEYOND = 2**40
"""Between a text that is beyond all others and its neighbour."""
_ALONG = 2**20
"""Between two texts that arrive one after the other and are neighbours."""
_MANY = 64
"""More new texts than this at once, and more than an eighth of all, are cheaper in a
new labelling.
"""
_UNUSED = 1024
"""Texts that may be out of use, beside as many as are in use."""


@frozen(slots=True)
class TextOrder:
    """One version of a labelling. Labels of one `epoch` compare with each other; `admitting` begins
    another when it labels anew.
    """

    dictionary: Dictionary
    codes: Tree
    labels: Tree
    epoch: int = 0
    last: int = _LOW
    """The label given last."""

    @staticmethod
    def of(arena: Arena, dictionary: Dictionary, codes: np.ndarray, epoch: int = 0) -> TextOrder:
        """A labelling of these codes, in any order, repeated or not. O(n log n)."""
        (distinct,) = sort_rows([codes])
        if not len(distinct):
            return TextOrder(dictionary, Tree.empty(arena, 1, 1), Tree.empty(arena, 1, 1), epoch)
        ranks = dictionary.ranks(distinct)
        step = (_HIGH - _LOW) // (len(distinct) + 1)
        labels = _LOW + step * (ranks + 1)
        in_order = np.empty_like(distinct)
        in_order[ranks] = distinct
        ascending = _LOW + step * np.arange(1, len(distinct) + 1)
        return TextOrder(
            dictionary,
            Tree.build(arena, [ascending], [in_order]),
            Tree.build(arena, [distinct], [labels]),
            epoch,
        )

    def labelled(self, codes: np.ndarray) -> np.ndarray:
        """The labels of codes that were admitted. O(log n) each, O(1) where they are as many as
        there are labels.
        """
        if len(codes) < len(self.labels):
            return self.labels.lookup([codes])[1][0]
        known, labels = self.labels.columns()
        return ranks_of(known, labels, codes) if len(codes) else codes

    def admitting(self, codes: np.ndarray) -> TextOrder:
        """A version that has labels for these codes as well. O(log n) for each new one, O(n log n)
        when it begins a new epoch.
        """
        new = codes[~self.labels.contains([codes])]
        if not len(new):
            return self
        (new,) = sort_rows([new])
        if len(new) > _MANY and len(new) * 8 > len(self.labels):
            return self._anew(new)
        admitted = self
        for code in new.tolist():
            label = admitted._free_label(code)
            if label is None:
                return admitted._anew(new)
            admitted = admitted._with(code, label)
        return admitted

    def crowded(self, used: int) -> bool:
        """True when most labels are of texts that no row has any more, with at most `used` in
        use.
        """
        return len(self.labels) > 2 * used + _UNUSED

    def anew(self, codes: np.ndarray) -> TextOrder:
        """The next epoch, with labels for these codes alone, in any order, repeated or not. O(n log
        n).
        """
        return TextOrder.of(self.labels.arena, self.dictionary, codes, self.epoch + 1)

    @property
    def memory(self) -> int:
        """Bytes of both trees, without the pages' free room."""
        return 32 * len(self.labels)

    def _anew(self, new: np.ndarray) -> TextOrder:
        return self.anew(union([new], self.labels.columns()[:1])[0])

    def _with(self, code: int, label: int) -> TextOrder:
        one, other = np.array([code]), np.array([label])
        return replace(
            self,
            codes=self.codes.apply([other, one]),
            labels=self.labels.apply([one, other]),
            last=label,
        )

    def _free_label(self, code: int) -> int | None:
        """A label for a new text, None when there is none left between its neighbours."""
        low, high = _LOW, _HIGH
        if self.codes.root:
            tree = self.codes
            low, high = find_neighbours(
                tree.arena.memory,
                tree.root,
                tree.height,
                *self.dictionary.flat(),
                code,
                _LOW,
                _HIGH,
            )
        middle = (high - low) // 2
        if middle == 0:
            return None
        if low == _LOW or high == _HIGH:
            step = min(middle, _BEYOND)
            return 0 if high - low == _HIGH - _LOW else low + step if high == _HIGH else high - step
        if self.last == low:
            return low + min(middle, _ALONG)
        return high - min(middle, _ALONG) if self.last == high else low + middle
