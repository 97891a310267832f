"""Evaluation of bodies without a triejoin: row scans, star joins by look-up, semi-join
reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.join.access.semijoin_reduction import SemijoinReduction

__all__ = ["SemijoinReduction"]

__getattr__ = exporting(
    __name__,
    {
        "semijoin_reduction": "SemijoinReduction",
    },
)
