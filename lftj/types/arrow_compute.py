# SPDX-License-Identifier: Apache-2.0
"""Arrow's functions, `pyarrow.compute`, imported when the first of them is used: with all the
documentation that is written then, that takes as long as importing NumPy's half, and many programs
need none.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    functions: Any = pyarrow.compute  # made at import time, where no type checker sees them
    found = globals()[name] = getattr(functions, name)
    return found
