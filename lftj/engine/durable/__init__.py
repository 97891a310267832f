"""Workspaces at a path: commits in a log, checkpoints that name pages, the past that both lead to,
and what outlives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.engine.durable.dump import dumped
    from lftj.engine.durable.file_checks import info, problems, sizes
    from lftj.engine.durable.opening import open_path, opened_to_read, save

__all__ = ["dumped", "info", "open_path", "opened_to_read", "problems", "save", "sizes"]

__getattr__ = exporting(
    __name__,
    {
        "dump": "dumped",
        "file_checks": "info problems sizes",
        "opening": "open_path opened_to_read save",
    },
)
