"""Deliveries of a step to each part: of the record batches of all, each part reads its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from lftj.distributed.files.deliveries import read_delivery, write_delivery
from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.partitioning.cuts import ALL, EVERYBODY, ONE, Cut
from lftj.errors import DistributedError

PARTS = 3
BY_PART = Piece("home.arrow", 0, ((0, 10), (1, 20), (2, 30)), (100, 101, 102))
OTHERWISE = Piece("other.arrow", 1, ((2, 40), (EVERYBODY, 20)), (103, 104))
ENTRY = Entry(7, (BY_PART, OTHERWISE), 999)


def brought(folder: Path, cuts: list[Cut], entry: Entry = ENTRY) -> list[dict[str, list[int]]]:
    """For each part the rows of the batches that it is told, by file."""
    file = folder / "rows" / "step.parts"
    write_delivery(file, {"e": [entry]}, {"e": cuts}, PARTS)
    found: list[dict[str, list[int]]] = []
    for part in range(PARTS):
        told: dict[str, list[int]] = {}
        for one in read_delivery(file, part).get("e", ()):
            assert (one.version, one.bytes) == (entry.version, entry.bytes)
            for piece in one.pieces:
                told[piece.file] = [rows for _, rows in piece.parts]
        found.append({name: rows for name, rows in told.items() if rows})
    return found


def test_a_part_is_told_its_own_batches(tmp_path: Path) -> None:
    assert brought(tmp_path, [0]) == [{"home.arrow": [10 * part]} for part in (1, 2, 3)]


def test_what_everybody_holds_is_told_to_all(tmp_path: Path) -> None:
    assert brought(tmp_path, [1]) == [
        {"other.arrow": [20]},
        {"other.arrow": [20]},
        {"other.arrow": [40, 20]},
    ]


def test_where_no_piece_lies_so_all_of_the_first_is_told(tmp_path: Path) -> None:
    for cut in (ALL, 2):
        assert brought(tmp_path, [cut]) == [{"home.arrow": [10, 20, 30]}] * PARTS


def test_several_cuts_bring_several_files(tmp_path: Path) -> None:
    told = brought(tmp_path, [0, 1])
    assert told[1] == {"home.arrow": [20], "other.arrow": [20]}
    assert told[2] == {"home.arrow": [30], "other.arrow": [40, 20]}


def test_what_one_part_reads_is_told_to_the_first(tmp_path: Path) -> None:
    assert brought(tmp_path, [ONE]) == [{"home.arrow": [10, 20, 30]}, {}, {}]


def test_numbers_and_checksums_stay_with_their_batches(tmp_path: Path) -> None:
    file = tmp_path / "step.parts"
    write_delivery(file, {"e": [ENTRY], "f": [ENTRY]}, {"e": [0], "f": [1]}, PARTS)
    log = read_delivery(file, 2)
    assert log["e"][0].pieces[0] == Piece("home.arrow", 0, ((2, 30),), (102,), (2,))
    assert log["f"][0].pieces[1] == Piece(
        "other.arrow", 1, ((2, 40), (EVERYBODY, 20)), (103, 104), (0, 1)
    )


def test_entries_of_which_a_part_reads_nothing_are_not_named(tmp_path: Path) -> None:
    file = tmp_path / "step.parts"
    one = Entry(1, (Piece("one.arrow", 0, ((1, 5),), (1,)),), 9)
    write_delivery(file, {"e": [one]}, {"e": [0]}, PARTS)
    assert [set(read_delivery(file, part)) for part in range(PARTS)] == [set(), {"e"}, set()]


def test_a_file_that_is_gone_or_damaged_is_told(tmp_path: Path) -> None:
    file = tmp_path / "step.parts"
    with pytest.raises(DistributedError) as caught:
        read_delivery(file, 0)
    assert caught.value.code == "E403"
    write_delivery(file, {"e": [ENTRY]}, {"e": [0]}, PARTS)
    content = file.read_bytes()
    for place in (10, len(content) - 3):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DistributedError) as caught:
            read_delivery(file, PARTS - 1)
        assert caught.value.code == "E403"
    file.write_bytes(content)
    assert read_delivery(file, PARTS - 1)["e"][0].version == 7
