# SPDX-License-Identifier: Apache-2.0
"""Contexts that can be alive: those whose bindings every positive atom has, as far as they are
known.

A context of an index is alive when the run would get there: on all levels before, every atom has
the values bound. Checked is just that, each atom by a look-up of its first columns; negated atoms,
comparisons and levels that γ was cut by are taken to hold. So what is called dead is dead, and its
intervals may go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lftj.scantree import Tree
from lftj.sensitivity.shape import BodyShape, Column, Constant
from lftj.sensitivity.surgery import depths_of

Words = np.ndarray


class Liveness:
    """Tells living contexts of a body from dead ones, over one version of its relations. `trees`:
    one per atom, in the atom's key order.
    """

    def __init__(self, body: BodyShape, trees: Sequence[Tree]) -> None:
        self._body = body
        self._trees = trees

    def __call__(self, bindings: Mapping[int, Words]) -> np.ndarray:
        """Mark the contexts, given by level, columns of equal length, that may be alive. O(atoms ·
        columns · log n) each.
        """
        known = dict(bindings)
        rows = len(next(iter(known.values()))) if known else 1
        for level, value in sorted(self._body.computed.items()):
            if level not in known and isinstance(value, Constant):
                known[level] = np.full(rows, value.code, np.int64)
            elif level not in known and isinstance(value, int) and value in known:
                known[level] = known[value]
        alive = np.ones(rows, np.bool_)
        for atom, tree in zip(self._body.atoms, self._trees, strict=True):
            if not atom.negated:
                alive &= self._has(tree, atom.columns, known, rows)
        return alive

    @staticmethod
    def _has(
        tree: Tree, levels: Sequence[Column], known: Mapping[int, Words], rows: int
    ) -> np.ndarray:
        columns = []
        for level in levels:
            if not isinstance(level, int) or level not in known:
                break
            columns.append(known[level])
        if not columns:
            return np.ones(rows, np.bool_)
        return depths_of(tree, columns, len(columns)) > len(columns)
