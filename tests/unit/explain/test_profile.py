"""The profile of commits: rows of views, reasons in words, and what it reads as."""

from __future__ import annotations

import pytest

import lftj
from lftj.explain.figures.reasons import BY_MOVE, OUTCOMES, STRATEGIES, reason
from lftj.maintenance.inputs.rule_work import MOVES
from lftj.tuning.aids import EXTREMES, FINER_HEADS
from lftj.views.switchable import NAMES


@pytest.fixture
def ws() -> lftj.Workspace:
    """A closure, followed over some commits."""
    made = lftj.connect()
    made.add_rules(
        ".decl e(a: number, b: number) .decl t(a: number, b: number) .decl n(n: number)\n"
        "t(x, y) :- e(x, y).\nt(x, z) :- t(x, y), e(y, z).\nn(count()) :- t(_, _)."
    )
    made.load("e", [(i, i + 1) for i in range(10)])
    made.load("e", [(10, 11)])
    return made


def test_every_strategy_has_words() -> None:
    assert set(STRATEGIES) == {*NAMES, "compiled", "supersteps", EXTREMES, FINER_HEADS}
    assert all(reason(each, "update") for each in STRATEGIES)
    assert {strategy for strategy, _ in BY_MOVE} <= set(STRATEGIES)
    assert {moved for _, moved in BY_MOVE} <= set(MOVES)
    assert reason("iterations", "supersteps") == STRATEGIES["iterations"]
    assert set(OUTCOMES) >= {"update", "full", "fallback", "forecast", "added", "removed"}


@pytest.mark.parametrize("step", ["e(y, z)", "t(y, z)", "e(y, z), z != 99"])
@pytest.mark.parametrize("without", [set(), {"reachability"}, {"reachability", "counting"}])
def test_the_reason_goes_by_what_changed(step: str, without: set[str]) -> None:
    made = lftj.connect(tuning=lftj.Tuning(without=without))
    made.add_rules(
        ".decl e(a: number, b: number) .decl off(a: number) .decl t(a: number, b: number)\n"
        f"t(x, y) :- e(x, y), !off(x).\nt(x, z) :- t(x, y), {step}."
    )
    made.load("e", [(i, i + 1) for i in range(10)])
    for name, row, comes, gains in (
        ("e", (10, 11), True, True),
        ("e", (10, 11), False, False),
        ("off", (5,), True, False),
        ("off", (5,), False, True),
    ):
        with made.transaction() as tx:
            (tx.insert if comes else tx.delete)(name, [row])
        (rule,) = made.profile(last=1).to_dict()["commits"][0]["rules"]
        lost = [each for each in ("doubt", "lost", "come back") if each in rule["reason"]]
        assert not (gains and lost), rule["reason"]
        if rule["strategy"] in ("reachability", "rederivation"):
            assert gains or lost


def test_the_docstring_names_all_columns(ws: lftj.Workspace) -> None:
    text = lftj.Workspace.profile.__doc__ or ""
    assert [name for name in ws.profile() if f"`{name}`" not in text] == []


def test_rows_are_those_of_the_view_after_the_commit(ws: lftj.Workspace) -> None:
    (before, last) = ws.profile(last=2).to_dict()["commits"]
    rows = {each["relation"]: each["rows"] for each in last["rules"]}
    assert rows == {"t": len(ws["t"]), "n": 1}
    assert {each["relation"]: each["rows"] for each in before["rules"]}["t"] == 55
    assert all(each["reason"] for each in last["rules"])


def test_it_reads_as_its_frame(ws: lftj.Workspace) -> None:
    profile = ws.profile()
    frame = profile.df()
    assert profile["steps"].sum() == frame["steps"].sum()
    assert profile.iloc[-1]["relation"] == frame.iloc[-1]["relation"]
    assert (len(profile), list(profile)) == (len(frame), list(frame.columns))
    assert profile.to_dict("records") == frame.to_dict("records")
    assert len(ws.profile(last=0)) == 0
    assert ws.profile(last=0).empty


def test_it_is_shown(ws: lftj.Workspace) -> None:
    text = str(ws.profile(last=1))
    assert text.startswith("1 commit\n  version ")
    assert "the change is followed" in text
    assert "<summary>1 commit</summary>" in ws.profile(last=1)._repr_html_()
    assert ws.profile().to_dot().startswith("digraph views {")
    graph = ws.profile().to_networkx()
    assert set(graph.edges) == {("e", "t"), ("t", "group 1"), ("group 1", "n")}
    assert graph.nodes["group 1"]["seconds"] > 0
    assert graph.nodes["t"]["seconds"] > 0


def test_compilation_is_apart(ws: lftj.Workspace) -> None:
    for commit in ws.profile().to_dict()["commits"]:
        assert commit["seconds"] == sum(each["seconds"] for each in commit["rules"])
        assert commit["compile_seconds"] >= 0


def test_a_workspace_and_its_results_are_shown(ws: lftj.Workspace) -> None:
    data = ws.to_dict()
    assert {each["name"]: (each["kind"], each["rows"]) for each in data["relations"]} == {
        "e": ("relation", 11),
        "t": ("recursive view", 66),
        "n": ("view", 1),
    }
    assert data["relations"][1]["rules"] == [1, 2]
    assert data == ws.snapshot().to_dict()
    assert 's0 [label="e\\n11 rows", style=filled];' in ws.to_dot()
    assert set(ws.to_networkx().edges) == {("e", "t"), ("t", "t"), ("t", "n")}
    assert "<details" in ws._repr_html_()
    rows = ws["e"].to_dict()
    assert rows["columns"] == {"a": "int", "b": "int"}
    assert rows["rows"] == ws["e"].fetchall()
    assert set(ws["e"].to_networkx().edges) == set(ws["e"].fetchall())
    assert ws["n"].to_dot().count("label=") == 1
    with pytest.raises(lftj.DeclarationError):
        ws.query("e(1, 2)").to_dot()


def test_names_in_pages_are_escaped() -> None:
    ws = lftj.connect()
    ws.add_rules('.decl e(a: symbol) .decl v(a: symbol) v(x) :- e(x), x != "<script>".')
    ws.load("e", [("<b>",)])
    for shown in (
        ws._repr_html_(),
        ws.plan()._repr_html_(),
        ws.explain_plan(ws.rules[0], analyze=True)._repr_html_(),
        ws.explain_plan('e("<script>")', analyze=True)._repr_html_(),
        ws.why_not("v", ("<script>",))._repr_html_(),
        ws.explain("v", ("<b>",))._repr_html_(),
    ):
        assert "<script>" not in shown
        assert "<b>" not in shown
