"""The same calls on a workspace in this process and on one in parts: the same answers, change sets,
numbers and errors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import LftjError
from tests.distributed.inline import InlineExecutor

RULES = """
.decl held(owner: symbol, n: number, total: float)
held(o, count(), sum(b)) :- acct(_, o, b).
.decl linked(a: number, b: number)
linked(x, y) :- edge(x, y), acct(x, _, _), acct(y, _, _).
.decl reach(a: number, b: number)
reach(x, y) :- linked(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""


def declare(workspace: Any) -> None:
    """Relations with and without keys, cut by a column or not at all."""
    workspace.relation("acct", {"id": int, "owner": str, "balance": float}, key="id")
    workspace.relation("edge", {"x": int, "y": int})
    workspace.relation(
        "rate", {"day": int, "from": str, "to": str, "rate": "decimal(10,2)"}, key=["from", "to"]
    )
    workspace.function("limit", {"owner": str}, int)
    workspace.add_rules(RULES)
    workspace.load("acct", [(i, f"o{i % 4}", i / 4) for i in range(12)])
    workspace.load("edge", [(i, (i * 5 + 1) % 12) for i in range(12)])
    workspace.load("rate", [(1, "a", "b", Decimal("1.25")), (1, "b", "a", Decimal("0.80"))])


@contextmanager
def both(
    folder: Path, parts: int, workers: int = 1, **options: Any
) -> Iterator[tuple[Any, Any, InlineExecutor]]:
    """A workspace in this process and one in parts, with the same in them."""
    executor = InlineExecutor(folder, parts, workers)
    with lftj.connect() as local, lftj.connect(executor=executor, **options) as far:
        declare(local)
        declare(far)
        yield local, far, executor


def outcome(workspace: Any, work: Callable[[Any], object]) -> object:
    """Result of a transaction: a value and all change sets, or the error's class and code."""
    try:
        with workspace.transaction() as tx:
            result = work(tx)
    except LftjError as error:
        return type(error).__name__, error.code
    changes = {name: {row[:-1] for row in tx.changes(name).fetchall()} for name in tx.changes()}
    return result, changes, tx.inserted("acct"), tx.inserted("edge")


def called(tx: Any, calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> object:
    """Results of the calls."""
    return [getattr(tx, name)(*args, **options) for name, args, options in calls]


def rows(workspace: Any) -> dict[str, list[Any]]:
    """Everything."""
    return {name: sorted(workspace[name].fetchall()) for name in workspace.relations}


def operations(random: random.Random) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """A few calls of a transaction, as names and arguments."""
    found: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    for _ in range(random.randint(1, 4)):
        account = random.randrange(15), f"o{random.randrange(6)}", random.randrange(8) / 4
        edge = random.randrange(12), random.randrange(12)
        found.append(
            random.choice(
                [
                    (
                        "upsert",
                        ("acct", [account, (account[0], "last", 0.5)][: random.randint(1, 2)]),
                        {},
                    ),
                    ("upsert", ("limit", [(account[1], account[0])]), {}),
                    (
                        "upsert",
                        (
                            "rate",
                            [(2, "a", account[1], Decimal("2.5")), (3, "a", "b", Decimal("0.01"))],
                        ),
                        {},
                    ),
                    (
                        "delete_where",
                        ("acct",),
                        random.choice(
                            [{"id": account[0]}, {"owner": account[1]}, {"balance": 0.5}, {}]
                        ),
                    ),
                    (
                        "delete_where",
                        ("edge",),
                        random.choice(
                            [{"x": edge[0]}, {"y": edge[1]}, {"x": edge[0], "y": edge[1]}]
                        ),
                    ),
                    (
                        "delete_where",
                        ("rate",),
                        random.choice([{"to": "a"}, {"from": "nobody"}, {"rate": Decimal("0.8")}]),
                    ),
                    ("insert", ("edge", [edge]), {}),
                    ("insert", ("edge", [edge]), {"existing": "error"}),
                    ("delete", ("edge", [edge]), {}),
                    ("delete", ("edge", [edge]), {"missing": "error"}),
                    ("insert", ("acct", [account]), {}),
                    ("insert", ("linked", [edge]), {}),
                    ("delete_where", ("linked",), {"a": edge[0]}),
                ]
            )
        )
    return found


@pytest.mark.parametrize(("parts", "workers"), [(1, 1), (3, 2), (7, 1)])
def test_operations_come_to_the_same(tmp_path: Path, parts: int, workers: int) -> None:
    chosen = random.Random(parts)
    with both(tmp_path, parts, workers) as (local, far, executor):
        for number in range(25):
            calls = operations(chosen)
            results = [outcome(each, partial(called, calls=calls)) for each in (local, far)]
            assert results[0] == results[1], calls
            assert rows(local) == rows(far), calls
            if number == 12:
                executor.forget()
        assert far.verify() == []
        stray = {
            file.name for file in (tmp_path / "rows").glob("*")
        } - far._backend.manifest.files()
        assert not [name for name in stray if "settled" in name]


WRONG: list[Callable[[Any], object]] = [
    lambda tx: tx.delete_where("edge", z=1),
    lambda tx: tx.delete_where("edge", x="one"),
    lambda tx: tx.delete_where("none", x=1),
    lambda tx: tx.delete_where("held_view", x=1),
    lambda tx: tx.upsert("edge", [(1, 2)]),
    lambda tx: tx.upsert("acct", [("one", "o", 0.5)]),
    lambda tx: tx.insert("edge", [(1, 2)], existing="perhaps"),
    lambda tx: tx.insert("edge", "/no such folder/edges.parquet"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_told_alike_and_leaves_the_transaction_as_it_was(
    tmp_path: Path, wrong: Callable[[Any], object]
) -> None:
    def caught(tx: Any) -> object:
        tx.upsert("acct", [(1, "z", 9.0)])
        with pytest.raises(LftjError) as found:
            wrong(tx)
        tx.insert("edge", [(50, 51)])
        return type(found.value).__name__, found.value.code, found.value.message

    with both(tmp_path, 3) as (local, far, _):
        for each in (local, far):
            each.view("held_view", {"x": int})
        assert outcome(local, caught) == outcome(far, caught)
        assert rows(local) == rows(far)


def test_only_parts_with_such_rows_are_asked_and_few_bytes_go(tmp_path: Path) -> None:
    with both(tmp_path, 7) as (_, far, executor):
        far.load("acct", [(i, f"o{i}", 1.0) for i in range(100, 3000)])
        executor.tasks.clear()
        with far.transaction() as tx:
            tx.upsert("acct", [(7, "you", 1.0)])
            assert not executor.tasks
        settled = [task for task in executor.tasks if type(task).__name__ == "ResolveTask"]
        assert len(settled) == 1
        assert tx.changes("acct").fetchall() == [
            (7, "o3", 1.75, -1, far.version),
            (7, "you", 1.0, 1, far.version),
        ]
        executor.tasks.clear()
        with far.transaction() as tx:
            assert tx.delete_where("acct", id=200) == 1
            assert tx.delete_where("acct", id=200) == 0
        settled = [task for task in executor.tasks if type(task).__name__ == "ResolveTask"]
        assert len(settled) == 2
        assert len({task.part for task in settled}) == 1
        report = far.profile(last=1).iloc[0]
        assert report["bytes"] < 10_000


def test_a_transaction_that_is_rolled_back_leaves_no_files(tmp_path: Path) -> None:
    with both(tmp_path, 3) as (_, far, _):
        before = {file.name for file in (tmp_path / "rows").glob("*")}
        tx = far.transaction()
        assert tx.delete_where("acct", owner="o1") == 3
        tx.upsert("acct", [(2, "x", 1.0)])
        assert tx.delete_where("acct", owner="x") == 1
        tx.rollback()
        assert {file.name for file in (tmp_path / "rows").glob("*")} == before


def test_subscribers_hear_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with both(tmp_path, 3) as pair:
        heard: list[list[object]] = []
        for each in pair[:2]:
            calls: list[object] = []

            def listen(changes: Any, calls: list[object] = calls) -> None:
                calls.append(
                    (changes.version, changes.columns, {row[:-1] for row in changes.fetchall()})
                )
                if len(calls) == 3:
                    raise ValueError("a subscriber's own")

            with each.subscribe("reach", listen, snapshot=True), each.subscribe("held", listen):
                each.load("edge", [(0, 5), (5, 0)])
                each.load("acct", [(30, "o1", 2.5)])
                each.load("acct", [(30, "o1", 2.5)])
                each.remove_rule(each.rules[-1])
            each.load("acct", [(31, "o1", 2.5)])
            heard.append(calls)
            with pytest.raises(LftjError):
                each.subscribe("nothing", listen)
        assert heard[0] == heard[1]
        assert len(heard[0]) > 3
        assert caplog.text.count("a subscriber's own") >= 2


def test_limits_stop_a_commit_that_then_has_not_been(tmp_path: Path) -> None:
    with both(tmp_path, 3, workers=3) as (local, far, executor):
        for limits, code in [
            ({"work": 3}, "E330"),
            ({"seconds": 0.0}, "E331"),
            ({"memory": 10}, "E332"),
        ]:
            for each in (local, far):
                before = each.version, rows(each)
                with each.limits(**limits), pytest.raises(LftjError) as caught:
                    each.load("edge", [(x, y) for x in range(12) for y in range(12)])
                assert caught.value.code == code
                assert (each.version, rows(each)) == before
        executor.tasks.clear()
        with (
            far.limits(work=10**9, seconds=100, memory=10**12),
            far.limits(seconds=0.0),
            pytest.raises(LftjError, match="time limit"),
        ):
            far.add_rules(".decl p(x: number) p(x) :- edge(x, _).")
        assert not executor.tasks
        with far.limits(work=10**9, seconds=100, memory=10**12):
            for each in (local, far):
                each.load("edge", [(x, y) for x in range(12) for y in range(12)])
        assert rows(local) == rows(far)


def test_memory_is_that_of_the_parts_and_nobody_opens_one(tmp_path: Path) -> None:
    with both(tmp_path, 3) as (local, far, executor):
        seen = {
            (name, order): rows
            for name, held, order, rows, _ in far.memory()
            if held == "sliced by id"
        }
        assert seen["acct", "id, owner, balance"] == 12
        assert {row[0] for row in local.memory()} <= {row[0] for row in far.memory()}
        assert all(row[4] > 0 for row in far.memory() if row[3] and row[1] != "on disk")
        disk = {row[0]: row[3:] for row in far.memory() if row[1] == "on disk"}
        assert disk["acct#base"][0] == 12
        assert all(size > 0 for _, size in disk.values())
        executor.forget()
        assert next(row for row in far.memory() if row[0] == "(rows)")[3:] == (0, 0)


def test_rules_rows_and_declarations_in_one_transaction(tmp_path: Path) -> None:
    (tmp_path / "seen.facts").write_text("1\ta\n2\tb\n")

    def work(tx: Any) -> object:
        tx.upsert("acct", [(1, "new", 1.0)])
        *_, facts = tx.add_rules(
            """.decl seen(x: number, s: symbol)
            .input seen
            .decl f(x: number) f(1). f(2).
            .decl both(x: number) both(x) :- seen(x, _), f(x), acct(x, "new", _).""",
            facts=tmp_path,
        )
        tx.add_rules(".decl more(x: number) more(9).")
        deleted = (
            tx.delete_where("acct", owner="o2"),
            tx.delete_where("seen", s="b"),
            tx.delete_where("more", x=9),
        )
        tx.upsert("acct", [(2, "new", 1.0), (1, "newer", 3.0), (1, "new", 2.0)])
        handles.append(facts)
        return deleted

    with both(tmp_path / "path", 3) as (local, far, _):
        handles: list[Any] = []
        assert outcome(local, work) == outcome(far, work)
        assert rows(local) == rows(far)
        assert rows(far)["both"] == [(1,)]
        for each, facts in zip((local, far), handles, strict=True):
            each.remove_rule(facts)
        assert rows(local) == rows(far)
        assert rows(far)["f"] == []
        assert far.verify() == []


def test_tasks_that_fail_and_are_done_again_change_nothing(tmp_path: Path) -> None:
    with both(tmp_path, 3, workers=2) as (local, far, executor):
        plain = executor.map

        def twice(*arguments: Any, **options: Any) -> list[Any]:
            plain(*arguments, **options)
            executor.forget()
            return plain(*arguments, **options)

        executor.map = twice  # type: ignore[method-assign]
        calls = [
            ("upsert", ("acct", [(1, "p", 0.5), (77, "q", 0.5)]), {}),
            ("delete_where", ("edge",), {"y": 6}),
        ]
        assert outcome(local, partial(called, calls=calls)) == outcome(
            far, partial(called, calls=calls)
        )
        for question in ("acct(x, o, _), held(o, n, _)", "n = sum x : { edge(x, _) }"):
            assert sorted(local.query(question).fetchall()) == sorted(
                far.query(question).fetchall()
            )
        assert rows(local) == rows(far)
