"""Links between pages lead to files and headings that exist; the index has every decision; lines of
pages have at most 100 characters.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    kept = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {re.sub(r"[\s]+", "-", heading.strip()) for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_index_lists_every_decision_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    index = " ".join((folder / "index.md").read_text(encoding="utf-8").split())
    for page in sorted(folder.glob("0*.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"[{title}]({page.name})" in index


STATUS = re.compile(
    r"accepted\.( Takes the place of ([\d, and]+)\.)?|superseded by \[(\d+)\]\(\S+\)\."
)


def test_every_decision_has_a_status_and_the_index_shows_it() -> None:
    folder = ROOT / "docs" / "decisions"
    accepted, _, superseded = (folder / "index.md").read_text("utf-8").partition("## Superseded")
    took: set[tuple[str, str]] = set()
    gave: set[tuple[str, str]] = set()
    for page in sorted(folder.glob("[0-9]*.md")):
        line = page.read_text("utf-8").splitlines()[2]
        status = STATUS.fullmatch(line.removeprefix("*Status: ").removesuffix("*"))
        assert status, page.name
        number = page.name[:3]
        assert f"]({page.name})" in (superseded if status[3] else accepted)
        took |= {(number, old) for old in re.findall(r"\d+", status[2] or "")}
        gave |= {(status[3], number)} if status[3] else set()
    assert took == gave


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_short(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > 100] == []
