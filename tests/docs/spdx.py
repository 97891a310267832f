# SPDX-License-Identifier: Apache-2.0
"""The line of each Python file of the package that names its licence.

`python -m tests.docs.spdx` writes it where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = "# SPDX-License-Identifier: Apache-2.0\n"
FOLDERS = ("lftj", "scantree", "sensitivity", "partition")
"""Folders that are installed."""


def lacking() -> Iterator[Path]:
    """The files without the line."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if text and not text.startswith(LINE):
                yield path


if __name__ == "__main__":
    for path in lacking():
        path.write_text(LINE + path.read_text(encoding="utf-8"), encoding="utf-8")
