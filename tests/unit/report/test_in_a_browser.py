"""The page in a real browser, where one is installed: it explains, stays whole, and fits.

Pictures at 1280 and 400 pixels, light and dark, are left in the folder that LFTJ_PICTURES names.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.unit.report.pages import HOSTILE, entitled

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed")

WIDTH = "<script>document.body.dataset.width = document.documentElement.scrollWidth</script></body>"


def browse(tmp_path: Path, address: str, *options: str) -> str:
    """Output of the browser about a page, after its script has run."""
    command = [
        BROWSER or "",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=3000",
        *options,
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page of hostile data."""
    return entitled().report(tmp_path / "page.html")


def test_a_row_is_explained_and_no_data_runs(page: Path, tmp_path: Path) -> None:
    dom = browse(tmp_path, f"{page.as_uri()}#why={quote(_asked())}", "--dump-dom")
    assert "<title>lftj workspace, version 3</title>" in dom
    tree = dom.partition('<div class="tree">')[2].partition("</section>")[0]
    assert html.unescape(re.sub(r"<[^>]+>", "\n", tree)).count("base fact") == 3
    assert "<img" not in tree


def _asked() -> str:
    from lftj.proofs.instances import atom_text

    return atom_text("may", (HOSTILE[0], "wiki"))


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_window(page: Path, tmp_path: Path, width: int) -> None:
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", WIDTH)
    page.write_text(text, encoding="utf-8")
    size = f"--window-size={max(width, 500)},900"  # a window has at least 500 pixels
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe src="page.html" width="{width}" height="900" style="border: 0"></iframe>'
        "<script>onload = () => { const inner = document.querySelector('iframe').contentDocument;"
        "document.title = inner.documentElement.scrollWidth }</script>"
    )
    dom = browse(tmp_path, frame.as_uri(), "--dump-dom", "--allow-file-access-from-files", size)
    (found,) = re.findall(r"<title>(\d+)</title>", dom)
    assert int(found) <= width


@pytest.mark.skipif("LFTJ_PICTURES" not in os.environ, reason="nobody asked for pictures")
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(page: Path, tmp_path: Path, width: int, theme: str) -> None:
    folder = Path(os.environ["LFTJ_PICTURES"])
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / f"report-{width}-{theme}.png"
    browse(
        tmp_path,
        page.as_uri(),
        f"--screenshot={picture}",
        f"--window-size={width},2400",
        f"--blink-settings=preferredColorScheme={int(theme == 'light')}",
    )
    assert picture.stat().st_size > 10_000
