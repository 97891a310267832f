# SPDX-License-Identifier: Apache-2.0
"""A workspace that commands look at: one at a path, or what a program derives from its facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.run import read_program

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace


def opened(program: str, fact_dir: Path = Path(), *, allow_paths: bool = False) -> Workspace:
    """The workspace at a path, to read, or a new one with a program and its facts. Raises what
    either raises.
    """
    import lftj

    if program != "-" and Path(program).is_dir():
        return lftj.connect(program, read_only=True)
    text, name = read_program(program, allow_paths=allow_paths)
    workspace = lftj.connect()
    workspace.add_rules(text, file=name, facts=fact_dir, allow_paths=allow_paths)
    return workspace
