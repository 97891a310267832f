# SPDX-License-Identifier: Apache-2.0
"""The library of this package's kernels, built for this machine.

The build of the package needs this module with NumPy, Numba and Arrow alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from lftj.engine.machine_code.kernel_signatures import GROUPS
from lftj.scantree.jit.directory import ADDRESSES, require_numba
from lftj.scantree.jit.library import library, target
from lftj.scantree.process.private_folders import UnsafeFolderError

_failed: list[str] = []


def build_library(
    attend: Callable[[], None] = lambda: None, folder: Path | None = None
) -> Path | None:
    """Build the library of kernels for this machine, in the user's folder of machine code or in the
    one given, unless it is there; None where that cannot be done, which is logged once. Raises
    ImportError without Numba.

    `attend` is called some twenty times a second, and what it raises ends the building.
    """
    processor = target()
    if processor is None or not ADDRESSES or _failed:
        return None
    require_numba()
    from lftj.scantree.jit.building import BuildError, build
    from lftj.scantree.jit.shared_object import LinkError

    try:
        path = build(kernel_lines(), processor, folder, attend)
    except (BuildError, LinkError, UnsafeFolderError, OSError) as reason:
        _failed.append(str(reason))
        logging.getLogger("lftj").warning(
            "no library of kernels could be built: %s. Numba compiles them one by one", reason
        )
        return None
    library.cache_clear()
    return path


def kernel_lines() -> list[str]:
    """All kernels of the library, a line for each signature."""
    from lftj.scantree.jit.ahead import lines_of

    return list(dict.fromkeys(lines_of(GROUPS.values())))
