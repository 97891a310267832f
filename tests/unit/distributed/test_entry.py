"""Entries: written in cuts, read by parts, whatever cut they were written in."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj import frames
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.row_files import read_entries, write_entry
from lftj.distributed.partitioning.cuts import ALL, ONE, Cut, HubCut
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP
from lftj.types import decimal as decimal_type
from lftj.types.dictionary import Dictionary

SCHEMA = RelationSchema("r", (("x", INT), ("y", STR)))
PARTS = 3
Rows = set[tuple[int, str]]


def delta_of(inserts: Rows, erases: Rows, dictionary: Dictionary) -> Delta:
    """A change of rows of SCHEMA."""
    columns = [
        frames.read(sorted(rows), SCHEMA.columns, dictionary=dictionary).columns
        if rows
        else [np.empty(0, np.int64)] * 2
        for rows in (inserts, erases)
    ]
    return Delta(Delta.insertion(columns[0]).inserts, Delta.deletion(columns[1]).erases)


def tuples(columns: list[np.ndarray], dictionary: Dictionary) -> Rows:
    return set(frames.to_tuples([INT, STR], columns, dictionary))


rows = st.sets(st.tuples(st.integers(-3, 9), st.sampled_from(["a", "b", "ü", ""])), max_size=12)


BY_TEXT, OTHER, BY_NUMBER = HubCut(0, 1, (1, 2, 3)), HubCut(0, 1, (4,)), HubCut(1, 0, ("a", "ü"))
EVERYWHERE = HubCut(1, None, ("a", "ü"))
CUTS = st.sampled_from(
    [
        (0,),
        (1,),
        (1, 0),
        (ONE,),
        (0, ONE),
        (BY_TEXT,),
        (0, BY_NUMBER),
        (BY_TEXT, 0),
        (OTHER, EVERYWHERE),
    ]
)


@given(rows, rows, CUTS)
def test_rows_of_hubs_without_a_second_column_are_read_by_all_parts(
    inserts: Rows, erases: Rows, cuts: tuple[Cut, ...]
) -> None:
    import tempfile

    erases -= inserts
    with tempfile.TemporaryDirectory() as folder:
        dictionary = Dictionary()
        entry = write_entry(
            Path(folder),
            "e",
            4,
            SCHEMA,
            delta_of(inserts, erases, dictionary),
            cuts,
            PARTS,
            dictionary,
        )
        assert entry.rows == len(inserts) + len(erases)
        changes = [
            read_entries(Path(folder), [entry], SCHEMA, EVERYWHERE, part, PARTS, dictionary)
            for part in range(PARTS)
        ]
        for rows, found in (
            (inserts, [each.inserts for each in changes]),
            (erases, [each.erases for each in changes]),
        ):
            seen = [tuples(columns, dictionary) for columns in found]
            hubs = {row for row in rows if row[1] in ("a", "ü")}
            assert all(hubs <= each for each in seen)
            assert sorted(row for each in seen for row in each - hubs) == sorted(rows - hubs)
        if (holding := entry.holding(EVERYWHERE)) is not None:
            assert all(
                len(change) == 0 for part, change in enumerate(changes) if part not in holding
            )


@given(rows, rows, CUTS, st.sampled_from([0, 1, BY_TEXT, BY_NUMBER]))
def test_parts_read_their_rows_and_no_others(
    inserts: Rows, erases: Rows, cuts: tuple[Cut, ...], cut: Cut
) -> None:
    import tempfile

    erases -= inserts
    with tempfile.TemporaryDirectory() as folder:
        dictionary = Dictionary()
        entry = write_entry(
            Path(folder),
            "e",
            4,
            SCHEMA,
            delta_of(inserts, erases, dictionary),
            cuts,
            PARTS,
            dictionary,
        )
        assert Entry.from_json(entry.to_json()) == entry
        assert entry.rows == len(inserts) + len(erases)
        seen_in, seen_out = [], []
        for part in range(PARTS):
            other = Dictionary()
            change = read_entries(Path(folder), [entry], SCHEMA, cut, part, PARTS, other)
            seen_in.append(tuples(change.inserts, other))
            seen_out.append(tuples(change.erases, other))
            holding = entry.holding(cut)
            assert holding is None or (part in holding) == bool(seen_in[-1] | seen_out[-1])
            whole = read_entries(Path(folder), [entry], SCHEMA, ALL, part, PARTS, other)
            assert tuples(whole.inserts, other) == inserts
        assert sorted(x for each in seen_in for x in each) == sorted(inserts)
        assert sorted(x for each in seen_out for x in each) == sorted(erases)
        assert len(read_entries(Path(folder), [entry], SCHEMA, ONE, 1, PARTS, dictionary)) == 0
        assert {path.suffix for path in Path(folder).iterdir()} == {".arrow"}


@given(st.lists(st.tuples(rows, rows), max_size=4))
def test_the_last_entry_that_mentions_a_row_holds(changes: list[tuple[Rows, Rows]]) -> None:
    import tempfile

    present: Rows = set()
    with tempfile.TemporaryDirectory() as folder:
        dictionary, entries = Dictionary(), []
        for number, (inserts, erases) in enumerate(changes):
            delta = delta_of(inserts, erases - inserts, dictionary)
            entries.append(
                write_entry(
                    Path(folder), f"{number}", number, SCHEMA, delta, (0,), PARTS, dictionary
                )
            )
            present = (present - erases) | inserts
        read = read_entries(Path(folder), entries, SCHEMA, ONE, 0, PARTS, dictionary)
        assert tuples(read.inserts, dictionary) == present


def test_values_of_every_type_come_back(tmp_path: Path) -> None:
    types = (INT, FLOAT, STR, BOOL, DATE, TIMESTAMP, decimal_type(9, 2))
    schema = RelationSchema("all", tuple((f"c{place}", type) for place, type in enumerate(types)))
    when = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    row = (-(2**63), -0.5, "\uffff", True, datetime.date(1, 1, 1), when, decimal.Decimal("-1.05"))
    dictionary = Dictionary()
    columns = frames.read([row], schema.columns, dictionary=dictionary).columns
    entry = write_entry(
        tmp_path, "e", 1, schema, Delta.insertion(columns), (3, 6), PARTS, dictionary
    )
    other = Dictionary()
    other.encode(["something else"])
    found = read_entries(tmp_path, [entry], schema, ONE, 0, PARTS, other)
    assert frames.to_tuples(types, found.inserts, other) == [row]


def test_rows_without_columns(tmp_path: Path) -> None:
    schema, dictionary = RelationSchema("flag", ()), Dictionary()
    entry = write_entry(
        tmp_path,
        "e",
        1,
        schema,
        Delta.insertion([np.zeros(1, np.int64)]),
        (ONE,),
        PARTS,
        dictionary,
    )
    assert read_entries(tmp_path, [entry], schema, ONE, 0, PARTS, dictionary).inserted == 1
    assert read_entries(tmp_path, [entry], schema, ONE, 1, PARTS, dictionary).inserted == 0


@pytest.mark.parametrize("damage", ["short", "a letter", "a number", "the last byte"])
def test_a_damaged_file_is_an_error_and_no_rows(tmp_path: Path, damage: str) -> None:
    dictionary = Dictionary()
    rows = {(7_000_000_000_000_001, "abcdefghijklm"), (2, "b")}
    entry = write_entry(
        tmp_path, "e", 1, SCHEMA, delta_of(rows, set(), dictionary), (0,), PARTS, dictionary
    )
    file = tmp_path / entry.pieces[0].file
    content = bytearray(file.read_bytes())
    places = {
        "a letter": content.index(b"abcdefghijklm") + 5,
        "a number": content.index(np.int64(7_000_000_000_000_001).tobytes()) + 1,
        "the last byte": len(content) - 1,
    }
    if damage == "short":
        del content[100:]
    else:
        content[places[damage]] ^= 1
    file.write_bytes(content)
    with pytest.raises(lftj.DistributedError, match="is damaged") as caught:
        read_entries(tmp_path, [entry], SCHEMA, ONE, 0, PARTS, dictionary)
    assert caught.value.code == "E403"
