"""Small pieces of work go no further through the code than recorded in `bench/journey`."""

from __future__ import annotations

import pytest

import bench.journey
from bench.__main__ import main
from bench.journey import measured
from bench.journey.counting import FIGURES, Counts, Room, counted
from bench.journey.record import VERSION, differences, record_of, recorded, text_of
from lftj.scantree.sharing import ALONE
from lftj.types.dictionary import Dictionary

RENEW = "`uv run python -m bench journey --write` renews the record, in the same commit"


def of(calls: int, bytecodes: int = 90, files: int = 2) -> Counts:
    """The counts of a journey through two rooms."""
    figures = dict(zip(FIGURES, (3, files, 4, 5, calls, bytecodes), strict=True))
    room = Room(1, 1, 1, 4, 30)
    return Counts(figures, {"lftj/join": room, "scantree": Room(2, 1, 1, calls - 4, bytecodes)})


def test_no_journey_is_longer_than_recorded_and_every_gain_is_written_down() -> None:
    was, python = recorded()
    listed = list(differences(was, measured(), python == VERSION))
    rose = [str(each) for each in listed if each.rose]
    assert not rose, "\n".join(
        ["Longer than recorded; find out why, or, where it is wanted, add --rises:", *rose, RENEW]
    )
    assert not listed, "\n".join(["Otherwise than recorded:", *map(str, listed), RENEW])


def test_code_of_ours_counts_and_no_other() -> None:
    names = Dictionary(ALONE)
    counts = counted(lambda: sorted(map(str, range(9)), key=lambda each: each[::-1]))
    assert set(counts.figures.values()) == {0}
    assert not counts.rooms
    first = counted(lambda: names.encode(["a", "b"]))
    assert first.figures["bytecodes"] > first.figures["calls"] >= first.figures["functions"] > 0
    assert first.figures["files"] == sum(room.files for room in first.rooms.values())
    assert first.figures["bytecodes"] == sum(room.bytecodes for room in first.rooms.values())
    assert counted(lambda: names.encode(["a", "b"])) == counted(lambda: names.encode(["b", "a"]))


def test_a_difference_says_what_rose_and_in_which_room() -> None:
    was, now = {"a": of(10), "gone": of(1)}, {"a": of(12, 80), "new": of(3)}
    said = [str(each) for each in differences(was, now)]
    assert not list(differences({"a": of(9, 1_000)}, {"a": of(9, 1_005)}))
    assert said[:2] == [
        "a: calls 10 → 12 (rose), scantree +2",
        "a: bytecodes 90 → 80 (fell), scantree -10",
    ]
    assert [each.figure for each in differences(was, now, same_python=False)][:2] == [
        "calls",
        "functions",
    ]
    assert [each.rose for each in differences(was, now)] == [True, *[False] * 13]


def test_the_record_is_read_as_it_was_written() -> None:
    record = {"one": of(10), "two": of(20)}
    assert record_of(text_of(record, "3.11")) == (record, "3.11")


def test_a_rise_is_written_only_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("record") / "figures.json"
    for module in (bench.journey, bench.journey.record):
        monkeypatch.setattr(module, "FILE", file)
    file.write_text(text_of({"a": of(10)}))

    def run(found: Counts, *words: str) -> tuple[int, int]:
        monkeypatch.setattr(bench.journey, "measured", lambda: {"a": found})
        return main(["journey", *words]), recorded()[0]["a"].figures["calls"]

    assert run(of(9)) == (0, 10)
    assert run(of(9), "--write") == (0, 9)
    assert run(of(10), "--write") == (1, 9)
    assert run(of(10), "--write", "--rises") == (0, 10)
