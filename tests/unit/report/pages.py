"""A workspace whose data tries to break out of the page, and pages taken apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import lftj

HOSTILE = (
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "'\"><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "]]> <!-- \u2028",
)
RULES = """
.decl member(who: symbol, group: symbol)
.decl grant(group: symbol, object: symbol)
.decl deny(who: symbol, object: symbol)
.decl in(who: symbol, group: symbol)
.decl may(who: symbol, object: symbol)
.decl odd(who: symbol)
in(u, g) :- member(u, g).
in(u, h) :- in(u, g), member(g, h).
may(u, o) :- in(u, g), grant(g, o), !deny(u, o).
odd(u) :- member(u, _), u != "</script><script>document.title = 'broken'</script>".
"""


def entitled(ws: lftj.Workspace | None = None) -> lftj.Workspace:
    """Rights through groups, of people with hostile names, in some commits."""
    ws = ws or lftj.connect()
    ws.add_rules(RULES)
    ws.load("member", [("ann", "dev"), ("dev", "staff"), *((each, "dev") for each in HOSTILE)])
    with ws.transaction(message=HOSTILE[0]) as tx:
        tx.insert("grant", [("staff", "wiki"), ("dev", HOSTILE[1])])
    return ws


class Parts(HTMLParser):
    """Elements of a page: names with attributes, ids, and the texts of scripts and styles."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note its end."""
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Note a text, with the element that it stands in."""
        self.texts.append((self.open[-1] if self.open else "", data))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of all elements of this name."""
        return [attributes for name, attributes in self.elements if name == tag]


def data_in(text: str) -> dict[str, Any]:
    """Data of a page."""
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])
