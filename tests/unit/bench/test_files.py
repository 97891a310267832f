from __future__ import annotations

import lzma
from pathlib import Path

import pyarrow as pa
import pytest

from bench.files import DataMissing, delimited, oriented, symmetric, triples


def _write(path: Path, text: str) -> Path:
    path.write_bytes(lzma.compress(text.encode()))
    return path


def test_delimited_numbers(tmp_path: Path) -> None:
    path = _write(tmp_path / "edge.tsv.xz", "1\t2\n3\t4\n")
    assert delimited(path, ("x", "y"), pa.int64()).to_pydict() == {"x": [1, 3], "y": [2, 4]}


def test_quotes_and_words_that_look_like_null_stay_as_they_are(tmp_path: Path) -> None:
    path = _write(tmp_path / "fact.facts.xz", '"a"\tNULL\n')
    assert delimited(path, ("x", "y"), pa.string()).to_pydict() == {"x": ['"a"'], "y": ["NULL"]}


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    table = delimited(_write(tmp_path / "none.facts.xz", ""), ("x",), pa.string())
    assert table.num_rows == 0
    assert table.schema == pa.schema([("x", pa.string())])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"absent\.xz is not there"):
        delimited(tmp_path / "absent.xz", ("x",), pa.string())


def test_triples_shorten_the_rdf_words_only(tmp_path: Path) -> None:
    lines = [
        "<http://a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://www.w3.org/2000/01/rdf-schema#Class> .",
        '<http://a> <http://b> "a . b \\" c"@en .',
        "",
    ]
    found = triples(_write(tmp_path / "t.nt.xz", "\n".join(lines))).to_pylist()
    assert found == [
        {"s": "<http://a>", "p": "rdf:type", "o": "rdfs:Class"},
        {"s": "<http://a>", "p": "<http://b>", "o": '"a . b \\" c"@en'},
    ]


def test_oriented_and_symmetric_graphs() -> None:
    edges = pa.table({"x": [2, 1, 3, 4], "y": [1, 2, 3, 5]})
    assert oriented(edges).to_pydict() == {"x": [1, 4], "y": [2, 5]}
    assert symmetric(edges).to_pydict() == {"x": [1, 2, 3, 4, 5], "y": [2, 1, 3, 5, 4]}
