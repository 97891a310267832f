"""The page on Spark runs as it is printed, but for its folder and its server of objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lftj
from bench.partition.overhead import PRELOADED
from bench.partition.seaweed import BUCKET, seaweed
from lftj.partition.address import CACHE
from tests.docs.blocks import ROOT, Block, blocks, run_python

PAGE = ROOT / "docs" / "spark.md"
SERVER = '{"endpoint": "https://s3.example.org", "region": "eu-1"}'


def _run(block: Block, namespace: dict[str, Any], **others: str) -> None:
    text = block.text
    for printed, ours in others.items():
        assert printed in text, printed
        text = text.replace(printed, ours)
    run_python(Block(block.kind, block.options, text, block.line), namespace, PAGE)


def test_all_python_of_the_page_runs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, moved, copied, reader, objects, stream = (
        block for block in blocks(PAGE) if block.kind == "py"
    )
    folder = {"/shared": str(tmp_path)}
    pq.write_table(pa.table({"x": [1, 2, 3], "y": [3, 3, 4]}), tmp_path / "edges.parquet")
    namespace: dict[str, Any] = {}
    _run(first, namespace, **folder)
    big = namespace["big"]
    assert big["triangles"].fetchall() == [(1, 1)]
    assert namespace["tx"].changes("triangles").df()["x"].tolist() == [1]
    monkeypatch.chdir(tmp_path)
    _run(moved, namespace)
    with lftj.connect("legs.lftj", read_only=True) as one:
        assert one["far"].fetchall() == [(1, 3), (2, 4)]
    _run(copied, namespace)
    with lftj.connect("back.lftj", read_only=True) as back:
        assert back["leg"].fetchall() == [(1, 2), (2, 3)]
    _run(reader, namespace, **folder)
    with namespace["reader"] as along:
        assert (along.version, along["triangles"].fetchall()) == (big.version, [(1, 1)])

    changes = pa.table({"x": [2, 1], "y": [4, 3], "__diff__": [1, -1]})
    (tmp_path / "changes").mkdir()
    pq.write_table(changes, tmp_path / "changes" / "one.parquet")
    _run(stream, namespace, **folder)
    [query] = spark.streams.active
    query.processAllAvailable()
    query.stop()
    assert sorted(big["edge"].fetchall()) == [(1, 2), (2, 3), (2, 4), (3, 4)]
    assert big["triangles"].fetchall() == [(2, 1)]

    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    with seaweed(tmp_path / "server") as server:
        found = namespace.copy()
        _run(objects, found, **{SERVER: repr(server), "s3://bucket": f"s3://{BUCKET}"})
        with found["big"] as there:
            there.relation("edge", {"x": int})
            assert there.load("edge", [(1,)]) == 1
    big.close()


def test_the_settings_of_the_page_are_those_that_clusters_were_measured_with() -> None:
    (settings,) = (block.text for block in blocks(PAGE) if block.kind == "properties")
    assert dict(line.split() for line in settings.splitlines()) == PRELOADED
