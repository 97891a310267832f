"""Histories of all kinds run in all ways, and end with the rows of an evaluation from nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bench.histories
from bench.__main__ import main
from bench.figure import ResultsDiffer
from bench.histories.facts import subject
from bench.histories.kinds import KINDS
from bench.histories.playing import Taken, play
from bench.histories.programs import RULES, locked, split
from bench.histories.ways import ANEW, OURS, WAYS, Player

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("program", RULES)
def test_rows_of_every_program_go_and_come(program: str) -> None:
    small = subject(program, "s", 1)
    taken = [each for kind in ("bridge", "rules") for each in play(small, kind, "s", [OURS])]
    kinds = {each.kind for each in taken}
    assert kinds == {"bridge, out", "bridge, back", "rule out", "rule in"}
    assert all(each.seconds > 0 and each.evaluation > 0 for each in taken)


def test_every_kind_is_played_in_every_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.histories.kinds.TRIED", {"s": 30})
    monkeypatch.setattr("bench.histories.playing.HOPELESS", float("inf"))
    file = tmp_path / "histories.json"
    words = ["histories", "--size", "s", "--program", "even and odd", "--json", str(file)]
    assert main(words) == 0
    commits = json.loads(file.read_text())["commits"]
    assert {each["way"] for each in commits} == set(WAYS)
    few = {"hundred", "thousand"}  # there are not as many rows
    assert {each["history"] for each in commits} == set(KINDS) - few
    assert "sliding window" in capsys.readouterr().out


def test_what_has_no_effect_changes_no_row_and_the_lock_all() -> None:
    small = subject("even and odd", "s", 1)
    player = Player(small, OURS)
    steps = list(KINDS["no effect"](small, "m"))
    assert steps
    for step in steps:
        player.play(step.change)
        assert player.rows_changed() == 0
    locking = Player(small, OURS, lock=True)
    rows = sum(len(locking.workspace[name]) for name in ("odd", "even"))
    for step in KINDS["unlocking"](small, "s"):
        locking.play(step.change)
        assert locking.rows_changed() == rows > 1_000


def test_rules_that_begin_are_locked() -> None:
    assert locked(split(RULES["non-linear closure"])[1]) == [
        "path(x, y) :- edge(x, y), on(1).",
        "path(x, z) :- path(x, y), path(y, z).",
    ]


def test_published_facts_are_read_where_they_are() -> None:
    (published,) = bench.histories.subjects(("CSPA, published",), "m", DATA)
    assert len(published.rows()) > 1_000
    assert list(bench.histories.subjects(("CSPA, published",), "m", None)) == []


def test_a_ratio_begins_beyond_what_any_commit_may_take() -> None:
    fast, slow = (Taken("p", 1, "ten", "ten, out", OURS, s, 0.1) for s in (0.0005, 0.101))
    assert (fast.ratio, slow.ratio) == (0, pytest.approx(1))
    mean, p95, worst = bench.histories.numbers([fast, slow])
    assert mean == pytest.approx((1e-3 * 1) ** 0.5)
    assert p95 == pytest.approx(0.95)
    assert worst == slow.ratio


def test_views_that_are_not_true_in_the_end_are_no_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgetful(player: Player, change: object) -> float:
        step = next(KINDS["single"](small, "s"))
        assert not isinstance(step.change, int)
        player.commit([step.change] if player.way == OURS else [])
        return 0.0

    small = subject("non-linear closure", "s", 1)
    monkeypatch.setattr(Player, "play", forgetful)
    with pytest.raises(ResultsDiffer, match="non-linear closure, bridge, anew, rows of edge"):
        list(play(small, "bridge", "s", [OURS, ANEW]))


def test_seeds_draw_other_facts() -> None:
    one, two = (subject("points-to", "s", seed).rows() for seed in (1, 2))
    assert not np.array_equal(one, two)
