"""The site of the pages: it is built without a warning, has every public name with its signature,
and fits windows of two widths in a real browser.

Pictures of it are left in the folder that LFTJ_PICTURES names.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lftj
from tests.docs.blocks import ROOT
from tests.unit.report.browser import BROWSER, Window, window

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")
QUESTIONS = ["What is true now?", "What changed?", "Why?"]
SHOWN = ["", "reference/workspaces/", "recipes/from-duckdb/", "command-line/"]
CUT = """
[...document.querySelectorAll("pre > code")]
    .filter(each => each.scrollWidth > each.clientWidth)
    .map(each => each.textContent.slice(0, 60))"""
WIDTHS = pytest.mark.parametrize("width", [400, 1280])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as a reader's browser gets it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_front_page_shows_what_it_is(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>([^<]+)<", page)
    assert headings[:3] == QUESTIONS
    before = page[: page.index(QUESTIONS[0] + "<")]
    assert before.count('<div class="highlight') == 2, "how to install, and ten lines"
    assert 'src="demo.svg"' in before
    assert (site / "demo.svg").read_text(encoding="utf-8").startswith("<svg")


def test_every_public_name_has_a_signature_and_a_text(site: Path) -> None:
    pages = "".join(
        page.read_text(encoding="utf-8") for page in sorted((site / "reference").rglob("*.html"))
    )
    constants = {"_", "parameter", *(name for name in lftj.__all__ if name.isupper())}
    lacking = []
    homes = {**lftj._HOME, **lftj._WITH_SPARK, "ThreadExecutor": "lftj.partition.executor"}
    for name, home in homes.items():
        if name in constants:
            continue
        described = pages.partition(f'id="{home}.{name}"')[2].partition("doc-object doc-")[0]
        if "<p>" not in described or "doc-contents" not in described:
            lacking.append(name)
    assert lacking == []
    for method in ("Workspace.load", "Transaction.upsert", "Result.sort"):
        home = lftj._HOME[method.partition(".")[0]]
        described = pages.partition(f'id="{home}.{method}"')[2][:6000]
        assert "doc-signature" in described
    assert "Raises" in pages


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window of a browser."""
    if BROWSER is None:
        pytest.skip("no browser is installed")
    with window(tmp_path_factory.mktemp("browser")) as made:
        yield made


@WIDTHS
def test_no_page_and_no_code_is_wider_than_the_window(
    site: Path, shown: Window, width: int
) -> None:
    for page in SHOWN:
        shown.open((site / page / "index.html").as_uri(), width)
        assert shown.run("document.documentElement.scrollWidth") <= width, page
        assert shown.run(CUT) == [], page
        if "LFTJ_PICTURES" in os.environ:
            name = page.strip("/").replace("/", "-") or "front"
            shown.picture(Path(os.environ["LFTJ_PICTURES"]) / f"site-{name}-{width}.png")
