# SPDX-License-Identifier: Apache-2.0
"""Bounds of ranges of rows, as `Tree.range`, `Tree.positions` and `Tree.scan` take them: a key, or
what one begins with.
"""

from __future__ import annotations

from collections.abc import Sequence

from lftj.scantree.seek_kernels import LARGEST


def after_prefix(prefix: Sequence[int]) -> list[int] | None:
    """The least bound that comes after all keys that begin with `prefix`, as `range` and `scan`
    take it; None when nothing does.
    """
    bound = list(prefix)
    while bound and bound[-1] == LARGEST:
        bound.pop()
    return [*bound[:-1], bound[-1] + 1] if bound else None
