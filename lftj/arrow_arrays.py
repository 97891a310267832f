"""Arrow's arrays, made of values that Python or NumPy has."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa

from scantree.interrupts import interrupts_wait


def arrow_array(values: Any, type: pa.DataType | None = None, **options: Any) -> Any:
    """As `pa.array`, which says more."""
    _acquaint_with_pandas()
    return pa.array(values, type=type, **options)


@cache
def _acquaint_with_pandas() -> None:
    """Have PyArrow look for pandas, which it does for its first array, and imports it where it can.

    It loses sight of an interrupt that comes meanwhile, and half a pandas is left, on which what is made of NumPy's arrays later fails.
    """
    with interrupts_wait():
        pa.array([])
