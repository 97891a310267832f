"""Paths whose workspace goes on over parts, and in one process again: rows stay in their files, and
whatever the moment at which a move is broken off, the path has one workspace, with all rows.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.api import moving
from tests.distributed.inline import InlineExecutor
from tests.distributed.test_copies_elsewhere import EDGES, RULES, change, everything


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with lftj.connect(tmp_path / "one") as workspace:
        workspace.add_rules(RULES)
        workspace.load("edge", EDGES[:3])
        workspace.load("reach", [("x", "y")])
        workspace.load("edge", EDGES[3:])
        workspace.program(".decl far(x: Code)  far(x) :- reach(x, y), reach(y, x).", name="far")
    return tmp_path / "one"


def over(path: Path, parts: int = 3) -> Any:
    executor: Any = InlineExecutor(path, parts)
    return lftj.connect(path, move=True, executor=executor)


def in_one(path: Path) -> lftj.Workspace:
    return lftj.connect(path, move=True)


def opened_over(path: Path, parts: int = 3) -> Any:
    executor: Any = InlineExecutor(path, parts)
    return lftj.connect(executor=executor)


def bytes_of(path: Path, folder: str) -> int:
    return sum(file.stat().st_size for file in (path / folder).rglob("*") if file.is_file())


def test_there_and_back_with_changes_between(path: Path) -> None:
    with lftj.connect(path, copy=True) as memory, lftj.connect(path) as one:
        expected, version = everything(memory), one.version
        change(memory)
        after = everything(memory)
    with over(path) as parts:
        assert everything(parts) == expected
        assert parts.version == version + 2  # rows, and then rules
        assert parts._backend.manifest.program["sizes"]["edge"] == len(EDGES)
        assert parts.verify() == []
        change(parts)
        assert everything(parts) == after
    with opened_over(path) as parts:
        assert everything(parts) == after
        assert parts.verify() == []
    with in_one(path) as one:
        assert everything(one) == after
        assert one.version == version + 3
        assert one.verify() == []
        one.load("edge", [EDGES[0]])
        change(one)
        assert one.version == version + 5
        assert everything(one) == after
    with lftj.connect(path) as one:
        assert everything(one) == after
        one.load("edge", [EDGES[0]])
        expected = everything(one)
    with over(path, 5) as parts:
        assert everything(parts) == expected
        parts.compact()
        assert parts.verify() == []
    with in_one(path) as one:
        assert everything(one) == expected
        assert one.at(one.version)["edge"].fetchall() == one["edge"].fetchall()


def test_no_row_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "w"
    with lftj.connect(path) as one:
        one.relation("edge", {"x": int, "y": str})
        one.add_rules(".decl few(x: number, y: symbol) few(x, y) :- edge(x, y), x < 3.")
        one.load("edge", [(i, f"n{i}") for i in range(50_000)])
    pages = {file: file.stat().st_mtime_ns for file in (path / "pages").iterdir()}
    with over(path) as parts:
        assert len(parts["edge"]) == 50_000
        assert bytes_of(path, "rows") < 20_000  # three rows of the view, and what names pages
        parts.load("edge", [(1, "more")])
        assert parts["few"].fetchall() == [(0, "n0"), (1, "n1"), (1, "more"), (2, "n2")]
    assert {file: file.stat().st_mtime_ns for file in pages} == pages
    rows = {file: file.stat().st_mtime_ns for file in (path / "rows").iterdir()}
    with in_one(path) as one:
        assert len(one["edge"]) == 50_001
        log = path / "log.sqlite"
        assert log.stat().st_size + bytes_of(path, "pages") < sum(
            file.stat().st_size for file in pages
        ) + (1 << 18)
        held = {file: file.stat().st_mtime_ns for file in rows if file.exists()}
        assert held.items() <= rows.items()
        assert held
    assert not (path / "rows").exists()  # pages have taken their place
    assert not list(path.glob("manifest-*"))
    with lftj.connect(path) as one:
        assert len(one["edge"]) == 50_001


def test_rows_stay_as_long_as_the_past_is_in_them(path: Path) -> None:
    with over(path) as parts:
        version, expected = parts.version, everything(parts)
    tuning = lftj.Tuning(paged_rows=1)
    with lftj.connect(path, move=True, keep="all", tuning=tuning) as one:
        change(one)
        one.load("edge", [("q", "r", 1)])
        one.compact()
    with lftj.connect(path, keep="all") as one:
        past = one.at(version)
        assert {name: sorted(map(repr, past[name])) for name in one.relations} == {
            name: rows for name, rows in expected.items() if name != "rules"
        }


def test_choice_domains_are_chosen_again_from_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "w"
    with lftj.connect(path) as one:
        one.add_rules(".decl ch(a: number, b: number) choice-domain a")
        one.load("ch", [(1, 5), (1, 3)])
        expected = everything(one)
    over(path).close()
    for _ in range(2):
        with in_one(path) as one:
            assert everything(one) == expected
            assert one.verify() == []
            one.load("ch", [(2, 2)])
            with one.transaction() as tx:
                tx.delete("ch", [(2, 2)])
    with over(path) as parts:
        assert everything(parts) == expected
        with parts.transaction() as tx:
            tx.delete("ch", [(1, 3)])
        assert parts["ch"].fetchall() == [(1, 5)]


def test_positions_of_feeds_go_along(tmp_path: Path) -> None:
    path = tmp_path / "w"
    executor: Any = InlineExecutor(path)
    with lftj.connect(executor=executor) as workspace:
        parts: Any = workspace._backend
        workspace.relation("e", {"x": int})
        draft = parts.draft(("clicks 7f", 4))
        draft.insert("e", [(1,)], False, {})
        draft.batches["table visits"] = 9
        with parts.writer.held():
            parts.commit(draft)
    for last in (9, 11):
        with in_one(path) as one:
            assert sorted(one["feed_position"]) == [("clicks 7f", 4), ("visits", last)]
            with one.transaction() as tx:
                tx.upsert("feed_position", [("visits", 11)])
        with over(path) as parts:
            known = parts._backend.manifest.batches
            assert (known["clicks 7f"], known["table visits"]) == (4, 11)


def test_a_workspace_without_commits_goes_too(tmp_path: Path) -> None:
    lftj.connect(tmp_path / "w").close()
    with over(tmp_path / "w") as parts:
        assert list(parts.relations) == []
        parts.relation("e", {"x": int})
    with in_one(tmp_path / "w") as one:
        assert list(one.relations) == ["e"]


def test_pages_that_cannot_be_written_move_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with over(path) as parts:
        expected = everything(parts)
    moving.go_on_in_one_process(path)  # and no checkpoint is written
    files = {file: file.stat().st_size for file in (path / "rows").iterdir()}
    with monkeypatch.context() as patch:
        full = OSError(errno.ENOSPC, "No space left on device")
        patch.setattr("lftj.engine.durable.durable.written", Mock(side_effect=full))
        with pytest.raises(lftj.DurableError, match="could not be written") as caught:
            over(path)
    assert caught.value.code == "E354"
    assert {file: file.stat().st_size for file in (path / "rows").iterdir()} == files
    with over(path) as parts:
        assert everything(parts) == expected


def test_a_refused_move_leaves_the_past_and_readers(path: Path) -> None:
    with over(path) as parts:
        parts.load("edge", [("q", "r", 1)])
        version, expected = parts.version, everything(parts)
    with lftj.connect(path, move=True, keep="all") as one:
        one.load("edge", [("q", "s", 1)])
        one.add_rules(".decl sums(x: Code, n: number)")
        one.add_rules('sums("a", 1) :- true.  sums("b", sum(w)) :- edge(_, _, w), !is_null(w).')
    with lftj.connect(path, read_only=True) as reader:
        with pytest.raises(lftj.DistributedError, match="several rules that add up"):
            over(path)
        past = reader.at(version)
        assert sorted(map(repr, past["edge"])) == expected["edge"]
    with lftj.connect(path, keep="all") as one:
        assert sorted(map(repr, one.at(version)["edge"])) == expected["edge"]


def test_one_who_moves_has_the_path_for_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    step: Callable[..., Any] = moving.forget_parts

    def meanwhile(path: Path) -> None:
        for call in (over, in_one):
            with pytest.raises(lftj.LftjError) as caught:
                call(path)
            tried.append(caught.value.code)
        step(path)

    with lftj.connect(path) as one:
        expected = everything(one)
    monkeypatch.setattr(moving, "forget_parts", meanwhile)
    with over(path) as parts:
        assert everything(parts) == expected
    assert tried == ["E350", "E350"]
    reader = lftj.connect(path, read_only=True)
    with pytest.raises(lftj.DurableError, match="open for reading") as caught:
        in_one(path)
    assert caught.value.code == "E350"
    assert everything(reader) == expected
    reader.close()
    with in_one(path) as one:
        assert everything(one) == expected
    assert tried[2:] == ["E350", "E402"]


def test_a_compaction_cuts_what_one_process_left(path: Path) -> None:
    with over(path) as parts:
        expected = everything(parts)
        parts.compact()
        assert not list((path / "rows").glob("*.pages"))
        assert not (path / "pages").exists()
        assert everything(parts) == expected


def test_files_of_others_stay(path: Path) -> None:
    others = (path / "manifest-v1.json", path / "programs" / "mine.dl", path / "rows" / "mine.txt")
    with lftj.connect(path) as one:
        expected = everything(one)
    for file in others:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    with lftj.connect(path) as one:
        assert everything(one) == expected
        one.load("edge", [("q", "r", 1)])
    assert all(file.read_text() == "mine" for file in others)


def test_repeated_calls_open_what_is_there(path: Path) -> None:
    with in_one(path) as one:
        expected = everything(one)
    for _ in range(2):
        with over(path) as parts:
            assert everything(parts) == expected
    for _ in range(2):
        with in_one(path) as one:
            assert everything(one) == expected


def test_parts_that_have_pages_are_divided_anew_and_read_along(path: Path) -> None:
    with lftj.connect(path) as one:
        expected = everything(one)
    with over(path) as parts:
        assert parts.repartition(2)
        assert everything(parts) == expected
        assert not (path / "pages").exists()  # rows were cut anew
        with lftj.connect(path, read_only=True) as reader:
            assert everything(reader) == expected
    with in_one(path) as one:
        one.backup(path.parent / "kept")
        one.load("edge", [("q", "r", 1)])
    with lftj.connect(path.parent / "kept") as kept:
        assert everything(kept) == expected


class Stopped(BaseException):
    """The process ends."""


def stopping(monkeypatch: pytest.MonkeyPatch, name: str, before: bool) -> None:
    """Have the process end before or after a step."""
    step: Callable[..., Any] = getattr(moving, name)

    def stopped(*args: Any, **options: Any) -> Any:
        if before:
            raise Stopped
        step(*args, **options)
        raise Stopped

    monkeypatch.setattr(moving, name, stopped)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", ["entries_of_pages", "begin_with", "_remove_log"])
def test_a_move_to_parts_that_ends_early(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, before: bool
) -> None:
    with lftj.connect(path) as one:
        expected = everything(one)
    with monkeypatch.context() as patch:
        patch.setattr(moving, "forget_parts", lambda path: None)  # nobody is there to do so
        stopping(patch, step, before)
        with pytest.raises(Stopped):
            over(path)
    happened = step == "_remove_log" and not before
    with opened_over(path) if happened else lftj.connect(path) as workspace:
        assert everything(workspace) == expected
    if not happened:
        assert not list(path.glob("manifest-*"))
        with pytest.raises(lftj.DistributedError, match="of one process"):
            opened_over(path)
    with over(path, 3 if happened else 4) as parts:
        assert everything(parts) == expected
        assert parts.verify() == []
        change(parts)
        after = everything(parts)
    with in_one(path) as one:
        assert everything(one) == after


@pytest.mark.parametrize("step", ["_remove_beside", "replace", "forget_parts"])
@pytest.mark.parametrize("before", [True, False])
def test_a_move_back_that_ends_early(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, before: bool
) -> None:
    with over(path) as parts:
        change(parts)
        expected = everything(parts)
    with monkeypatch.context() as patch:
        if step == "replace":
            replace = os.replace

            def stopped(source: Path, target: Path) -> None:
                if not before:
                    replace(source, target)
                raise Stopped

            patch.setattr(moving.os, "replace", stopped)
            patch.setattr(moving, "forget_parts", lambda path: None)
        else:
            stopping(patch, step, before)
        with pytest.raises(Stopped):
            in_one(path)
    happened = step == "forget_parts" or (step == "replace" and not before)
    with lftj.connect(path) if happened else opened_over(path) as workspace:
        assert everything(workspace) == expected
    if happened:
        assert not list(path.glob("manifest-*"))
    with in_one(path) as one:
        assert everything(one) == expected
        assert one.verify() == []


def test_one_that_stays_is_as_before(path: Path) -> None:
    with lftj.connect(path) as one:
        expected = everything(one)
        with pytest.raises(lftj.DurableError, match="open for writing") as caught:
            over(path)
        assert caught.value.code == "E350"
        one.branch("trial")
    with pytest.raises(lftj.DistributedError, match="branches, found trial") as refused:
        over(path)
    assert refused.value.code == "E400"
    with lftj.connect(path) as one:
        one.branches["trial"].drop()
    with lftj.connect(path, read_only=True) as reader:
        with pytest.raises(lftj.DurableError, match="open for reading") as caught:
            over(path)
        assert caught.value.code == "E350"
        assert everything(reader) == expected
    with lftj.connect(path) as one:
        one.add_rules(".decl sums(x: Code, n: number)")
        one.add_rules('sums("a", 1) :- true.  sums("b", sum(w)) :- edge(_, _, w), !is_null(w).')
    with pytest.raises(lftj.DistributedError, match="several rules that add up"):
        over(path)
    with lftj.connect(path) as one:
        assert (
            everything(one).items()
            >= {name: rows for name, rows in expected.items() if name != "rules"}.items()
        )
        assert one.verify() == []


def test_calls_that_move_nothing(path: Path, tmp_path: Path) -> None:
    elsewhere: Any = InlineExecutor(tmp_path / "parts")
    for call, code in (
        (lambda: lftj.connect(path, move=True, executor=elsewhere), "E400"),
        (lambda: lftj.connect(move=True), "E160"),
        (lambda: lftj.connect(move=True, executor=elsewhere), "E400"),
        (lambda: lftj.connect(path, move=True, copy=True), "E160"),
        (lambda: lftj.connect(path, move=True, read_only=True), "E160"),
        (lambda: lftj.connect(tmp_path / "none", move=True), "E351"),
        (lambda: over(tmp_path / "none"), "E351"),
    ):
        with pytest.raises(lftj.LftjError) as caught:
            call()
        assert caught.value.code == code
    assert not (tmp_path / "none").exists()
    with lftj.connect(path) as one:
        assert one["edge"].fetchall()


def test_damaged_pages_and_rows_are_told(path: Path) -> None:
    shutil.copytree(path, path.parent / "other")
    with over(path) as parts:
        parts.load("edge", [("q", "r", 1)])
    (file,) = (path / "pages").glob("*.pages")
    content = bytearray(file.read_bytes())
    for place in range(4096, len(content), 512):
        content[place] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(lftj.LftjError, match="damaged"):
        in_one(path)
    other = path.parent / "other"
    with over(other) as parts:
        parts.repartition(2)
    for each in (other / "rows").iterdir():
        content = bytearray(each.read_bytes())
        content[len(content) // 2] ^= 0xFF
        each.write_bytes(content)
    with pytest.raises(lftj.LftjError, match="damaged"):
        in_one(other)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("delete"), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("go"), st.integers(1, 4), st.just(0)),
        st.tuples(st.sampled_from(["back", "open", "tidy"]), st.just(0), st.just(0)),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=12)
@given(STEPS)
def test_random_histories_that_go_there_and_back(steps: list[tuple[str, int, int]]) -> None:
    rules = """.decl e(x: number, y: symbol) .decl r(x: number, y: symbol)
        .decl n(x: number, c: number)
        r(x, y) :- e(x, y).  r(z, y) :- r(x, y), e(z, w), to_number(w) = x.
        n(x, count()) :- r(x, _)."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing:
        path, parts, expected = Path(folder) / "w", 0, lftj.connect()
        workspace = lftj.connect(path)
        closing.callback(lambda: workspace.close())
        for each in (workspace, expected):
            each.add_rules(rules)
            each.load("r", [(7, "own")])
        for step, x, y in steps:
            match step:
                case "insert" | "delete":
                    for each in (workspace, expected):
                        with each.transaction() as tx:
                            getattr(tx, step)("e", [(x, str(y)), (y, str(x + 1))])
                case "tidy":
                    workspace.compact()
                case "go" if not parts:
                    workspace.close()
                    workspace, parts = over(path, x), x
                case "go":
                    workspace.repartition(x)
                    parts = x
                case "back":
                    workspace.close()
                    workspace, parts = in_one(path), 0
                case _:
                    workspace.close()
                    workspace = opened_over(path, parts) if parts else lftj.connect(path)
            for name in ("e", "r", "n"):
                assert sorted(workspace[name]) == sorted(expected[name]), step
        assert workspace.verify() == []
