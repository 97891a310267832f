"""`lftj report` and `lftj serve`: a page about a program or a workspace."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.run import progress, read_program
from lftj.errors import FrameError

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace


def write(program: str, output: Path, fact_dir: Path, samples: int, *, allow_paths: bool) -> None:
    """Write the page about a program, evaluated over its facts, or about a workspace at a path."""
    with progress() as say, _opened(program, fact_dir, allow_paths=allow_paths) as workspace:
        say("writing the page")
        path = workspace.report(output, samples=samples)
    print(path)


def _opened(program: str, fact_dir: Path, *, allow_paths: bool) -> Workspace:
    import lftj

    if program != "-" and Path(program).is_dir():
        return lftj.connect(program, read_only=True)
    text, name = read_program(program, allow_paths=allow_paths)
    workspace = lftj.connect()
    workspace.add_rules(text, file=name, facts=fact_dir, allow_paths=allow_paths)
    return workspace


def serve(path: Path, port: int) -> None:
    """Serve the page about a workspace until Ctrl-C."""
    import lftj
    from lftj.report.serve import ADDRESS, Served

    with lftj.connect(path, read_only=True) as workspace:
        try:
            served = Served(workspace._backend, port)  # pyright: ignore[reportPrivateUsage]
        except OSError as reason:
            raise FrameError(
                f"port {port} of {ADDRESS} cannot be had: {reason.strerror}",
                code="E232",
                hint="leave --port out to have any that is free",
            ) from None
        print(served.url, flush=True)
        thread = threading.Thread(target=served.run, daemon=True)
        thread.start()
        try:
            thread.join()
        except KeyboardInterrupt:
            print()
        finally:
            served.close()
