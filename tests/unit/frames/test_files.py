"""Files by their endings: what is read, and what is missing, unknown or damaged."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from lftj.errors import FileMissingError, FrameError
from lftj.frames import read, write_table
from lftj.types import INT, STR, TIMESTAMP
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import message, read_back

EDGE = [("src", INT), ("dst", INT)]


def test_missing_files(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\n")
    path = tmp_path / "edges.parquet"
    with pytest.raises(FileMissingError) as caught:
        read(path, EDGE, dictionary=Dictionary())
    assert (
        str(caught.value)
        == f"error[E240]: there is no file {path}\n  help: did you mean edges.csv?"
    )
    assert isinstance(caught.value, FileNotFoundError)
    (tmp_path / "a.csv").write_text("src,dst\n")
    with pytest.raises(FileMissingError, match=r"did you mean edges\.csv"):
        read(tmp_path / "EDGES.csv", EDGE, dictionary=Dictionary())
    with pytest.raises(FileMissingError):
        read(tmp_path / "none.facts", EDGE, dictionary=Dictionary())


def test_unknown_endings(tmp_path: Path) -> None:
    assert message(tmp_path / "edges.xlsx", EDGE) == (
        "error[E231]: edges.xlsx: unknown format '.xlsx'\n"
        "  help: name the file .csv, .tsv, .facts, .parquet, .arrow, .feather or .ipc, each also "
        "with .gz"
    )


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.csv.gz", "x.parquet.gz"])
def test_damaged_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b junk")
    with pytest.raises(FrameError) as caught:
        read(tmp_path / name, EDGE, dictionary=Dictionary())
    assert caught.value.code == "E232"
    assert caught.value.message.startswith(name)


def test_endings(tmp_path: Path) -> None:
    table = pa.table({"src": [1], "dst": [2]})
    with pa.ipc.new_stream(tmp_path / "s.ipc", table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"src,dst\n1,2\n"))
    (tmp_path / "C.TSV").write_text("dst\tsrc\n2\t1\n")
    pyarrow.parquet.write_to_dataset(table, tmp_path / "d.parquet")
    for name in ("s.ipc", "c.csv.gz", "C.TSV", "d.parquet"):
        assert read_back(tmp_path / name, EDGE) == [(1, 2)]


def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "s3://b/a.parquet is an address, not the path of a file" in message(
        "s3://b/a.parquet", EDGE
    )
    assert "'a\\x00.csv' is not the path of a file" in message("a\0.csv", EDGE)
    (tmp_path / "folder").mkdir()
    assert message(tmp_path / "folder", EDGE).endswith(
        "folder is a folder\n  help: name one file, or a folder of Parquet files whose own name "
        "ends in .parquet"
    )
    assert "name one file at a time" in message(tmp_path / "*.csv", EDGE)
    (tmp_path / "edges.csv").write_text("src,dst\n1,2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_back("~/edges.csv", EDGE) == [(1, 2)]


def test_an_open_text_file_of_facts(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n")
    with open(tmp_path / "edge.facts") as file:
        assert read_back(file, EDGE, facts={}) == [(1, 2)]


def test_a_stream_that_is_cut_between_two_batches(tmp_path: Path) -> None:
    table = pa.table({"src": range(10), "dst": range(10)})
    path = tmp_path / "s.arrow"
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    whole = path.read_bytes()
    assert len(read_back(path, EDGE)) == 10
    for length in range(0, len(whole), 4):
        path.write_bytes(whole[:length])
        with pytest.raises(FrameError, match=r"s\.arrow cannot be read"):
            read(path, EDGE, dictionary=Dictionary())


def test_a_folder_of_files_with_different_columns(tmp_path: Path) -> None:
    folder = tmp_path / "edges.parquet"
    folder.mkdir()
    pyarrow.parquet.write_table(pa.table({"src": [1], "dst": [2]}), folder / "a.parquet")
    pyarrow.parquet.write_table(
        pa.table({"src": [1], "dst": [3], "weight": [9]}), folder / "b.parquet"
    )
    assert 'columns that the relation lacks: "weight"' in message(folder, EDGE)
    assert sorted(read_back(folder, EDGE, mapping={})) == [(1, 2), (1, 3)]
    assert 'row 0, column "weight": NULL is not a value' in message(
        folder, [*EDGE, ("weight", INT)]
    )


@pytest.mark.parametrize("name", ["x.parquet.gz", "x.arrow.gz"])
def test_compressed_tables(name: str, tmp_path: Path) -> None:
    write_table(tmp_path / name, pa.table({"src": [1], "dst": [2]}))
    assert (tmp_path / name).read_bytes()[:2] == b"\x1f\x8b"
    assert read_back(tmp_path / name, EDGE) == [(1, 2)]


def test_names_of_folders_are_columns(tmp_path: Path) -> None:
    folder = tmp_path / "edges.parquet"
    table = pa.table({"src": [1, 1, 2], "name": ["a", "b", "a"], "dst": [3, 4, 5]})
    pyarrow.parquet.write_to_dataset(table, folder, partition_cols=["src", "name"])
    assert sorted(read_back(folder, [*EDGE, ("name", STR)])) == [
        (1, 3, "a"),
        (1, 4, "b"),
        (2, 5, "a"),
    ]
    written = pa.table({"src": [1], "dst": [7], "name": pa.array(["c"]).dictionary_encode()})
    other = tmp_path / "other.parquet"
    pyarrow.parquet.write_to_dataset(
        written, other, partition_cols=["src"]
    )  # a dictionary that is in the file
    assert read_back(other, [*EDGE, ("name", STR)]) == [(1, 7, "c")]


def test_timestamps_of_int96_are_instants(tmp_path: Path) -> None:
    """Spark writes them so. Arrow reads them as if they had no zone, and far ones as others."""
    moments = [datetime.datetime(2024, 7, 4, 12), datetime.datetime(9999, 12, 31, 3)]
    table = pa.table({"x": [1, 2], "t": pa.array(moments, pa.timestamp("us"))})
    folder = tmp_path / "some.parquet"
    folder.mkdir()
    pyarrow.parquet.write_table(table, folder / "a.parquet")
    columns = [("x", INT), ("t", TIMESTAMP)]
    assert len(read_back(folder, columns)) == 2
    for place in (tmp_path / "b.parquet", folder / "b.parquet"):
        pyarrow.parquet.write_table(table, place, use_deprecated_int96_timestamps=True)
    for source, times in ((tmp_path / "b.parquet", 1), (folder, 2)):
        assert sorted(read_back(source, columns)) == sorted(list(enumerate(moments, 1)) * times)
        assert len(read_back(source, [("x", INT)], mapping={})) == 2 * times


def test_nested_columns_of_parquet_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow cannot read those whose text is too long for one array: it is not asked to."""
    nested = [[{"a": "x", "b": [1]}], []]
    table = pa.table({"n": nested, "src": [1, 2], "m": [{"k": [1]}, None], "dst": [3, 4]})
    folder = tmp_path / "folder.parquet"
    folder.mkdir()
    for place in (tmp_path / "one.parquet", folder / "a.parquet"):
        pyarrow.parquet.write_table(table, place)
    read_before = pyarrow.parquet.ParquetFile.read

    def flat_alone(file: Any, columns: Any = None) -> pa.Table:
        assert columns == ["src", "dst"]
        return read_before(file, columns=columns)

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "read", flat_alone)
    for source in (tmp_path / "one.parquet", folder):
        assert read_back(source, EDGE, mapping={}) == [(1, 3), (2, 4)]
        assert 'columns that the relation lacks: "n", "m"' in message(source, EDGE)
        assert 'column "n": expected str, found list<' in message(source, [("n", STR)], mapping={})


def test_files_with_other_separators_are_told_how_to_load(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src;dst\n1;2\n")
    facts = {"delimiter": ";", "headers": "true", "rfc4180": "true"}
    assert message(tmp_path / "e.csv", EDGE).endswith(
        "the fields seem to be separated by ';': use commas in .csv files, tabs in .tsv files, or "
        'load by position with facts={"delimiter": ";", "headers": "true", "rfc4180": "true"}'
    )
    assert read_back(tmp_path / "e.csv", EDGE, facts=facts) == [(1, 2)]
