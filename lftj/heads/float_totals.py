"""The kept state of `sum` and `mean` of floats: an exact sum per group, in a scan tree of its words that are not 0 [LFTJ-IVM 2.3.4].

A dense state takes 288 bytes a group; here an everyday sum takes two or three rows, whatever its group's size. The published value is the
exact sum, rounded once, so it is `math.fsum` of the live values after any history, and a history that comes to nothing leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lftj.heads.aggregate_shape import CallShape
from lftj.heads.float_sum import advanced, float_means, published_float_sums
from lftj.heads.float_sum_kernels import STATE_WORDS
from lftj.heads.float_totals_kernels import changed_words, read_states
from lftj.heads.kept import Advance, GroupChange
from scantree import Arena, Tree

_CHUNK = 4096
"""Groups whose dense states are held at a time: about a megabyte."""


@dataclass(frozen=True, slots=True)
class FloatTotals:
    """Exact sums of the argument in column `arg`: a tree keyed (group…, position of a word) with the word."""

    arg: int
    words: Tree

    @staticmethod
    def empty(arena: Arena, arg: int, width: int) -> FloatTotals:
        """No groups; `width` is the number of group columns, at least 1."""
        return FloatTotals(arg, Tree.empty(arena, width + 1, 1))

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes of the words and their keys."""
        return {"exact float sums": 8 * len(self.words) * (self.words.key_width + 1)}

    def advanced(self, change: GroupChange) -> Advance:
        """Adds what came and subtracts what went, exactly; then rounds the affected groups."""
        groups = change.groups.shape[1]
        width, words = len(change.groups), min(groups, _CHUNK) * STATE_WORDS
        room = np.empty((width + 2, words), np.int64), np.empty((width + 1, words), np.int64)
        pieces = [self._piece(change, first, *room) for first in range(0, groups, _CHUNK)]
        joined = pieces[0] if len(pieces) == 1 else [np.concatenate(part, axis=-1) for part in zip(*pieces, strict=True)]
        inserts, erases, sums, status = joined
        change.work.count(self.words, groups + inserts.shape[1] + erases.shape[1])

        def results(call: CallShape) -> np.ndarray:
            exact = published_float_sums(sums, status, call.function, change.name)
            return exact if call.function == "sum" else float_means(exact, change.divisors)

        return Advance(FloatTotals(self.arg, self.words.apply(inserts, erases)), [], results)

    def _piece(self, change: GroupChange, first: int, inserts: np.ndarray, erases: np.ndarray) -> tuple[np.ndarray, ...]:
        """Words that come and go, rounded sums and how they went, for a chunk of groups. `inserts`, `erases`: room for the words."""
        starts = change.starts[first : first + _CHUNK]
        low = starts[0]
        high = change.starts[first + _CHUNK] if first + _CHUNK < len(change.starts) else len(change.net)
        groups = np.ascontiguousarray(change.groups[:, first : first + _CHUNK])
        before = self._states(groups)
        after, sums, status = advanced(before, change.rows[self.arg, low:high], change.net[low:high], starts - low)
        written, gone = changed_words(groups, before, after, inserts, erases)
        return inserts[:, :written].copy(), erases[:, :gone].copy(), sums, status

    def _states(self, groups: np.ndarray) -> np.ndarray:
        states = np.zeros((groups.shape[1], STATE_WORDS), np.int64)
        tree = self.words
        if tree.root:
            read_states(tree.arena.memory, tree.root, tree.height, tree.layout, groups, states)
        return states
