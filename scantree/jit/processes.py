# SPDX-License-Identifier: Apache-2.0
"""Helpers: processes that compile, while the one that started them looks at limits and interrupts.

An interrupt inside Numba's compiler leaves half-made code behind, so no process that works for a
user compiles where that can be avoided. Helpers can be killed at any time: what they finished is
whole, and the rest was never there. They end soon after the process that started them.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # imported where a helper is started: most processes start none
    import subprocess

LOOK = 0.05
"""Seconds between two looks at helpers, limits and interrupts."""

Helper: TypeAlias = "subprocess.Popen[str]"

_CODE = "import sys; sys.path[:] = {path!r}; {code}"


def interpreter() -> str | None:
    """The Python that runs this process, or None where this is another program."""
    found = sys.executable or ""
    return found if re.match(r"python[\d.]*$", Path(found).name) else None


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(
    code: str,
    lines: Iterable[str],
    environment: Mapping[str, str] | None = None,
    errors: IO[str] | None = None,
) -> Helper:
    """Start a process that runs `code`, with lines on its standard input. Its errors go to a file,
    or are lost. Raises OSError.
    """
    import subprocess

    lost = subprocess.DEVNULL
    helper = subprocess.Popen(
        [sys.executable, "-c", _CODE.format(path=sys.path, code=code)], env=environment,
        stdin=subprocess.PIPE, stdout=lost, stderr=errors or lost, text=True,
        start_new_session=True,
    )  # fmt: skip
    if helper.stdin is not None:
        with suppress(OSError):
            helper.stdin.write("\n".join(lines))
            helper.stdin.close()
    return helper


@contextmanager
def gone_afterwards(helpers: list[Helper]) -> Iterator[None]:
    """See that these are gone when the block is over, also those that were added in it."""
    try:
        yield
    finally:
        for helper in helpers:
            helper.kill()
        for helper in helpers:
            helper.wait()


def wait_for(over: Callable[[], bool], attend: Callable[[], None]) -> None:
    """Wait until something is over, calling `attend` some twenty times a second."""
    while not over():
        attend()
        time.sleep(LOOK)


def end_with_parent() -> None:
    """End this process soon after the one that started it."""
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
