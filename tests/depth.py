# SPDX-License-Identifier: Apache-2.0
"""Amounts of random tests beside Hypothesis: all that they can with `HYPOTHESIS_PROFILE=deep`, and
without it what fits into a run of all tests.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

DEEP = settings().max_examples >= 1000


def enough(shallow: T, deep: T) -> T:
    """The amount for this run."""
    return deep if DEEP else shallow
