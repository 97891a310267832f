# SPDX-License-Identifier: Apache-2.0
"""`lftj warmup`: machine code made before a program needs it."""

from __future__ import annotations

import sys
import time

from lftj.engine.machine_code.kernel_library import build_library
from lftj.engine.machine_code.kernel_signatures import GROUPS
from lftj.scantree.jit.announcing import said_by
from lftj.scantree.jit.directory import ADDRESSES
from lftj.scantree.jit.library import library


def warmup() -> None:
    """Print where the library of kernels is; build it where there is none."""
    if not ADDRESSES:
        print("Kernels are interpreted or checked: there is nothing to compile ahead.")
        return
    started = time.perf_counter()
    with said_by(lambda text: print(f"{text} …", file=sys.stderr)):
        found = library()
        path = build_library() if found is None else found.path
        if path is None:
            from lftj.scantree.jit.ahead import compile_groups

            compile_groups(GROUPS)
    seconds = time.perf_counter() - started
    print(f"Kernels are ready: {path or 'compiled one by one'} ({seconds:.1f} s).")
