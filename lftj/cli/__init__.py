"""The command line: `lftj run`, `lftj check`, `lftj demo`.

Nothing here decides anything about rules or data; it reads arguments, calls the public API and prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 an error in program or data, 2 wrong usage, 130 interrupted.

    `arguments` are those after the program's name (default: the process's own).
    """
    from lftj.cli.app import app
    from lftj.errors import LftjError

    try:
        app(args=None if arguments is None else list(arguments), prog_name="lftj")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else (OK if end.code is None else FAILED)
    except LftjError as error:
        print(error, file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader of our output went away (`lftj run … | head`): not worth a message, and no second failure when Python flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    return OK
