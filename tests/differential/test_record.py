"""The choices of the engine are those of the record: a part of it here, all of it by `uv run python
-m tests.record check`.
"""

from __future__ import annotations

import json

import pytest

import lftj
from tests.record import lines, names
from tests.record.__main__ import drawn, main, recorded, report
from tests.record.lines import Commit, Work, differences
from tests.record.observing import observed
from tests.record.taped import Taped, spec_of
from tests.strategies.histories import AddRule, Change, RemoveRule, TakeSnapshot, Transact
from tests.strategies.schemas import BASES, DOMAINS, Spec

EVERY = 7
RENEW = """The engine chooses otherwise than recorded (strategy, kernel steps or rows of a rule at a
commit), or a test drew in it.
Where this is wanted: `uv run python -m tests.record check` shows all of it, `uv run python -m
tests.record write` renews the record, and the message of the commit explains each kind of
difference. Renamed words go into tests/record/names.py."""


def test_every_seventh_history_does_what_is_recorded():
    found = drawn(EVERY)
    was = recorded("histories")
    assert len(found) >= len(was) // EVERY
    told = list(report({name: was[name] for name in found if name in was}, found))
    assert not told, "\n".join([RENEW, *told])


def test_what_is_recorded_has_every_strategy_that_needs_no_parts_of_a_cluster():
    taken = set(lines.totals(recorded("histories")))
    assert taken >= {
        "update",
        "full",
        "fallback",
        "forecast",
        "added",
        "removed",
        "bootstrap",
        "parts",
        "choice",
    }


def test_the_text_of_a_record_is_read_as_it_was_written():
    for part in ("histories", "bench", "data"):
        assert lines.text_of(recorded(part)) == lines.read(lines.HERE / f"{part}.txt.xz")


def work(relation: str = "tree", strategy: str = "update", steps: int = 20) -> Work:
    return Work(relation, "#2", strategy, (1, 1, 1, steps, 2, 2))


def test_a_difference_names_history_commit_and_rule():
    was = {"a/1": [Commit(1, "", [work()]), Commit(1, "E310")], "a/2": [Commit(1)]}
    other = {
        "a/1": [
            Commit(1, "", [work(strategy="full", steps=21), work("late")]),
            Commit(2, "", [work()]),
        ]
    }
    assert list(differences(was, was)) == []
    assert list(differences(was, other)) == [
        "a/1, commit 1, late #2: work that was not there: update, surgeries 1, stabs 1, regions 1, "
        "steps 20, assignments 2, head_changes 2",
        "a/1, commit 1, tree #2: strategy update → full, steps 20 → 21",
        "a/1, commit 2: was commit 1 E310, is accepted",
        "a/1, commit 2, tree #2: work that was not there: update, surgeries 1, stabs 1, regions 1, "
        "steps 20, assignments 2, head_changes 2",
        "a/2: recorded, but not run",
    ]
    assert list(report(was, was)) == []
    assert list(report(was, other))[-3:] == [
        "5 differences in 2 of 1 histories",
        "  full: 0 times, 0 steps → 1 times, 21 steps",
        "  update: 1 times, 20 steps → 2 times, 40 steps",
    ]


def test_a_renamed_word_is_one_line(monkeypatch: pytest.MonkeyPatch):
    text = lines.text_of({"a": [Commit(1, "", [work("rule4#not1"), work("touched#x")])]})
    monkeypatch.setitem(names.RENAMED, "update", "maintain")
    monkeypatch.setitem(names.RENAMED, "touched", "affected")
    (commit,) = lines.record_of(text)["a"]
    assert {(each.relation, each.strategy) for each in commit.works} == {
        ("rule4#not1", "maintain"),
        ("affected#x", "maintain"),
    }


def test_a_history_is_read_as_it_was_taped():
    rows = tuple(
        (value,) for values in DOMAINS.values() for value in (*values, float("inf"), -(2**63))
    )
    taped = Taped(
        "a/1", [spec_of(spec) for spec in BASES], elastic=float("inf"), trace="exact+first"
    )
    for step in Transact((Change("insert", "x", rows), RemoveRule(3)), True), TakeSnapshot():
        taped.add(step)
    assert Taped.of_line(taped.line) == Taped(**json.loads(json.dumps(vars(taped))))
    assert Taped.of_line(taped.line).line == taped.line


def test_a_history_that_is_played_refuses_rolls_back_and_commits():
    from tests.oracle.pair import rule_of

    taped = Taped(
        "a/1", [spec_of(Spec("k", ("int", "int"), key=(0,))), spec_of(Spec("v", ("int",)))]
    )
    rule = AddRule(rule_of("v(y) :- k(_, y)."))
    twice = Change("insert", "k", ((1, 2), (1, 3)))
    for step in (
        Transact((rule, twice)),
        Transact((rule,), rollback=True),
        Transact((rule, Change("insert", "k", ((1, 2),)))),
        TakeSnapshot(),
        Transact((RemoveRule(5),)),
    ):
        taped.add(step)
    found = Taped.of_line(taped.line).play()
    assert [
        (commit.number, commit.refused[:1], [each.relation for each in commit.works])
        for commit in found[-3:]
    ] == [
        (0, "E", []),
        (1, "", ["v"]),
        (2, "", []),
    ]


def test_every_commit_of_every_workspace_is_seen():
    seen: list[tuple[int, int, list[Work]]] = []
    with observed(lambda *commit: seen.append(commit)):
        for _ in range(2):
            workspace = lftj.connect()
            workspace.add_rules(".decl e(x: number) .decl v(x: number) v(x) :- e(x).")
            workspace.load("e", [(1,), (2,)])
            assert [*map(Work.of, workspace.profile(last=1).itertuples())] == seen[-1][2]
    assert [
        (number, version, [each.strategy for each in works]) for number, version, works in seen
    ] == [
        (1, 1, ["full"]),
        (1, 2, ["update"]),
        (2, 1, ["full"]),
        (2, 2, ["update"]),
    ]


@pytest.mark.parametrize("more", [[], ["--data", "nowhere"]])
def test_data_that_is_not_there_is_said(
    more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--part", "data", *more])
    said = capsys.readouterr().err
    assert ("needs --data PATH" if not more else "nowhere/graphs/bitcoin-otc.csv.xz is not") in said
