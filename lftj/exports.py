"""Exports of a room whose files are not all wanted wherever one of them is: the build of kernels
imports these with little else, and a start has no use for most ways of maintenance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exporting(room: str, files: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room (PEP 562): a file is imported when one of the names that it
    exports is first asked for. `files`: the names of each.
    """
    homes = {name: f"{room}.{file}" for file, names in files.items() for name in names.split()}

    def exported(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return exported
