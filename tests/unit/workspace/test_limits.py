from __future__ import annotations

import threading

import pytest

import lftj
from tests.unit.workspace.reading import GRAPH, rows


def test_limits_roll_back(graph):
    before = rows(graph, "reach")
    with graph.limits(seconds=-1.0), pytest.raises(lftj.LimitError, match="time limit"):
        graph.load("edge", [(i, i + 1) for i in range(10, 200)])
    with (
        graph.limits(work=10),
        pytest.raises(lftj.LimitError, match="work limit of 10 steps") as caught,
    ):
        graph.load("edge", [(i, i + 1) for i in range(10, 200)])
    assert caught.value.code == "E330"
    with graph.limits(memory=1), pytest.raises(lftj.LimitError, match="memory limit"):
        graph.query("reach(x, y), reach(y, z)")
    assert rows(graph, "reach") == before
    graph.load("edge", [(10, 11)])
    assert (10, 11) in rows(graph, "reach")


def test_strings_that_grow_are_work(ws):
    ws.add_rules(
        '.decl g(s: symbol)\n.decl start(s: symbol)\ng(s) :- start(s). g(cat(s, "a")) :- g(s).'
    )
    place = "in a rule for `g`"
    with ws.limits(work=50_000), pytest.raises(lftj.LimitError, match=f"work limit.*{place}"):
        ws.load("start", [("a" * 10_000,)])  # within some forty rounds
    assert (len(ws["g"]), len(ws["start"])) == (0, 0)


def test_limits_hold_where_there_is_nothing_to_evaluate(ws):
    ws.relation("p", {"x": int})
    with ws.limits(memory=1), pytest.raises(lftj.LimitError, match="memory limit"):
        ws.load("p", [(1,)])
    assert len(ws["p"]) == 0


def test_limits_nest_and_hold_for_one_thread(graph):
    with graph.limits(work=1):
        with graph.limits(work=10**9):
            assert graph.query("reach(x, y), reach(y, z)")
        found = []
        thread = threading.Thread(
            target=lambda: found.append(len(graph.query("reach(x, y), reach(y, z)")))
        )
        thread.start()
        thread.join()
        assert found == [1]
        with pytest.raises(lftj.LimitError):
            graph.query("reach(x, y), reach(y, z)")


def test_strings_count_towards_the_memory_limit(ws):
    ws.add_rules(".decl grown(text: symbol, n: number)")
    with ws.limits(memory=32 << 20), pytest.raises(lftj.LimitError, match="strings 3") as caught:
        ws.add_rules('grown("a", 0). grown(cat(x, x), n + 1) :- grown(x, n), n < 60.')
    assert caught.value.code == "E332"
    assert ws.rules == []


@pytest.mark.parametrize("given", [{"seconds": "3"}, {"work": True}, {"memory": float("nan")}])
def test_a_limit_is_a_number(ws, given):
    with pytest.raises(
        lftj.LftjError, match=f"limit `{next(iter(given))}` is a number of "
    ) as caught:
        ws.limits(**given)
    assert caught.value.code == "E160"


def test_limits_without_a_block_say_that_they_bound_nothing(ws):
    with pytest.warns(RuntimeWarning, match="inside `with ws.limits"):
        ws.limits(seconds=1)


def test_a_closed_workspace_says_so(graph):
    snapshot = graph.snapshot()
    with graph:
        pass
    graph.close()
    assert repr(graph) == "<Workspace, closed>"
    with pytest.raises(lftj.LftjError, match="the workspace is closed") as caught:
        graph["reach"]
    assert (caught.value.code, caught.value.hint) == (
        "E341",
        "open another one with lftj.connect()",
    )
    assert len(snapshot["reach"]) == 3


def test_progress_is_told_what_is_evaluated():
    said = []
    ws = lftj.connect(progress=said.append)
    ws.add_rules(GRAPH + "edge(1, 2).")
    assert any("reach" in line for line in said)


@pytest.mark.parametrize(
    "rule",
    [
        "four(a, b, c, d) :- pair(a, b), pair(c, d).",
        "ends(a, d) :- pair(a, b), pair(c, d), b != c.",
        None,
    ],
)
def test_rows_on_their_way_count_towards_the_memory_limit(ws, rule):
    ws.add_rules(
        ".decl pair(x: number, y: number) .decl four(a: number, b: number, c: number, d: number) "
        ".decl ends(a: number, d: number)"
    )
    ws.load("pair", [(x, x * 7 % 3001) for x in range(3000)])
    before = ws.version
    with ws.limits(memory=40 << 20), pytest.raises(lftj.LimitError) as caught:
        ws.query("pair(a, b), pair(c, d)") if rule is None else ws.add_rules(rule)
    assert caught.value.code == "E332"
    assert ws.version == before
    assert len(ws["pair"]) == 3000
