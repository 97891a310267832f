# SPDX-License-Identifier: Apache-2.0
"""`lftj report` and `lftj serve`: a page about a program or a workspace."""

from __future__ import annotations

import threading
from pathlib import Path

from lftj.cli.opening import opened
from lftj.cli.run import progress
from lftj.errors import FrameError


def write(program: str, output: Path, fact_dir: Path, samples: int, *, allow_paths: bool) -> None:
    """Write the page about a program, evaluated over its facts, or about a workspace at a path."""
    with progress() as say, opened(program, fact_dir, allow_paths=allow_paths) as workspace:
        say("writing the page")
        path = workspace.report(output, samples=samples)
    print(path)


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
