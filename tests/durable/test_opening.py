"""All of a workspace is there when it is opened, and nothing was evaluated for it."""

from __future__ import annotations

import datetime
import shutil
import subprocess
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.engine.durable import checkpoint, schedule
from lftj.engine.durable.checkpoint import OpenedRecord
from lftj.engine.durable.file_checks import problems
from lftj.engine.live.engine import Engine
from lftj.errors import DeclarationError, DurableError
from lftj.join.context import Context
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 20

product = lftj.UserAggregate(
    "times",
    zero=1,
    lift=lambda value: value,
    combine=lambda one, other: one * other,
    argument_types=(lftj.INT,),
    result_type=lftj.INT,
)


def filled(path: Path, commits: int = COMMITS, **options: Any) -> Any:
    """A workspace after so many commits."""
    workspace = lftj.connect(path, **options)
    for number in range(1, commits + 1):
        workload.commit(workspace, number)
    return workspace


def test_opening_takes_no_step_and_the_first_commit_follows_its_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = workload.expected(COMMITS + 1)
    filled(tmp_path / "w.lftj").close()
    contexts: list[Context] = []
    begin = Context.__init__

    def noted(self: Context, *args: Any, **named: Any) -> None:
        begin(self, *args, **named)
        contexts.append(self)

    monkeypatch.setattr(Context, "__init__", noted)
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert not contexts, "something was evaluated"
        assert workload.rows(workspace) == known[COMMITS]
        workload.commit(workspace, COMMITS + 1)
        outcomes = set(workspace.profile(last=1)["outcome"])
        assert outcomes <= {"update"}, outcomes
        assert workload.committed(workspace, known) == COMMITS + 1


def test_what_was_read_is_all_that_is_read(tmp_path: Path) -> None:
    x = np.arange(1_000_000)
    table = pa.table({"x": x, "y": x % 1000})
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        workspace.add_rules(
            ".decl e(x: number, y: number) .decl d(y: number, n: number) d(y, count()) :- e(_, y)."
        )
        workspace.load("e", table)
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        watch = durable_of(workspace)._engine.arena.watch
        assert workspace.query("e(77, y)").fetchall() == [(77,)]
        workspace.load("e", [(-1, 5)])
        assert (5, 1001) in workspace["d"].fetchall()
        pages = sum(file.stat().st_size for file in workload.pages_of(tmp_path / "w.lftj"))
        assert 0 < watch.read < pages / 4


def test_handles_of_rules_are_the_same_after_opening(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        first, second, _ = workspace.add_rules(
            ".decl a(x: number) .decl b(x: number) a(1). b(x) :- a(x). b(x) :- a(y), x = y + 1."
        )
        workspace.remove_rule(first)
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert workspace.rules == [second]
        assert workspace["b"].fetchall() == [(2,)]
        workspace.remove_rule(second)
        assert workspace["b"].fetchall() == []


def test_values_of_all_types_keys_choices_and_nullary_relations_come_back(tmp_path: Path) -> None:
    row = (1, 0.1, "ä\n", True, datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4))
    types = (int, float, str, bool, datetime.date, datetime.datetime)
    for close in (False, True):
        path = tmp_path / f"{close}.lftj"
        workspace = lftj.connect(path)
        columns = {f"c{place}": type for place, type in enumerate(types)}
        workspace.relation("all", columns | {"c6": "decimal(10,2)"}, key="c0")
        workspace.relation("chosen", {"x": int, "y": int}, choice=["x"])
        workspace.add_rules(".type Id <: number .decl yes() yes() :- all(_, _, _, _, _, _, _).")
        workspace.load("all", [(*row, Decimal("1.25"))])
        workspace.load("chosen", [(1, 2), (1, 3)])
        if close:
            workspace.close()
        else:
            path = Path(shutil.copytree(path, tmp_path / "copy.lftj"))
        with lftj.connect(path) as again:
            assert again["all"].fetchall() == [(*row, Decimal("1.25"))]
            assert len(again["chosen"]) == 1
            assert again["yes"].fetchall() == [()]
            assert again.relations["all"].key == ("c0",)
            again.add_rules(".decl ids(x: Id)")
            with pytest.raises(lftj.KeyViolationError):
                again.load("all", [(1, *row[1:2], "other", *row[3:], Decimal(0))])
            with again.transaction() as tx:
                tx.delete_where("chosen", x=1, y=again["chosen"].fetchall()[0][1])
            assert len(again["chosen"]) == 1
        workspace.close()


def test_an_aggregate_of_the_users_is_found_by_its_import_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workspace.add_aggregate(product)
        workspace.add_rules(
            ".decl e(x: number, v: number) .decl p(x: number, v: number) p(x, times(v)) :- e(x, v)."
        )
        workspace.load("e", [(1, 2), (1, 3), (2, 5)])
    with lftj.connect(path) as workspace:
        assert sorted(workspace["p"].fetchall()) == [(1, 6), (2, 5)]
        workspace.load("e", [(1, 7)])
        assert sorted(workspace["p"].fetchall()) == [(1, 42), (2, 5)]
    monkeypatch.delattr(f"{__name__}.product")
    with pytest.raises(DurableError, match=f"`times` from {__name__}:product: ") as caught:
        lftj.connect(path)
    assert caught.value.code == "E357"


def test_an_aggregate_that_nobody_could_find_again_is_refused(tmp_path: Path) -> None:
    nameless = lftj.UserAggregate(
        "nameless", 0, lambda v: v, max, argument_types=(lftj.INT,), result_type=lftj.INT
    )
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        with pytest.raises(DurableError, match="no import path") as caught:
            workspace.add_aggregate(nameless)
        assert caught.value.code == "E357"
        assert workspace.version == 0
        workspace.relation("e", {"x": int})


def test_views_are_derived_anew_from_the_rows_of_another_version_of_lftj(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = workload.expected(COMMITS + 1)
    filled(tmp_path / "w.lftj").close()
    monkeypatch.setattr(checkpoint, "stored_format", lambda *layers: "another")
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert workload.committed(workspace, known) == COMMITS
        workload.commit(workspace, COMMITS + 1)
        assert workload.committed(workspace, known) == COMMITS + 1


def test_checkpoints_are_written_by_themselves_and_files_do_not_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_PAUSE", 0)
    path = tmp_path / "w.lftj"
    with filled(path, 60, tuning=lftj.Tuning(checkpoint_commits=5)) as workspace:
        files = durable_of(workspace)
        files._due.wait()
        assert files._stored == 60
        first = files.log._connection.execute("SELECT min(number) FROM commits").fetchone()[0]
        assert first > 40
    with lftj.connect(path) as workspace:
        assert workload.committed(workspace, workload.expected(60)) == 60


def test_what_opening_would_take_again_is_stored_by_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_PAUSE", 0)
    with lftj.connect(tmp_path / "w.lftj", tuning=lftj.Tuning(checkpoint_steps=500)) as workspace:
        workspace.add_rules(".decl e(x: number) .decl v(x: number)")
        workspace.load("e", [(x,) for x in range(1000)])
        files = durable_of(workspace)
        assert files._stored == 0
        workspace.add_rules("v(y) :- e(x), y = x % 7, y != 3.")
        files._due.wait()
        assert files._stored == 3
    with filled(tmp_path / "all.lftj", 9) as workspace:
        shutil.copytree(tmp_path / "all.lftj", tmp_path / "copy.lftj")
    few = lftj.Tuning(checkpoint_commits=10)
    with lftj.connect(tmp_path / "copy.lftj", tuning=few) as workspace:
        files = durable_of(workspace)
        assert files._stored == 0
        workload.commit(workspace, 10)
        files._due.wait()
        assert files._stored == 10


def test_a_program_that_ends_without_close_writes_a_checkpoint_that_is_due(tmp_path: Path) -> None:
    text = f"""
import lftj
ws = lftj.connect({str(tmp_path / "w.lftj")!r}, tuning=lftj.Tuning(checkpoint_steps=1))
ws.add_rules(".decl e(x: number) .decl v(x: number) v(x) :- e(x), e(y), y = x + 1.")
ws.load("e", [(1,), (2,)])
"""
    subprocess.run([sys.executable, "-c", text], check=True)
    with lftj.connect(tmp_path / "w.lftj", read_only=True) as workspace:
        assert durable_of(workspace)._stored == 2
        assert workspace["v"].fetchall() == [(1,)]


def test_compactions_without_end_find_room_while_snapshots_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a range of addresses with room for the pages of some thirty files."""
    monkeypatch.setattr("lftj.api.connect.WIDE", 1 << 30)
    workspace, held = lftj.connect(tmp_path / "w.lftj"), list[Any]()
    workspace.relation("e", {"x": int, "y": int})
    workspace.add_rules(".decl v(x: number, n: number) v(x, count()) :- e(x, _).")
    for number in range(80):
        workspace.load("e", [(number % 9, 1000 + number)])
        workspace.compact()
        held = [*held, (workspace.snapshot(), len(workspace["e"]))][-4:]
    assert [len(snapshot["e"]) for snapshot, _ in held] == [rows for _, rows in held]
    assert len(list((tmp_path / "w.lftj" / "pages").glob("*.pages"))) == 1
    before = sorted(workspace["v"])
    workspace.close()
    with lftj.connect(tmp_path / "w.lftj", read_only=True) as again:
        assert sorted(again["v"]) == before
        assert again.verify() == []


def test_a_large_commit_is_written_once_as_pages(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    workspace = filled(path, 3, tuning=lftj.Tuning(paged_rows=1000))
    workspace.load("weight", [(f"m{number}", 1.5) for number in range(2000)])
    workload.commit(workspace, 5)
    (empty,) = (
        durable_of(workspace)
        .log._connection.execute("SELECT number FROM commits WHERE rows = x''")
        .fetchall()
    )
    assert empty == (4,)
    copy = shutil.copytree(path, tmp_path / "copy.lftj")
    with lftj.connect(copy) as again:
        assert workload.rows(again) == workload.rows(workspace)
        assert again.version == 5
    workspace.close()


def test_tuning_is_kept(tmp_path: Path) -> None:
    tuning = lftj.Tuning(sampled_rows=64, without={"walks"})
    workspace = lftj.connect(tmp_path / "w.lftj", tuning=tuning)
    workload.commit(workspace, 1)
    copy = shutil.copytree(tmp_path / "w.lftj", tmp_path / "copy.lftj")
    workspace.close()
    for path in (copy, tmp_path / "w.lftj"):
        with lftj.connect(path) as again:
            assert durable_of(again)._engine.statistics.tuning == tuning
        with lftj.connect(path, tuning=lftj.Tuning(sampled_rows=32)) as again:
            assert durable_of(again)._engine.statistics.tuning.sampled_rows == 32


def test_a_workspace_in_memory_goes_on_in_files(tmp_path: Path) -> None:
    known = workload.expected(COMMITS + 2)
    path = tmp_path / "w.lftj"
    workspace = lftj.connect()
    for number in range(1, COMMITS + 1):
        workload.commit(workspace, number)
    workspace.save_as(path)
    workload.commit(workspace, COMMITS + 1)
    with lftj.connect(path, copy=True) as copied:
        assert workload.committed(copied, known) == COMMITS + 1
        workload.commit(copied, COMMITS + 2)
        assert workload.committed(copied, known) == COMMITS + 2
    with pytest.raises(DurableError) as caught:
        workspace.save_as(tmp_path / "other.lftj")
    assert caught.value.code == "E351"
    workspace.close()
    with lftj.connect(path) as again:
        assert workload.committed(again, known) == COMMITS + 1
    with pytest.raises(DurableError, match="already") as caught:
        lftj.connect().save_as(path)
    assert caught.value.code == "E351"


def test_strings_that_were_forgotten_in_memory_are_not_found_in_files(tmp_path: Path) -> None:
    workspace = lftj.connect(keep=1)
    workspace.relation("e", {"x": str})
    workspace.load("e", [(f"a{number}",) for number in range(3000)])
    with workspace.transaction() as tx:
        tx.delete_where("e")
        tx.insert("e", [("",), ("a7",)])
    del tx  # it holds the version before its commit
    engine: Any = workspace._backend
    dictionary = engine.dictionary
    dictionary.forget(engine.arena.occurring)
    assert len(dictionary.forgotten) > 2000
    workspace.save_as(tmp_path / "w.lftj")
    workspace.load("e", [("b",)])
    workspace.close()
    with lftj.connect(tmp_path / "w.lftj") as again:
        again.load("e", [("",), ("a7",), ("a8",), ("b",)])
        assert sorted(again["e"].fetchall()) == [("",), ("a7",), ("a8",), ("b",)]


@pytest.mark.parametrize("durability", ["full", "normal", "off"])
def test_durability_is_that_of_sqlite(tmp_path: Path, durability: str) -> None:
    with lftj.connect(tmp_path / "w.lftj", durability=durability) as workspace:
        workload.commit(workspace, 1)
        connection = durable_of(workspace).log._connection
        level = connection.execute("PRAGMA synchronous").fetchone()[0]
        assert ("off", "normal", "full")[level] == durability
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    with lftj.connect(tmp_path / "w.lftj", read_only=True) as workspace:
        assert workspace.version == 1


def test_another_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="full, normal, off"):
        lftj.connect(tmp_path / "w.lftj", durability="some")
    assert not (tmp_path / "w.lftj").exists()


def test_memory_that_runs_out_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.lftj"
    filled(path).close()
    with lftj.connect(path) as workspace:  # a second checkpoint
        workload.commit(workspace, COMMITS + 1)
    tried: list[Any] = []

    def begin(self: OpenedRecord, *given: Any) -> None:
        tried.append(given)
        raise MemoryError("no more")

    ways: list[Any] = [lftj.connect, partial(lftj.connect, read_only=True)]
    ways.append(lambda at: list(problems(Engine(1.0, None), at)))
    for way in ways:
        with monkeypatch.context() as patch:
            patch.setattr(OpenedRecord, "__init__", begin)
            with pytest.raises(lftj.LimitError) as caught:
                way(path)
        assert caught.value.code == "E333"
    assert len(tried) == len(ways), "no older checkpoint is tried"
    with lftj.connect(path) as workspace:
        assert workload.committed(workspace, workload.expected(COMMITS + 1)) == COMMITS + 1
        assert len(durable_of(workspace).log.checkpoints()) > 1
    assert list(problems(Engine(1.0, None), path)) == []


def test_a_path_stays_where_it_was_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    memory = lftj.connect()
    memory.save_as("saved.lftj")
    with lftj.connect("w.lftj") as workspace, memory:
        monkeypatch.chdir("elsewhere")
        for each in (workspace, memory):
            workload.commit(each, 1)
    for name in ("w.lftj", "saved.lftj"):
        with lftj.connect(tmp_path / name, read_only=True) as reader:
            assert workload.committed(reader, workload.expected(1)) == 1
