"""Machine code of kernels before a program calls them: which kernels there are, and the library of
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.engine.machine_code.compiled_ahead import (
        DRIVER,
        PARTS,
        compile_named,
        groups_for,
        missing,
    )

__all__ = ["DRIVER", "PARTS", "compile_named", "groups_for", "missing"]

__getattr__ = exporting(
    __name__,
    {
        "compiled_ahead": "DRIVER PARTS compile_named groups_for missing",
    },
)
