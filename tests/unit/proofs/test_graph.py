"""Proofs as graphs and as pages."""

from __future__ import annotations

from html.parser import HTMLParser

import lftj

HOSTILE = '"]; <script>alert(1)</script> & \\ \n'


def proof_of(name: str) -> lftj.Proof:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: symbol, y: symbol) .decl r(x: symbol, y: symbol)"
        " r(x, y) :- e(x, y), !e(y, x). r(x, z) :- r(x, y), e(y, z)."
    )
    workspace.load("e", [("a", "b"), ("b", name)])
    return workspace.explain("r", ("a", name))


class Tags(HTMLParser):
    """The tags and the text of a page, each tag closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_nothing_of_the_data_becomes_a_tag() -> None:
    tags = Tags()
    tags.feed(proof_of(HOSTILE)._repr_html_())
    assert tags.open == []
    assert tags.seen == {"div", "details", "summary", "em"}
    assert "<script>alert(1)</script>" in tags.text
    assert "no row matches" in tags.text


def test_a_high_proof_is_a_page_of_bounded_size() -> None:
    workspace, many = lftj.connect(), 2000
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl r(x: number) r(0). r(y) :- r(x), e(x, y)."
    )
    workspace.load("e", [(place, place + 1) for place in range(many)])
    page = workspace.explain("r", (many,))._repr_html_()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert len(page) < 100_000


def test_edges_lead_to_what_a_step_rests_on() -> None:
    proof = proof_of("c")
    graph = proof.to_networkx()
    assert sorted(graph.nodes) == list(range(len(proof)))
    root = len(proof) - 1
    assert {graph.nodes[each]["relation"] for each in graph.successors(root)} == {"r", "e"}
    assert graph.nodes[root]["row"] == ("a", "c")
    lines = proof.to_dot().splitlines()
    assert sum(" -> " in line for line in lines) == graph.number_of_edges()
    hostile = proof_of(HOSTILE).to_dot()
    assert hostile.count("\n") == len(lines)
    assert '\\"]; <script>' in hostile
