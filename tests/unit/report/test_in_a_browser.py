"""The page in a real browser, where one is installed: it explains, stays whole, fits, can be read
in the light and in the dark, and used without a mouse.

Pictures at 1280 and 400 pixels, light and dark, are left in the folder that LFTJ_PICTURES names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import lftj
from lftj.proofs.instances import atom_text
from tests.unit.report.browser import BROWSER, Window, window
from tests.unit.report.pages import HOSTILE, entitled

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed")

WIDTHS = pytest.mark.parametrize("width", [400, 1280])
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
ASKED = atom_text("may", (HOSTILE[0], "wiki"))
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true })"

FOCUSED = """(() => {
  const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
  return {
    name: at.tagName.toLowerCase(), id: at.id, text: at.textContent.trim().slice(0, 60),
    place: [...document.querySelectorAll("*")].indexOf(at),
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight
      && box.right > 0 && box.left < innerWidth,
  };
})()"""
"""The element with the focus: its place in the page, the width of the line around it, and whether
it is in sight.
"""

CONTRASTS = """(() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const part = (each) => {
    const value = each / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const light = (text) => {
    const [red, green, blue] = channels(text).map(part);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (at) => {
    const box = at.closest("g")?.querySelector("rect");
    if (at.namespaceURI.endsWith("svg") && box) return getComputedStyle(box).fill;
    for (let each = at; each; each = each.parentElement) {
      const found = getComputedStyle(each).backgroundColor;
      const [, , , alpha] = channels(found);
      if (alpha === undefined || alpha === 1) return found;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), at = walk.currentNode.parentElement;
    if (!text || at.closest("script, title, noscript") || !at.checkVisibility()) continue;
    const style = getComputedStyle(at);
    const ink = at.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [low, high] = [light(ink), light(behind(at))].sort((a, b) => a - b);
    found.push([(high + 0.05) / (low + 0.05), text.slice(0, 40), ink, behind(at)]);
  }
  return found;
})()"""
"""Contrasts of all texts that are shown with what lies behind them, as WCAG counts them."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window of a browser."""
    with window(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of hostile data."""
    return entitled().report(tmp_path_factory.mktemp("page") / "page.html").as_uri()


def test_a_row_is_explained_and_no_data_runs(shown: Window, page: str) -> None:
    shown.open(f"{page}#why={quote(ASKED)}")
    assert shown.run("document.title") == "lftj workspace, version 3"
    tree = shown.run("document.querySelector('#answer .tree').textContent")
    assert tree.count("base fact") == 3
    assert tree.startswith(ASKED)
    assert shown.run("document.querySelectorAll('img, iframe').length") == 0


@WIDTHS
def test_nothing_is_wider_than_the_window(shown: Window, page: str, width: int) -> None:
    shown.open(f"{page}#why={quote(ASKED)}", width)
    shown.run(OPEN_ALL)
    assert shown.run("document.documentElement.scrollWidth") <= width


@WIDTHS
@THEMES
def test_every_text_can_be_read(shown: Window, page: str, width: int, theme: str) -> None:
    shown.open(f"{page}#why={quote(ASKED)}", width, theme)
    shown.run(OPEN_ALL)
    found = shown.run(CONTRASTS)
    assert len(found) > 200
    assert [each for each in found if each[0] < 4.5] == []
    dark = shown.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (theme == "dark")


@WIDTHS
def test_tab_reaches_everything_in_order(shown: Window, page: str, width: int) -> None:
    shown.open(page, width)
    shown.run(OPEN_ALL)
    wanted = shown.run("document.querySelectorAll('a, button, input, summary').length")
    stops = []
    for _ in range(500):
        shown.press("Tab")
        stops.append(shown.run(FOCUSED))
        if stops[-1]["name"] == "body":
            break
    else:
        pytest.fail("the page does not let go of the focus")
    stops.pop()
    assert [each for each in stops if each["ring"] < 2 or not each["seen"]] == []
    places = [each["place"] for each in stops]
    assert places == sorted(set(places))
    assert sum(each["name"] in ("a", "button", "input", "summary") for each in stops) == wanted
    assert stops[0]["text"] == "Skip to the search"
    assert "asked" in [each["id"] for each in stops]
    assert "why?" in [each["text"] for each in stops]


def test_enter_explains_a_row_and_the_way_back_leads_on(shown: Window, page: str) -> None:
    shown.open(page)
    shown.run(OPEN_ALL)
    while shown.run(FOCUSED)["text"] != "why?":
        shown.press("Tab")
    row = shown.run("document.activeElement.dataset.row")
    shown.press("Enter")
    assert shown.run("document.querySelector('#answer .tree').textContent").startswith(row)
    assert shown.run("document.activeElement.id") == "asked", "a next row can be asked at once"
    shown.run("document.activeElement.select()")
    shown.type('may("ann"')
    shown.until("document.querySelector('#found button') !== null")
    shown.press("Enter")
    tree = shown.run("document.querySelector('#answer .tree').textContent")
    assert tree.startswith('may("ann", "wiki")')
    shown.press("Tab")
    shown.press("Tab", shift=True)
    assert shown.run("document.activeElement.id") == "asked"


def test_long_lists_come_whole(shown: Window, tmp_path: Path) -> None:
    ws = lftj.connect()
    count = 120
    for number in range(count):
        ws.add_rules(f".decl base{number}(x: symbol)")
        ws.load(f"base{number}", [(HOSTILE[number % len(HOSTILE)],)])
    path = ws.report(tmp_path / "page.html", samples=1)
    assert path.read_text(encoding="utf-8").count('class="later"') == 4
    shown.open(f"{path.as_uri()}#relation-{count}")
    assert shown.run(f"document.getElementById('relation-{count}').open")
    for listed in ("tbody tr td a", "details[id]"):
        assert shown.run(f"document.querySelectorAll('#relations {listed}').length") == count
    assert shown.run("document.querySelectorAll('#relations .samples button').length") == count
    assert shown.run("document.querySelectorAll('img, iframe, #content script').length") == 0
    assert shown.run("document.title") == f"lftj workspace, version {count}"


@pytest.mark.skipif("LFTJ_PICTURES" not in os.environ, reason="nobody asked for pictures")
@WIDTHS
@THEMES
def test_pictures(shown: Window, page: str, width: int, theme: str) -> None:
    picture = Path(os.environ["LFTJ_PICTURES"]) / f"report-{width}-{theme}.png"
    shown.open(f"{page}#why={quote(ASKED)}", width, theme)
    shown.picture(picture)
    assert picture.stat().st_size > 10_000
