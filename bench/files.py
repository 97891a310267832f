"""Reads the published data sets: delimited files and N-Triples, compressed with xz, into Arrow
tables.
"""

from __future__ import annotations

import io
import lzma
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

_TRIPLE = re.compile(r"(\S+)\s+(\S+)\s+(.*?)\s*\.\s*$")
_PREFIXES = {
    "rdf:": "<http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs:": "<http://www.w3.org/2000/01/rdf-schema#",
}


class DataMissing(FileNotFoundError):
    """A data set is not under the folder that `--data` names."""


class DataPathNeeded(ValueError):
    """A benchmark reads published data and was not told where they are."""


def _content(path: Path) -> bytes:
    if not path.exists():
        raise DataMissing(
            f"{path} is not there; --data names a folder that holds the data sets of "
            f"bench/README.md"
        )
    with lzma.open(path) as file:
        return file.read()


def delimited(
    path: Path, names: Sequence[str], kind: pa.DataType, delimiter: str = "\t"
) -> pa.Table:
    """A file without a header line, every column of one type, quotes kept as they are. An empty
    file is an empty table.
    """
    content = _content(path)
    types = dict.fromkeys(names, kind)
    if not content.strip():
        return pa.table({name: pa.array([], kind) for name in names})
    return csv.read_csv(
        io.BytesIO(content),
        csv.ReadOptions(column_names=list(names)),
        csv.ParseOptions(delimiter=delimiter, quote_char=False),
        csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )


def _shortened(word: str) -> str:
    """IRIs of the RDF and RDFS vocabularies as `rdf:type` and the like; every other term as it
    stands.
    """
    for prefix, start in _PREFIXES.items():
        if word.startswith(start):
            return prefix + word[len(start) : -1]
    return word


def triples(path: Path) -> pa.Table:
    """The columns s, p, o of an N-Triples file, duplicates included."""
    rows = [
        match.groups()
        for line in _content(path).decode().splitlines()
        if (match := _TRIPLE.match(line))
    ]
    columns = zip(*rows, strict=True)
    return pa.table(
        {
            name: pa.array([_shortened(word) for word in column])
            for name, column in zip("spo", columns, strict=True)
        }
    )


def _edge_table(low: np.ndarray, high: np.ndarray) -> pa.Table:
    """Two columns as a table of distinct edges."""
    packed = np.sort(low << 32 | high)
    keep = np.ones(len(packed), bool)
    keep[1:] = packed[1:] != packed[:-1]
    return pa.table({"x": packed[keep] >> 32, "y": packed[keep] & 0xFFFFFFFF})


def oriented(edges: pa.Table) -> pa.Table:
    """The undirected graph of `edges` without loops: every edge once, from its smaller to its
    larger end.
    """
    x, y = (edges.column(place).to_numpy() for place in range(2))
    loopless = x != y
    return _edge_table(np.minimum(x, y)[loopless], np.maximum(x, y)[loopless])


def symmetric(edges: pa.Table) -> pa.Table:
    """Every edge of `edges` in both directions."""
    x, y = (edges.column(place).to_numpy() for place in range(2))
    return _edge_table(np.append(x, y), np.append(y, x))
