# SPDX-License-Identifier: Apache-2.0
"""Evaluation of bodies without a triejoin: row scans, star joins by look-up, semi-join
reduction.
"""

from __future__ import annotations

from lftj.join.access.semijoin_reduction import SemijoinReduction

__all__ = ["SemijoinReduction"]
