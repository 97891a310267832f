"""Two small kernels, and new processes that call them: with a cache of machine code, or settings of
Numba's, of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from scantree.jit import compiled, inlined, load

ROOT = Path(__file__).resolve().parents[3]


@inlined
def twice(memory: Any, at: int) -> int:
    """A kernel that kernels call."""
    return 2 * load(memory, at)


@compiled
def sum_of_twice(memory: Any) -> int:
    """A kernel that Python calls."""
    total = 0
    for at in range(len(memory)):
        total += twice(memory, at)
    return total


SUMS = (
    f"import numpy as np; from {__name__} import sum_of_twice, twice; "
    f"print(sum_of_twice(np.arange(4)), twice(np.arange(4), {{at}}))"
)
"""Code that prints 12, and twice the word `at`, by the two kernels above."""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new process, with `environment` beside ours, and capture its output."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
