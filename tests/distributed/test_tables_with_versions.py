"""Tables of Delta and Iceberg over parts: executors read them, and a feed has their rows, once."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

import lftj
from lftj.distributed.parts.pieces import FilesTask, TableFile
from tests.distributed.inline import InlineExecutor
from tests.unit.workspace.test_versioned_tables import COLUMNS, MAKERS, table_of

pytestmark = pytest.mark.filterwarnings("ignore:Delete operation did not match")


def opened(path: Path) -> tuple[InlineExecutor, Any]:
    executor = InlineExecutor(path)
    return executor, lftj.connect(executor=executor)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_feed_has_the_rows_of_the_table_after_each_opening(kind: str, tmp_path: Path) -> None:
    chance, table = random.Random(11), MAKERS[kind](tmp_path / "table")
    _, ws = opened(tmp_path / "path")
    ws.relation("r", COLUMNS)
    ws.add_rules(".decl n(x: number, n: number) n(x, count()) :- r(x, _, _).")
    for step in range(8):
        table.change(chance)
        with ws.transaction() as tx:
            tx.apply_changes("r", table.handle(), feed="lake")
        assert set(ws["r"].fetchall()) == table.rows()
        if step % 3 == 0:
            ws.close()
            _, ws = opened(tmp_path / "path")
        version = ws.version
        with ws.transaction() as tx:
            assert tx.apply_changes("r", table.handle(), feed="lake") == 0
        assert ws.version == version
    assert not ws.verify()


def test_a_commit_that_dies_is_not_noted(tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    deltalake.write_deltalake(path, pa.table({"x": [1, 2]}))
    executor, ws = opened(tmp_path / "path")
    ws.relation("r", {"x": int})

    def dies(payload: object) -> None:
        raise RuntimeError("the worker is gone")

    def follow() -> int:
        with ws.transaction() as tx:
            return tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")

    for rows in ([1, 2], [2, 3]):
        executor.before = dies
        with pytest.raises(RuntimeError, match="the worker is gone"):
            follow()
        executor.before = lambda payload: None
        assert follow() == 2
        assert sorted(ws["r"].fetchall()) == [(x,) for x in rows]
        deltalake.write_deltalake(path, pa.table({"x": [3]}), mode="append")
        deltalake.DeltaTable(path).delete("x = 1")


def test_executors_read_the_files_of_a_table(tmp_path: Path) -> None:
    made: dict[str, Callable[[], Any]] = {}
    for kind in ("partitioned", "iceberg"):
        table = MAKERS[kind](tmp_path / kind)
        for first in range(4):
            rows = table_of([(first * 10 + n, None if n else "s", n % 2) for n in range(5)])
            if kind == "iceberg":
                table.handle().append(rows)
            else:
                deltalake.write_deltalake(table.path, rows, mode="append")
        made[kind] = table.handle
    executor, ws = opened(tmp_path / "path")
    for kind, handle in made.items():
        ws.relation(kind, COLUMNS)
        executor.tasks.clear()
        assert ws.load(kind, handle()) == 20
        tasks = [task for task in executor.tasks if isinstance(task, FilesTask)]
        assert len(tasks) == 3
        pieces = [piece for task in tasks for piece in task.pieces]
        assert len(pieces) in (4, 8)
        assert all(isinstance(piece, TableFile) for piece in pieces)
    assert sorted(ws["iceberg"].fetchall(), key=repr) == sorted(
        ws["partitioned"].fetchall(), key=repr
    )


def test_other_changes_are_refused(tmp_path: Path) -> None:
    _, ws = opened(tmp_path / "path")
    ws.relation("r", {"x": int})
    with pytest.raises(lftj.DistributedError, match="apply_changes"), ws.transaction() as tx:
        tx.apply_changes("r", [{"op": "c", "after": {"x": 1}}])
    deltalake.write_deltalake(tmp_path / "t", pa.table({"x": [1]}))
    with pytest.raises(lftj.OptionError, match="a table has a feed"), ws.transaction() as tx:
        tx.apply_changes("r", tmp_path / "t")
