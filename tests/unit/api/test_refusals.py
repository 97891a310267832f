"""Every public call works on a backend or is in the list of refusals; nothing is in between."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyspark.sql
import pytest

import lftj
from lftj.engine.calls.refusals import REFUSALS, Kind
from tests.distributed.inline import InlineExecutor
from tests.docs.blocks import ROOT
from tests.unit.api.scenarios import filled

PRODUCT = lftj.UserAggregate(
    "times",
    zero=1,
    lift=int,
    combine=lambda a, b: a * b,
    argument_types=(lftj.INT,),
    result_type=lftj.INT,
)


def halved(number: int) -> int:
    """Half of a number."""
    return number // 2


@contextmanager
def opened(kind: Kind, folder: Path, **options: Any) -> Iterator[lftj.Workspace]:
    """A workspace over a kind of backend."""
    if kind is Kind.PARTS:
        options = {"executor": InlineExecutor(folder), **options}
    elif kind is Kind.PATH:
        options = {"path": folder / "w.lftj", **options}
    else:
        options = {"keep": "all", **options}
    with lftj.connect(**options) as workspace:
        yield workspace


def _in_transaction(call: Callable[[lftj.Transaction], object]) -> Callable[..., object]:
    def called(ws: lftj.Workspace) -> object:
        with ws.transaction() as tx:
            return call(tx)

    return called


def _after_commit(call: Callable[[lftj.Transaction], object]) -> Callable[..., object]:
    def called(ws: lftj.Workspace) -> object:
        with ws.transaction() as tx:
            tx.insert("edge", [(8, 9)])
        return call(tx)

    return called


def _ended(name: str) -> Callable[[lftj.Workspace], object]:
    return lambda ws: getattr(ws.transaction(), name)()


def reader(ws: lftj.Workspace) -> Any:
    """A consumer, or what stands for one where there are none."""
    with suppress(lftj.DistributedError):
        return ws.consumer("c", "reach")
    return SimpleNamespace(name="c", position=lambda change: None)


def acknowledged(ws: lftj.Workspace, consumer: Any) -> int:
    """Version of a commit that acknowledges."""
    with ws.transaction() as tx:
        tx.ack(consumer)
    return tx.version


WORKSPACE: dict[str, Callable[[lftj.Workspace], object]] = {
    "relation": lambda ws: ws.relation("p", {"x": int}),
    "view": lambda ws: ws.view("p", {"x": int}),
    "function": lambda ws: ws.function("p", {"x": int}, int),
    "add_aggregate": lambda ws: ws.add_aggregate(PRODUCT),
    "transaction": lambda ws: ws.transaction().rollback(),
    "load": lambda ws: ws.load("edge", [(5, 6)]),
    "alter": lambda ws: ws.alter("edge", add={"z": int}, default={"z": 0}),
    "drop_relation": lambda ws: ws.drop_relation(ws.relation("p", {"x": int})),
    "program": lambda ws: ws.program(".decl p(x: number) p(1).", name="p"),
    "programs": lambda ws: dict(ws.programs),
    "add_rules": lambda ws: ws.add_rules(".decl p(x: number) p(1)."),
    "add_rule": lambda ws: ws.add_rule("reach(x, x) :- edge(x, _)."),
    "remove_rule": lambda ws: ws.remove_rule(ws.rules[0]),
    "feed": lambda ws: ws.feed("edge", "stream"),
    "compact": lambda ws: ws.compact(),
    "refresh": lambda ws: ws.refresh(),
    "wait_for": lambda ws: ws.wait_for(1, timeout=0.01),
    "save_as": lambda ws: ws.save_as("saved.lftj", durability="off"),
    "backup": lambda ws: ws.backup("copy.lftj"),
    "prepare": lambda ws: ws.prepare(),
    "rebalance": lambda ws: ws.rebalance(),
    "repartition": lambda ws: ws.repartition(2),
    "snapshot": lambda ws: ws.snapshot(),
    "query": lambda ws: ws.query("edge(x, _)").fetchall(),
    "prepare_query": lambda ws: ws.prepare_query("edge(?, y)")(1).fetchall(),
    "version": lambda ws: ws.version,
    "relations": lambda ws: ws.relations,
    "rules": lambda ws: ws.rules,
    "subscribe": lambda ws: ws.subscribe("edge", lambda changes: None, snapshot=True),
    "plan": lambda ws: (str(ws.plan()), str(ws.plan(ws.rules[0], passes=True))),
    "explain": lambda ws: str(ws.explain("reach(1, 2)")),
    "why_not": lambda ws: str(ws.why_not("reach(1, 9)")),
    "explain_plan": lambda ws: str(ws.explain_plan(ws.rules[0], analyze=True)),
    "report": lambda ws: ws.report("page.html"),
    "to_dict": lambda ws: ws.to_dict(),
    "to_dot": lambda ws: ws.to_dot(),
    "to_networkx": lambda ws: ws.to_networkx(),
    "memory": lambda ws: ws.memory().fetchall(),
    "profile": lambda ws: ws.profile(1),
    "verify": lambda ws: ws.verify(),
    "at": lambda ws: ws.at(ws.version - 1)["edge"].fetchall(),
    "branch": lambda ws: ws.branch("other").drop(),
    "branches": lambda ws: dict(ws.branches),
    "diff": lambda ws: ws.diff(ws.branch("other"), "main", "reach").fetchall(),
    "merge": lambda ws: ws.merge(ws.branch("other")),
    "history": lambda ws: [each.version for each in ws.history("reach").commits()],
    "log": lambda ws: ws.transaction(message="why").rollback() or ws.log().fetchall(),
    "changes": lambda ws: list(ws.changes("reach", since=ws.version - 1, timeout=0)),
    "consumer": lambda ws: ws.consumer("c", "reach", timeout=0).ack(),
    "consumers": lambda ws: {name: each.version for name, each in ws.consumers.items()},
    "write_delta": lambda ws: ws.write_delta("reach", "lake", name="sink"),
    "limits": lambda ws: ws.limits(work=1, seconds=1.0, memory=1).__enter__(),
    "close": lambda ws: ws.close(),
}
TRANSACTION: dict[str, Callable[[lftj.Workspace], object]] = {
    "insert": _in_transaction(lambda tx: tx.insert("edge", [(5, 6)], existing="error")),
    "delete": _in_transaction(lambda tx: tx.delete("edge", [(1, 2)], missing="error")),
    "delete by keys": _in_transaction(lambda tx: tx.delete("acct", keys=[1])),
    "apply_changes": _in_transaction(
        lambda tx: tx.apply_changes("edge", [{"op": "c", "after": {"x": 8, "y": 9}}])
    ),
    "sync": _in_transaction(lambda tx: tx.sync("acct", [(1, "z", 0.0)])),
    "delete_where": _in_transaction(lambda tx: tx.delete_where("edge", x=1)),
    "upsert": _in_transaction(lambda tx: tx.upsert("acct", [(1, "z", 0.0)])),
    "alter": _in_transaction(lambda tx: tx.alter("acct", key=None)),
    "drop_relation": lambda ws: (
        ws.relation("p", {"x": int}),
        _in_transaction(lambda tx: tx.drop_relation("p"))(ws),
    ),
    "declare": _in_transaction(
        lambda tx: tx.declare(lftj.connect().relation("p", {"x": int}).schema)
    ),
    "add_aggregate": _in_transaction(lambda tx: tx.add_aggregate(PRODUCT)),
    "add_function": _in_transaction(lambda tx: tx.add_function(lftj.UserFunction(halved))),
    "program": _in_transaction(lambda tx: tx.program(".decl p(x: number) p(1).", name="p")),
    "add_rules": _in_transaction(lambda tx: tx.add_rules(".decl p(x: number) p(1).")),
    "add_rule": _in_transaction(lambda tx: tx.add_rule("reach(x, x) :- edge(x, _).")),
    "remove_rule": lambda ws: _in_transaction(lambda tx: tx.remove_rule(ws.rules))(ws),
    "commit": _ended("commit"),
    "rollback": _ended("rollback"),
    "preview": _in_transaction(lambda tx: dict(tx.preview())),
    "ack": lambda ws: acknowledged(ws, reader(ws)),
    "version": _after_commit(lambda tx: tx.version),
    "work": _after_commit(lambda tx: tx.work),
    "changes": _after_commit(lambda tx: tx.changes("edge").fetchall()),
    "explain_change": _after_commit(lambda tx: str(tx.explain_change("edge(8, 9)"))),
    "inserted": _after_commit(lambda tx: tx.inserted("edge")),
}
SNAPSHOT: dict[str, Callable[[lftj.Workspace], object]] = {
    "program": lambda ws: ws.program("edge(7, 7).") and ws.snapshot().program(),
    "programs": lambda ws: dict(ws.snapshot().programs),
    "version": lambda ws: ws.snapshot().version,
    "relations": lambda ws: ws.snapshot().relations,
    "rules": lambda ws: ws.snapshot().rules,
    "query": lambda ws: ws.snapshot().query("edge(x, _)").fetchall(),
    "prepare_query": lambda ws: ws.snapshot().prepare_query("edge(?, y)")(1).fetchall(),
    "explain": lambda ws: str(ws.snapshot().explain("reach(1, 2)")),
    "why_not": lambda ws: str(ws.snapshot().why_not("reach(1, 9)")),
    "explain_plan": lambda ws: str(ws.snapshot().explain_plan(ws.rules[0])),
    "to_dict": lambda ws: ws.snapshot().to_dict(),
    "to_dot": lambda ws: ws.snapshot().to_dot(),
    "to_networkx": lambda ws: ws.snapshot().to_networkx(),
    "verify": lambda ws: ws.snapshot().verify(),
}
CALLS = {lftj.Workspace: WORKSPACE, lftj.Transaction: TRANSACTION, lftj.Snapshot: SNAPSHOT}
OPTIONS: dict[str, Any] = {
    "path": "somewhere",
    "create": False,
    "read_only": True,
    "copy": True,
    "move": True,
    "durability": "off",
    "writer_timeout": 1.0,
    "progress": print,
    "elastic": 0.5,
    "trace_budget": 1 << 20,
    "tuning": lftj.Tuning(sampled_rows=4096),
    "keep": "all",
    "storage_options": {"region": "eu-1"},
}
CONNECTED: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
EXECUTORS: dict[str, Callable[[Path], object]] = {
    "address": lambda path: lftj.SparkExecutor(
        object.__new__(pyspark.sql.SparkSession), path="hdfs://host/flights"
    ),
    "Spark Connect": lambda path: lftj.SparkExecutor(CONNECTED, path=path),
    "writing to an address": lambda path: lftj.connect("s3://bucket/flights"),
}
"""Calls with which a workspace over parts begins, where they are refused."""
MOVES: dict[tuple[str, Kind], Callable[[Path], object]] = {
    ("moving branches", Kind.PARTS): lambda path: lftj.connect(
        path, move=True, executor=cast("Any", InlineExecutor(path))
    ),
    ("move and copy", Kind.PATH): lambda path: lftj.connect(path, move=True, copy=True),
}
"""Moves of a path with a branch that are refused."""
PROGRAMS = {
    "asking in a cycle": ".decl deg(x: number, n: number) deg(1, 0). "
    "deg(y, n) :- edge(x, y), deg(x, k), n = count : { edge(_, z), z > k }.",
    "several rules that add up": ".decl far(x: number, n: number) far(y, 1) :- edge(1, y). "
    "far(y, sum(n)) :- far(x, n), edge(x, y), x < y.",
}
"""Rules that one kind of workspace refuses."""


def refusal(capability: str, kind: Kind, call: Callable[[], object]) -> None:
    """Assert that a call is refused as the list says, or works if it is not there."""
    listed = REFUSALS.get((capability, kind))
    if listed is None:
        call()
        return
    with pytest.raises(lftj.LftjError) as caught:
        call()
    assert type(caught.value) is listed.error
    assert (caught.value.code, caught.value.hint) == (listed.code, listed.hint)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(
    ("owner", "name"),
    [(owner, name) for owner, calls in CALLS.items() for name in calls],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_call_works_or_is_listed(
    kind: Kind, owner: type, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    capability = "ws.changes" if owner is lftj.Workspace and name == "changes" else name
    with opened(kind, tmp_path) as ws:
        refusal(capability, kind, lambda: CALLS[owner][name](filled(ws)))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_works_or_is_listed(
    kind: Kind, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if option in ("create", "read_only", "copy", "move") and kind is Kind.PATH:
        with opened(kind, tmp_path) as ws:
            filled(ws)

    def connect() -> None:
        with opened(kind, tmp_path, **{option: OPTIONS[option]}) as ws:
            if not ws.relations:
                filled(ws)
            assert ws["edge"]

    refusal(option, kind, connect)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("capability", PROGRAMS)
def test_a_program_works_or_is_listed(capability: str, kind: Kind, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as ws:
        refusal(capability, kind, lambda: filled(ws).add_rules(PROGRAMS[capability]))


@pytest.mark.parametrize("capability", EXECUTORS)
def test_an_executor_that_cannot_be_is_listed(
    capability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "none"
    refusal(capability, Kind.PARTS, lambda: EXECUTORS[capability](path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("capability", "kind"), MOVES)
def test_a_move_that_cannot_be_is_listed(capability: str, kind: Kind, tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w") as ws:
        filled(ws).branch("trial")
    refusal(capability, kind, lambda: MOVES[capability, kind](tmp_path / "w"))
    with lftj.connect(tmp_path / "w") as ws:
        assert ws.branches["trial"]["edge"]


def test_the_address_of_a_folder_is_that_folder(tmp_path: Path) -> None:
    with lftj.connect(f"file://{tmp_path}/flights") as ws:
        filled(ws)
    with lftj.connect(tmp_path / "flights", read_only=True) as ws:
        assert ws["edge"]


def test_every_public_call_and_option_is_tried() -> None:
    for owner, calls in CALLS.items():
        public = {
            name
            for name, value in inspect.getmembers(owner)
            if not name.startswith("_") and not isinstance(value, str)
        }
        assert public == {call for call in calls if " " not in call}, owner
    assert set(inspect.signature(lftj.connect).parameters) == {*OPTIONS, "executor"}
    tried = {"ws.changes", *WORKSPACE, *TRANSACTION, *SNAPSHOT, *OPTIONS, *EXECUTORS, *PROGRAMS}
    tried |= {capability for capability, _ in MOVES}
    assert {capability for capability, _ in REFUSALS} <= tried


def test_every_refusal_says_what_to_do_instead_and_the_page_too() -> None:
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    page = page.partition("## Refusals")[2].partition("\n## ")[0]
    for (capability, _), listed in REFUSALS.items():
        assert issubclass(listed.error, lftj.LftjError)
        assert len(listed.hint) > 15, capability
        assert capability in page, capability
