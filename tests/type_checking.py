"""Programs of users as the type checker sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def diagnostics(program: str, folder: Path) -> list[dict[str, Any]]:
    """The diagnostics of pyright for a program, which is written to a folder."""
    (folder / "program.py").write_text(program)
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)["generalDiagnostics"]


def error_lines(found: list[dict[str, Any]]) -> list[int]:
    """The lines with errors, in their order."""
    return [each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"]
