"""The page about a workspace: whole, without network, and closed to what data holds."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

import lftj
from lftj.cli import main
from lftj.report import render
from lftj.report.strata import SHOWN, layout
from tests.unit.report.pages import HOSTILE, RULES, Parts, data_in, entitled


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of hostile data."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    assert entitled().report(path) == path
    return path.read_text(encoding="utf-8")


def test_the_page_needs_no_network(text: str) -> None:
    parts = Parts(text)
    assert not re.findall(r"https?://", text)
    assert [each for _, attributes in parts.elements for each in attributes if each == "src"] == []
    links = [each["href"] for each in parts.named("a") + parts.named("link")]
    assert all(link and link.startswith(("#", "data:")) for link in links)


def test_no_data_becomes_an_element_or_a_script(text: str) -> None:
    parts = Parts(text)
    assert [name for name, _ in parts.elements if name in ("img", "iframe")] == []
    assert [
        name
        for _, attributes in parts.elements
        for name in attributes
        if name.startswith("on") or name == "style"
    ] == []
    assert [each.get("type") for each in parts.named("script")] == ["application/json", None]
    assert "alert(1)" not in "".join(part for name, part in parts.texts if name == "style")
    shown = "".join(part for name, part in parts.texts if name == "code")
    assert all(each.split("\u2028")[0].split('"')[0] in shown for each in HOSTILE)
    assert "{{ 7 * 7 }}" in shown


def test_the_policy_allows_this_script_and_style_alone(text: str) -> None:
    parts = Parts(text)
    (policy,) = [each["content"] for each in parts.named("meta") if "http-equiv" in each]
    assert policy is not None
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        (own,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy


def test_samples_are_explained(text: str) -> None:
    data = data_in(text)
    proof = data["explained"]['may("ann", "wiki")']
    assert proof == str(entitled().explain("may", ("ann", "wiki")))
    buttons = [each["data-row"] for each in Parts(text).named("button") if "data-row" in each]
    assert set(buttons) == set(data["explained"])
    assert data["version"] == 3
    assert [each[0] for each in data["commits"]] == [3, 2, 1]
    assert data["commits"][0][2] == HOSTILE[0]


def test_the_page_tells_of_rules_commits_and_memory(text: str) -> None:
    assert "variable order" in text
    assert "kept up to date with its recursive stratum" in text
    assert "grant +2" in text
    assert "(dictionary)" in text
    assert "delta queries" in text
    assert text.count('class="edge"') == 5


@pytest.mark.parametrize("most", [3e-6, 0.00123, 0.99, 1.0, 2.3, 9.99, 55.0])
def test_bars_have_plain_times_and_versions_as_axes(most: float) -> None:
    commits = [[version, "", "", "", most / version, 0.0, 0.0] for version in range(75, 0, -1)]
    bars = render._bars(commits)
    places = [place for place, _ in bars["times"]]
    assert 2 <= len(places) <= 5
    assert places == sorted(places, reverse=True)
    ground = bars["bars"][0]["y"] + bars["bars"][0]["h"]
    assert places[0] == ground
    assert min(places) >= bars["bars"][0]["y"]
    assert bars["times"][0][1] == "0"
    assert [version for _, version in bars["versions"]] == [1, 11, 21, 31, 41, 51, 61, 71]
    assert [version for _, version in render._bars(commits[9:])["versions"]][-2:] == [61, 66]
    assert bars["bars"][10]["x"] <= bars["versions"][1][0] <= bars["bars"][11]["x"]


def test_headings_labels_and_ids_are_in_order(text: str) -> None:
    parts = Parts(text)
    ids = [attributes["id"] for _, attributes in parts.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in parts.elements:
        for name in ("aria-labelledby", "for"):
            assert name not in attributes or attributes[name] in ids
        assert attributes.get("tabindex", "0") == "0"
    levels = [int(name[1]) for name, _ in parts.elements if re.fullmatch(r"h\d", name)]
    assert levels[0] == 1
    assert all(after - before <= 2 for before, after in pairwise(levels))
    assert parts.named("html")[0]["lang"] == "en"


def _luminance(colour: str) -> float:
    found = 0.0
    for place, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)):
        part = int(colour[place : place + 2], 16) / 255
        found += weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    return found


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough_to_read(theme: int) -> None:
    style = (Path(render.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    block = style.split(":root {")[1 + theme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block.partition("}")[0]))
    pairs = [("ink", "paper"), ("quiet", "paper"), ("accent", "paper"), ("on-accent", "accent")]
    pairs += [("ink", "raised"), ("quiet", "raised"), ("ink", "base"), ("quiet", "base")]
    for front, back in pairs:
        light, dark = sorted(map(_luminance, (colours[front], colours[back])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)


def test_no_samples_show_no_rows(tmp_path: Path) -> None:
    text = entitled().report(tmp_path / "page.html", samples=0).read_text(encoding="utf-8")
    assert "ann" not in text.partition('id="commits"')[0]
    assert data_in(text)["explained"] == {}


def test_an_empty_workspace_has_a_page(tmp_path: Path) -> None:
    text = lftj.connect().report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "There are no rules yet." in text


def test_rows_of_all_types_are_shown_and_explained(tmp_path: Path) -> None:
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(a: number, b: float, c: symbol) .decl v(a: number, b: float, c: symbol)\n"
        ".decl yes()\nv(a, b, c) :- e(a, b, c).\nyes() :- e(_, _, _)."
    )
    ws.load("e", [(-1, 0.5, "x" * 500), (2, float("inf"), 'a"b\\c\n')])
    text = ws.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(data_in(text)["explained"]) == 5


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(lftj.FrameError) as caught:
        lftj.connect().report(tmp_path / "none" / "page.html")
    assert caught.value.code == "E232"


def test_a_large_graph_is_cut() -> None:
    one = {"stratum": 1, "rules": [1], "reads": ["r0"], "rows": 1, "kind": "view"}
    graph = layout([{**one, "name": f"r{number}"} for number in range(SHOWN + 5)])
    assert (len(graph["nodes"]), graph["left_out"]) == (SHOWN, 5)


def test_columns_lead_from_base_facts_to_the_last_views() -> None:
    relations = entitled().to_dict()["relations"]
    at = {each["name"]: each["x"] for each in layout(relations)["nodes"]}
    assert at["member"] < at["in"] < at["may"]
    assert at["grant"] == at["deny"] == at["in"], "each stands next to whoever reads it first"


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.dl").write_text(f'{RULES}\n.input grant\nmember("ann", "dev").\n')
    (tmp_path / "grant.facts").write_text("dev\trepo\n")
    page = tmp_path / "page.html"
    program = str(tmp_path / "rules.dl")
    assert main(["report", program, "-F", str(tmp_path), "-o", str(page)]) == 0
    assert capsys.readouterr().out.strip() == str(page)
    assert 'may("ann", "repo")' in data_in(page.read_text(encoding="utf-8"))["explained"]
    with lftj.connect(tmp_path / "saved.lftj") as ws:
        entitled(ws)
    assert main(["report", str(tmp_path / "saved.lftj"), "-o", str(page), "--samples", "1"]) == 0
    assert len(data_in(page.read_text(encoding="utf-8"))["explained"]) == 5
