# SPDX-License-Identifier: Apache-2.0
"""Word of long work, where the user gave no function to tell: in notebooks lines below the cell,
elsewhere lines of the logger `lftj.progress` at level INFO. Work of less than a second is not told.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable

Tell = Callable[[str], None]

_QUIET = 1.0  # seconds before the first line, and between two
_log = logging.getLogger("lftj.progress")


def teller(given: Tell | None) -> Tell | None:
    """Function that an evaluation that begins now tells of its steps: the user's, or one that
    leaves out most lines; None where nobody reads them.
    """
    if given is not None:
        return given
    if "ipykernel" in sys.modules:
        return _now_and_then(lambda text: print(f"lftj: {text} …", file=sys.stderr, flush=True))
    return _now_and_then(_log.info) if _log.isEnabledFor(logging.INFO) else None


def _now_and_then(tell: Tell) -> Tell:
    last = time.monotonic()

    def tell_if_it_is_time(text: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= _QUIET:
            last = now
            tell(text)

    return tell_if_it_is_time
