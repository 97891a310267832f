# SPDX-License-Identifier: Apache-2.0
"""The command line: `lftj run`, `lftj check`, `lftj demo`.

Nothing here decides anything about rules or data; it reads arguments, calls the public API and
prints.
"""

from __future__ import annotations

import atexit
import codecs
import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

OK, FAILED, INTERRUPTED = 0, 1, 130
_OBJECTS = 50_000
"""New objects after which Python looks for garbage: what is imported stays, and looking through it
again and again would take a tenth of a short run.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 an error in program or data, 2 wrong
    usage, 130 interrupted.

    `arguments` are those after the program's name (default: the process's own).
    """
    from lftj.cli.app import app

    _speak_utf8()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # we multiply no matrices; NumPy starts them
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    atexit.register(gc.freeze)  # at its end Python would look through all of it twice
    try:
        code = app(sys.argv[1:] if arguments is None else arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else OK if end.code is None else FAILED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        code = FAILED
    except Exception as error:
        _tell(error)
        code = FAILED
    gc.set_threshold(*before)
    return code if _flushed() else FAILED


def _tell(error: Exception) -> None:
    """Print an error in program, data or files, or about an extra of the package that is missing.
    Raises all others.
    """
    from lftj.errors import LftjError

    if not isinstance(error, LftjError | OSError | ImportError):
        raise error
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] -- else it would go among what is printed
        print(error if isinstance(error, LftjError) else f"error: {error}", file=sys.stderr)


def _speak_utf8() -> None:
    """Encode standard output as UTF-8, as files are, whatever the locale says."""
    stream: Any = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
        stream.reconfigure(encoding="utf-8")


def _flushed() -> bool:
    """False when the reader of our output went away, as in `lftj run … | head`: not worth a
    message, nor a second failure at exit.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        return True
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
