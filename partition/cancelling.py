# SPDX-License-Identifier: Apache-2.0
"""Jobs of a Spark context that end with the block that started them, whatever ends it, and after
some time in any case.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Any
from uuid import uuid4


@contextmanager
def cancelled(context: Any, seconds: float | None) -> Iterator[None]:
    """Cancel the jobs of this block, of this thread, after so many seconds, and when it ends by an
    exception such as Ctrl-C.

    Raises TimeoutError where the time was over, and KeyboardInterrupt where Py4J failed as it was
    putting its connection away for one.
    """
    handled = sys.exception()
    tag, late = f"lftj-{uuid4().hex}", Event()

    def cancel() -> None:
        late.set()
        context.cancelJobsWithTag(tag)

    timer = None if seconds is None else Timer(seconds, cancel)
    context.addJobTag(tag)
    try:
        if timer is not None:
            timer.start()
        yield
    except BaseException as error:
        context.cancelJobsWithTag(tag)
        if (interrupt := _interrupt_behind(error, handled)) is not None:
            raise interrupt from None
        if late.is_set() and isinstance(error, Exception):
            raise TimeoutError(f"the job was cancelled after {seconds:g} s") from error
        raise
    finally:
        context.removeJobTag(tag)
        if timer is not None:
            timer.cancel()


def _interrupt_behind(
    error: BaseException, handled: BaseException | None
) -> KeyboardInterrupt | None:
    """The Ctrl-C that an error came of, if one did since another was `handled`."""
    behind = error.__cause__ or error.__context__
    while behind is not None and behind is not handled:
        if isinstance(behind, KeyboardInterrupt):
            return behind
        behind = behind.__cause__ or behind.__context__
    return None
