"""Workspaces that begin with a copy of another one: of one process, over parts, in objects, and
back.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.partition.seaweed import BUCKET, seaweed
from lftj.distributed.objects.mounts import unmount
from lftj.partition.address import Address
from tests.distributed.inline import InlineExecutor

RULES = """
  .type Code <: symbol
  .decl edge(x: Code, y: Code, w: number?)
  .decl price(id: number, amount: decimal(12, 2), since: date) key(id)
  .decl picked(x: Code, y: Code) choice-domain x
  .decl reach(x: Code, y: Code)
  .decl total(x: Code, n: number, w: number)
  reach("start", "start").
  reach(x, y) :- edge(x, y, _).
  reach(x, z) :- reach(x, y), edge(y, z, _).
  picked(x, y) :- edge(x, y, _).
  total(x, count(), sum(w)) :- edge(x, _, w), !is_null(w).
  .decl alone(x: Code)
  alone(x) :- edge(x, _, _), !reach(_, x).
"""
EDGES = [("a", "b", 1), ("b", "c", None), ("c", "a", 3), ("d", "a", 4), ("d", "é", -(2**40))]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    with lftj.connect(tmp_path / "one") as workspace:
        workspace.add_rules(RULES)
        workspace.load("edge", EDGES[:3])
        workspace.load(
            "price", [(1, Decimal("2.50"), date(2026, 1, 2)), (2, Decimal("-1"), None)][:1]
        )
        workspace.load("reach", [("x", "y")])
        workspace.load("edge", EDGES[3:])
        workspace.program(".decl far(x: Code)  far(x) :- reach(x, y), reach(y, x).", name="far")
    return tmp_path / "one"


def everything(workspace: lftj.Workspace) -> dict[str, Any]:
    rows = {name: sorted(map(repr, workspace[name])) for name in workspace.relations}
    rules = [str(rule) for rule in workspace.rules]
    return rows | {"rules": rules}


def change(workspace: lftj.Workspace) -> None:
    with workspace.transaction() as tx:
        tx.delete("edge", [EDGES[0]])
        tx.insert("edge", [("y", "start", 7)])
        tx.delete("reach", [("x", "y")])


def over(path: Path | Address, parts: int = 3) -> Any:
    return InlineExecutor(path, parts)


def test_a_copy_has_everything_and_goes_on(source: Path, tmp_path: Path) -> None:
    with lftj.connect(source) as first:
        expected = everything(first)
        after = lftj.connect(source, copy=True)
        change(after)
    with lftj.connect(source, copy=True, executor=over(tmp_path / "parts")) as parts:
        assert everything(parts) == expected
        assert parts.verify() == []
    with lftj.connect(tmp_path / "parts", copy=True) as memory:
        assert everything(memory) == expected
        assert memory.verify() == []
        memory.save_as(tmp_path / "again")
    with lftj.connect(tmp_path / "parts", copy=True, executor=over(tmp_path / "more", 7)) as more:
        assert everything(more) == expected
    for opened in (
        lambda: lftj.connect(executor=over(tmp_path / "parts")),
        lambda: lftj.connect(executor=over(tmp_path / "more", 7)),
        lambda: lftj.connect(tmp_path / "again"),
    ):
        with opened() as workspace:
            assert everything(workspace) == expected
            change(workspace)
            assert everything(workspace) == everything(after)
            assert workspace.verify() == []
    with lftj.connect(source) as first:
        assert everything(first) == expected


def test_programs_keep_their_names_in_one_process(source: Path, tmp_path: Path) -> None:
    with lftj.connect(source, copy=True) as memory:
        text = memory.snapshot().program("far")
        expected = everything(memory)
    with lftj.connect(source, copy=True, executor=over(tmp_path / "parts")) as parts:
        assert everything(parts) == expected
        with pytest.raises(lftj.UnknownNameError, match="far"):
            parts.snapshot().program("far")
    assert "reach(x, y), reach(y, x)" in text


def test_a_copy_of_objects(source: Path, tmp_path: Path) -> None:
    with seaweed(tmp_path / "seaweed") as server:
        address = Address(f"s3://{BUCKET}/copy", tuple(sorted(server.items())), str(tmp_path / "c"))
        with lftj.connect(source, copy=True, executor=over(address)) as parts:
            expected = everything(parts)
        unmount(address)
        name = f"s3://{BUCKET}/copy"
        with lftj.connect(name, copy=True, storage_options=server) as memory:
            assert everything(memory) == expected
        with lftj.connect(source) as first:
            assert everything(first) == expected


def test_a_copy_comes_where_nothing_is(source: Path, tmp_path: Path) -> None:
    with lftj.connect(executor=over(tmp_path / "parts")) as parts:
        parts.relation("edge", {"x": int})
    with pytest.raises(lftj.DurableError, match="where a workspace is already") as caught:
        lftj.connect(source, copy=True, executor=over(tmp_path / "parts"))
    assert caught.value.code == "E351"
    with lftj.connect(executor=over(tmp_path / "parts")) as parts:  # it was closed
        assert list(parts.relations) == ["edge"]


def test_what_cannot_be_copied_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(lftj.DurableError, match="no workspace at") as caught:
        lftj.connect(tmp_path / "none", copy=True, executor=over(tmp_path / "parts"))
    assert caught.value.code == "E351"
    with lftj.connect(tmp_path / "one") as workspace:
        workspace.add_rules(".decl edge(x: number, y: number) .decl far(x: number, n: number)")
        workspace.add_rules("far(y, 1) :- edge(1, y).  far(y, sum(n)) :- far(x, n), edge(x, y).")
    with pytest.raises(lftj.DistributedError, match="several rules that add up"):
        lftj.connect(tmp_path / "one", copy=True, executor=over(tmp_path / "parts"))
    with lftj.connect(executor=over(tmp_path / "parts")) as parts:
        assert not parts.relations
