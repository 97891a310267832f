"""Jobs of a Spark context that end with the block that started them, whatever ends it, and after some time in any case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Any
from uuid import uuid4


@contextmanager
def cancelled(context: Any, seconds: float | None) -> Iterator[None]:
    """Cancel the jobs of this block, of this thread, after so many seconds, and when it ends by an exception such as Ctrl-C.

    Raises TimeoutError where the time was over.
    """
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
        if late.is_set() and isinstance(error, Exception):
            raise TimeoutError(f"the job was cancelled after {seconds:g} s") from error
        raise
    finally:
        context.removeJobTag(tag)
        if timer is not None:
            timer.cancel()
