"""Two small kernels, and new processes that call them: with a cache of machine code, or settings of
Numba's, of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lftj.scantree.jit import compiled, inlined, load

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


_FORKING = """
import atexit, json, os, sys, traceback
import numba, numpy as np
numba.njit(lambda words: words[0] + len(words))(np.arange(4))
for line in sys.stdin:
    code, environment, files = json.loads(line)
    if not (child := os.fork()):
        for number, file in enumerate(files, 1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.environ |= environment
        sys.stdin = open(os.devnull)
        status = 0
        try:
            exec(code, {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            status = 1
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forking:
    """A process that has Numba imported and used, and nothing of ours: it runs code in forks of
    itself, which saves a second of processor time for each.
    """

    def __init__(self, folder: Path) -> None:
        self._files = [str(folder / "out"), str(folder / "err")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _FORKING],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def python(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """As the function `python`; settings that Numba reads at its import come too late here."""
        assert not any(name.startswith("NUMBA") for name in environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([code, environment, self._files]) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        texts = [Path(file).read_text(encoding="utf-8") for file in self._files]
        return subprocess.CompletedProcess(code, status, *texts)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
