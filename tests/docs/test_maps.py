"""The maps of how-it-works name a file at each step, which is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"<br/>((?:lftj|scantree|sensitivity|partition)/[\w/]+\.py)$")


def test_maps_name_files() -> None:
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    maps = "".join(re.findall(r"```mermaid\n(.*?)```", page, re.DOTALL))
    steps = re.findall(r'\w+\["(.*?)"\]', maps)
    assert len(steps) > 30
    assert [step for step in steps if not FILE.search(step)] == []
    assert [step for step in steps if not (ROOT / FILE.findall(step)[0]).exists()] == []
