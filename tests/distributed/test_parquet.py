"""Parquet files that executors read: what they hold, and what is said of those that do not fit, is
as in one process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from tests.distributed.inline import InlineExecutor


def both(folder: Path, parts: int = 3) -> list[Any]:
    return [lftj.connect(), lftj.connect(executor=InlineExecutor(folder, parts))]


def written(file: Path, table: dict[str, Any], row_group_size: int = 2) -> Path:
    pyarrow.parquet.write_table(pa.table(table), file, row_group_size=row_group_size)
    return file


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [1, 4, 8, 15])
def test_of_rows_with_one_key_the_last_one_of_a_file_is_meant(
    tmp_path: Path, parts: int, rows: int
) -> None:
    file = written(
        tmp_path / "k.parquet",
        {"x": [n % 2 for n in range(rows)], "t": [f"row {n}" for n in range(rows)]},
    )
    for workspace in both(tmp_path / "path", parts):
        workspace.relation("k", {"x": int, "t": str}, key="x")
        with workspace.transaction() as tx:
            tx.upsert("k", file)
        assert workspace["k"].fetchall() == [
            (n % 2, f"row {n}") for n in sorted(range(max(0, rows - 2), rows), key=lambda n: n % 2)
        ]


@pytest.mark.parametrize(
    ("table", "code", "said"),
    [
        (
            {"x": [1], "y": [2], "z": [3]},
            "E230",
            'e.parquet has columns that the relation lacks: "z"',
        ),
        ({"x": [1]}, "E230", 'e.parquet has no column "y"; it has "x"'),
        (
            {"x": pa.array([], pa.int64()), "y": pa.array([], pa.string())},
            "E210",
            'e.parquet, column "y": expected int, found string',
        ),
        (
            {"x": [1, 2, 3, 4, None], "y": [1, 2, 3, 4, 5]},
            "E200",
            'e.parquet, row 4, column "x": NULL is not a value',
        ),
    ],
)
@pytest.mark.parametrize("verb", ["insert", "delete"])
def test_files_that_do_not_fit_are_told_as_in_one_process(
    tmp_path: Path, table: Any, code: str, said: str, verb: str
) -> None:
    file = written(tmp_path / "e.parquet", table)
    for workspace in both(tmp_path / "path"):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(1, 2)])
        with pytest.raises(lftj.LftjError) as caught, workspace.transaction() as tx:
            getattr(tx, verb)("e", file)
        assert (caught.value.code, caught.value.message) == (code, said)
        assert workspace["e"].fetchall() == [(1, 2)]


def test_a_bad_value_in_a_folder_is_named_by_its_file_and_its_row_there(tmp_path: Path) -> None:
    folder = tmp_path / "days.parquet"
    for name in ("1", "2/rows", "3"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        values = [None if name != "1" and row == 4 else row for row in range(7)]
        written(folder / f"{name}.parquet", {"x": list(range(7)), "y": values})
    for workspace in both(tmp_path / "path"):
        workspace.relation("e", {"x": int, "y": int})
        with pytest.raises(lftj.NullValueError) as caught:
            workspace.load("e", folder)
        said = 'days.parquet/2/rows.parquet, row 4, column "y": NULL is not a value'
        assert caught.value.message == said


def test_rows_that_must_be_new_or_there_are_those_of_all_groups_of_a_file(tmp_path: Path) -> None:
    numbers = [row % 12 for row in range(36)]  # each comes in several groups
    file = written(tmp_path / "e.parquet", {"x": numbers, "y": numbers})
    told = list[list[str]]()
    for workspace in both(tmp_path / "path", 5):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(number, number) for number in range(6)])
        messages = list[str]()
        with pytest.raises(lftj.MissingRowError) as caught, workspace.transaction() as tx:
            tx.insert("e", file, existing="error")
        messages.append(str(caught.value))
        with pytest.raises(lftj.MissingRowError) as caught, workspace.transaction() as tx:
            tx.delete("e", file, missing="error")
        told.append([*messages, str(caught.value)])
        with workspace.transaction() as tx:
            tx.delete("e", [(number, number) for number in range(6)])
            tx.insert("e", file, existing="error")
        assert len(workspace["e"]) == 12
        with workspace.transaction() as tx:
            tx.delete("e", file, missing="error")
        assert len(workspace["e"]) == 0
    assert told[0] == told[1]
    assert all(" and 1 more are " in message for message in told[0])


@pytest.mark.parametrize(
    ("before", "after"), [((2, 2), (10, 2)), ((10, 2), (2, 2)), ((10, 2), (10, 5))]
)
def test_a_file_that_is_another_by_the_time_of_the_commit_is_told(
    tmp_path: Path, before: Any, after: Any
) -> None:
    workspace = both(tmp_path / "path")[1]
    workspace.relation("e", {"x": int, "y": int})
    tx = workspace.transaction()
    for rows, size in (before, after):
        numbers = list(range(rows))
        file = written(tmp_path / "e.parquet", {"x": numbers, "y": numbers[::-1]}, size)
        if not workspace.version and (rows, size) == before:
            tx.insert("e", file)
    with pytest.raises(
        lftj.FrameError, match=r"e\.parquet was changed after it was given"
    ) as caught:
        tx.commit()
    assert caught.value.code == "E232"
    assert workspace["e"].fetchall() == []
    assert workspace.load("e", file) == after[0]


def test_input_directives_may_name_them(tmp_path: Path) -> None:
    written(tmp_path / "e.parquet", {"x": [1, 2, 3]})
    for workspace in both(tmp_path / "path"):
        workspace.add_rules('.decl e(x: number)\n.input e(filename="e.parquet")', facts=tmp_path)
        assert workspace["e"].fetchall() == [(1,), (2,), (3,)]
        with pytest.raises(lftj.FrameError, match="delimiter says how text is written"):
            workspace.add_rules('.input e(filename="e.parquet", delimiter=",")', facts=tmp_path)


def test_a_program_whose_files_cannot_be_read_leaves_a_transaction_as_it_was(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.facts").write_text("1\n2\n")
    for workspace in both(tmp_path / "path"):
        workspace.add_rules(".decl kept(x: number)")
        with workspace.transaction() as tx:
            tx.insert("kept", [(1,)])
            with pytest.raises(lftj.FileMissingError):
                tx.add_rules(
                    ".decl a(x: number)\n.input a\na(5). kept(6).\n.decl b(x: number)\n.input b\n"
                    "b(x) :- a(x).",
                    facts=tmp_path,
                )
            tx.insert("kept", [(2,)])
        assert set(workspace.relations) == {"kept"}
        assert (workspace.rules, workspace["kept"].fetchall()) == ([], [(1,), (2,)])


@pytest.mark.parametrize("repeated", [False, True])
def test_the_change_of_several_pieces_is_the_rows_that_are_new(
    tmp_path: Path, *, repeated: bool
) -> None:
    """Rows that all are new are written once; else those that are new are written again."""
    xs = [n % 9 if repeated else n for n in range(20)]
    file = written(tmp_path / "e.parquet", {"x": xs, "y": [x % 5 for x in xs]}, 3)
    one, many = both(tmp_path / "path")
    for workspace in (one, many):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(0, 0)] if repeated else [(50, 1)])
    files = set((tmp_path / "path" / "rows").rglob("*.arrow"))
    found = list[Any]()
    for workspace in (one, many):
        with workspace.transaction() as tx:
            tx.insert("e", file)
        found.append(sorted(row[:2] for row in tx.changes("e").fetchall()))
        assert sorted(row[0] for row in workspace["e"]) == sorted({0 if repeated else 50, *xs})
    assert found[0] == found[1]
    new = set((tmp_path / "path" / "rows").rglob("*.arrow")) - files
    assert any("-net" in each.name for each in new) == repeated
