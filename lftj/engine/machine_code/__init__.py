# SPDX-License-Identifier: Apache-2.0
"""Machine code of kernels before a program calls them: which kernels there are, and the library of
them.
"""

from __future__ import annotations

from lftj.engine.machine_code.compiled_ahead import (
    DRIVER,
    PARTS,
    compile_named,
    groups_for,
    missing,
)
from lftj.engine.machine_code.kernel_signatures import GROUPS

__all__ = ["DRIVER", "GROUPS", "PARTS", "compile_named", "groups_for", "missing"]
