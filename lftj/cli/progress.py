"""What the command is doing, shown while it does it: on standard error, and only when that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from scantree.jit.announcing import said_by


@contextmanager
def progress() -> Generator[Callable[[str], None]]:
    """Gives a function that shows one line of text in place of the last one; the line is gone at the end.

    Nothing may be printed meanwhile: rich sends what goes to standard output to its own stream as long as the line is up.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- a process may have none
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:

        def say(text: str) -> None:
            status.update(f"{text} …")

        with said_by(say):
            yield say
