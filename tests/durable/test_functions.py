"""Results of users' functions are in the files: whoever opens them calls no function."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.cli.workspace_files import dump, load
from lftj.engine.durable import checkpoint
from lftj.proofs.kinds import of_users
from lftj.syntax.parser import parse
from tests.reference import evaluate

CALLS: list[str | int] = []
RULES = """
.decl p(x: symbol) .decl n(x: number)
.decl q(x: symbol, y: symbol)
q(x, y) :- p(x), y = slug(x).
.decl c(y: symbol, k: number)
c(y, count()) :- p(x), y = slug(x), !n(strlen(y)).
.decl r(x: number)
r(x) :- n(x).
r(y) :- r(x), y = half(x), y > 0.
.decl h(x: number, y: number?)
h(x, half(x)) :- n(x).
"""


def slug(text: str) -> str:
    """A text in small letters."""
    CALLS.append(text)
    return text.lower()


def half(number: int) -> int | None:
    """Half of a number, which 3 has not."""
    CALLS.append(number)
    return None if number == 3 else number // 2


FUNCTIONS = [lftj.UserFunction(slug), lftj.UserFunction(half)]


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


def begun(path: Path, **options: Any) -> lftj.Workspace:
    """A workspace with some rows."""
    workspace = lftj.connect(path, **options)
    for function in FUNCTIONS:
        workspace.function(function)
    workspace.add_rules(RULES)
    workspace.load("p", [("A",), ("a",), ("B",)])
    workspace.load("n", [(5,), (3,)])
    return workspace


def rows(workspace: Any) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(workspace[name].fetchall()) for name in "pnqcrh"}


@pytest.mark.parametrize("way", ["log", "pages", "large", "read", "backup", "another version"])
def test_opening_calls_no_function(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.lftj"
    tuning = lftj.Tuning(paged_rows=2) if way == "large" else lftj.Tuning()
    workspace = begun(path, tuning=tuning)
    if way in ("pages", "another version"):
        workspace.compact()
    elif way == "backup":
        path = tmp_path / "copy.lftj"
        workspace.backup(path)
    expected = rows(workspace)
    workspace.close()
    if way == "another version":
        monkeypatch.setattr(checkpoint, "stored_format", lambda *layers: "another")
    CALLS.clear()
    with lftj.connect(path, read_only=way == "read") as again:
        assert rows(again) == expected
        assert again.verify() == []
        assert CALLS == []
        if way == "read":
            assert again.function(slug).name == "slug"
            assert len(again.query("p(x), y = slug(x)")) == 3
            assert again.query('y = slug("New")').fetchall() == [("new",)]
            return
        with again.transaction() as tx:
            tx.delete("p", [("A",)])
            tx.insert("p", [("C",)])
        assert CALLS == ["C"]


def test_functions_that_are_not_there_leave_views_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.lftj"
    begun(path).close()
    CALLS.clear()
    with monkeypatch.context() as away:
        away.delattr(f"{__name__}.slug")
        with lftj.connect(path) as workspace:
            assert ("B", "b") in workspace["q"].fetchall()
            assert workspace.verify() == []
            assert 'slug("B")' in str(workspace.explain("q", ("B", "b")))
            before = rows(workspace)
            for call in (
                lambda: workspace.load("p", [("New",)]),
                lambda: workspace.query('y = slug("New")'),
            ):
                with pytest.raises(lftj.DurableError, match="`slug` is not here, so its vi") as hit:
                    call()
                assert hit.value.code == "E357"
                assert "@ws.function" in str(hit.value.hint)
            assert rows(workspace) == before
            with workspace.transaction() as tx:
                tx.delete("p", [("A",)])
                tx.insert("n", [(4,)])
            assert len(workspace["q"]) == 2
            assert CALLS == [4]
    with lftj.connect(path) as workspace:
        workspace.load("p", [("New",)])
        assert CALLS == [4, "New"]


def test_a_module_that_was_not_imported_is_named(tmp_path: Path) -> None:
    elsewhere = lftj.UserFunction(slug, name="slug")
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        slug.__module__ = "a.module.of.yours"
        try:
            workspace.function(elsewhere)
        finally:
            slug.__module__ = __name__
        workspace.add_rules(".decl p(x: symbol) .decl q(y: symbol) q(slug(x)) :- p(x).")
    with (
        lftj.connect(tmp_path / "w.lftj") as workspace,
        pytest.raises(lftj.DurableError, match=r"`a.module.of.yours` is not imported"),
    ):
        workspace.load("p", [("A",)])


def test_other_code_at_the_path_waits_until_it_is_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.lftj"
    begun(path).close()
    CALLS.clear()

    def other(text: str) -> str:
        CALLS.append(text)
        return text.upper()

    other.__qualname__ = "slug"
    monkeypatch.setattr(f"{__name__}.slug", other)
    with lftj.connect(path) as workspace:
        assert ("B", "b") in workspace["q"].fetchall()
        with pytest.raises(lftj.DurableError, match="is another function now, or has other code"):
            workspace.load("p", [("New",)])
        workspace.function(name="slug")(other)
        assert sorted(CALLS) == ["A", "B", "a"]
        assert ("B", "B") in workspace["q"].fetchall()
        workspace.load("p", [("New",)])
        assert workspace.verify() == []
        expected = rows(workspace)
    CALLS.clear()
    with lftj.connect(path) as workspace:
        assert rows(workspace) == expected
        assert CALLS == []


def test_a_function_without_an_import_path_is_refused_in_files(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        with pytest.raises(lftj.DurableError, match="`inner` has no import path") as caught:

            @workspace.function
            def inner(text: str) -> str:  # pyright: ignore[reportUnusedFunction]
                return text

        assert caught.value.code == "E357"
        workspace.relation("inner", {"x": int})


def test_a_dump_names_functions_and_loading_calls_them(tmp_path: Path) -> None:
    with begun(tmp_path / "w.lftj") as workspace:
        expected = rows(workspace)
    dump(tmp_path / "w.lftj", tmp_path / "dump", salvage=False, branch="main")
    CALLS.clear()
    load(tmp_path / "dump", tmp_path / "again.lftj")
    assert sorted(map(str, CALLS)) == ["1", "2", "3", "5", "A", "B", "a"]
    with lftj.connect(tmp_path / "again.lftj") as workspace:
        assert rows(workspace) == expected


# ── histories ─────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("seed", range(4))
def test_random_histories_with_reopenings_and_branches(seed: int, tmp_path: Path) -> None:
    """Views are what the reference engine says after every step; opening calls nothing."""
    drawn = random.Random(seed)
    path = tmp_path / "w.lftj"
    workspace: Any = begun(path, keep="all", durability="off")
    facts: dict[str, set[tuple[Any, ...]]] = {
        "p": {("A",), ("a",), ("B",)}, "n": {(5,), (3,)},
    }  # fmt: skip
    seen: dict[int, dict[str, list[tuple[Any, ...]]]] = {}
    for _ in range(25):
        step = drawn.choice(["change"] * 5 + ["reopen", "compact", "branch", "rollback", "rule"])
        if step == "reopen":
            workspace.close()
            CALLS.clear()
            workspace = lftj.connect(path, keep="all", durability="off")
            _check(workspace, facts)
            assert CALLS == []
        elif step == "compact":
            workspace.compact()
        elif step == "branch":
            branch = workspace.branch("trial")
            _change(branch, facts, drawn)
            _check(branch, facts)
            CALLS.clear()
            workspace.merge(branch)
            assert CALLS == []
            branch.drop()
        elif step == "rule":
            handle = workspace.add_rule('q(y, "r") :- r(x), n(x), y = slug(to_string(x)).')
            assert workspace.verify() == []
            workspace.remove_rule(handle)
        else:
            _change(workspace, facts, drawn, rollback=step == "rollback")
        _check(workspace, facts)
        seen[workspace.version] = rows(workspace)
    CALLS.clear()
    for version in drawn.sample(sorted(seen), 3):
        assert rows(workspace.at(version)) == seen[version]
    assert CALLS == []
    workspace.close()


def _change(
    workspace: Any,
    facts: dict[str, set[tuple[Any, ...]]],
    drawn: random.Random,
    rollback: bool = False,
) -> None:
    known = {name: set(rows) for name, rows in facts.items()}
    with workspace.transaction() as tx:
        for name in drawn.choice(["p", "n", "pn"]):
            values = "AaBbCcDd" if name == "p" else range(12)
            some = {(drawn.choice(values),) for _ in range(drawn.randint(1, 3))}
            if drawn.random() < 0.5:
                tx.delete(name, list(some))
                known[name] -= some
            else:
                tx.insert(name, list(some))
                known[name] |= some
        if rollback:
            tx.rollback()
    if not rollback:
        facts.update(known)


def _check(workspace: Any, facts: dict[str, set[tuple[Any, ...]]]) -> None:
    calls = list(CALLS)
    wanted = evaluate(parse(RULES), facts, functions=of_users(FUNCTIONS))
    CALLS[:] = calls
    for name in "pnqcr":
        assert set(workspace[name].fetchall()) == wanted[name], name
    assert workspace.verify() == []
    assert calls == CALLS
