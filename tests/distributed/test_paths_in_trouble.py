"""Paths and their drivers at bad moments: a commit is there or not, nothing that is true is
removed, and what is not leaves no files.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import draft, store
from lftj.distributed.files import manifest
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.stored import stored_files
from lftj.frames import whole_files
from tests.distributed.accounts import change, made, opened, rows
from tests.distributed.accounts import expected as expected
from tests.distributed.inline import InlineExecutor


def stray(workspace: Any, path: Path) -> set[str]:
    """Row files that are in no version."""
    return {file.name for file in (path / "rows").iterdir()} - workspace._backend.manifest.files()


def full(*args: Any, **options: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(*args: Any, **options: Any) -> Any:
    raise KeyboardInterrupt


def after(function: Callable[..., Any], trouble: Callable[..., Any]) -> Callable[..., Any]:
    """The function, and then trouble."""

    def both(*args: Any, **options: Any) -> Any:
        function(*args, **options)
        trouble()

    return both


MOMENTS: dict[str, tuple[object, str, Callable[..., Any], type[BaseException] | None, bool]] = {
    # what to replace, and by what; what is raised; whether the commit has happened
    "disc full at the manifest": (Manifest, "store", full, lftj.DistributedError, False),
    "interrupt at the manifest": (Manifest, "store", interrupted, KeyboardInterrupt, False),
    "folder not synced": (Manifest, "store", after(Manifest.store, full), None, True),
    "interrupt after the manifest": (
        Manifest,
        "store",
        after(Manifest.store, interrupted),
        KeyboardInterrupt,
        True,
    ),
    "files not removed": (store, "remove_files", full, None, True),
    "interrupt among removals": (store, "remove_files", interrupted, KeyboardInterrupt, True),
    "no room to compact": (store, "compacted", full, None, True),
    "interrupt in compaction": (store, "compacted", interrupted, KeyboardInterrupt, True),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_commit_has_happened_or_not(
    moment: str, tmp_path: Path, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, name, by, error, happened = MOMENTS[moment]
    with made(opened(tmp_path)) as workspace:
        version = workspace.version
        monkeypatch.setattr(store, "most_entries", lambda *_: 2)
        monkeypatch.setattr(store, "recent_entries", lambda *_: 0)
        with monkeypatch.context() as trouble:
            trouble.setattr(replaced, name, by)
            if error is None:
                change(workspace)
            else:
                with pytest.raises(error):
                    change(workspace)
        assert (workspace.version, rows(workspace)) == (version + happened, expected[happened])
        on_disk = Manifest.load(tmp_path)
        assert on_disk is not None
        assert on_disk.files() <= {file.name for file in (tmp_path / "rows").iterdir()}
        assert (on_disk.version, on_disk.token) == (
            version + happened,
            workspace._backend.manifest.token,
        )
        assert happened or not stray(workspace, tmp_path)
    with opened(tmp_path) as workspace:
        assert rows(workspace) == expected[happened]
        change(workspace)
        assert rows(workspace) == expected[True]
        assert workspace.verify() == []


def test_folders_on_the_way_to_a_path_are_made(tmp_path: Path, expected: Any) -> None:
    with made(opened(tmp_path / "of" / "mine")) as workspace:
        assert rows(workspace) == expected[False]
    with opened(tmp_path / "of" / "mine") as workspace:
        assert rows(workspace) == expected[False]


def test_a_full_disc_is_told_and_room_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(opened(tmp_path)) as workspace:
        with monkeypatch.context() as trouble:
            trouble.setattr(whole_files.os, "replace", full)
            with pytest.raises(lftj.DistributedError, match="No space left on device") as caught:
                workspace.load("e", [(30, 31)])
        assert caught.value.code == "E405"
        assert str(tmp_path) in str(caught.value)
        assert not list(tmp_path.rglob("*.tmp"))
        assert not stray(workspace, tmp_path)
        assert workspace.load("e", [(30, 31)]) == 1


ASKED: dict[str, Callable[[Any], object]] = {
    "upsert": lambda tx: (
        tx.upsert("acct", [(1, "new"), (60, "new")]) or tx.delete_where("acct", id=2)
    ),
    "delete_where": lambda tx: tx.delete_where("acct", o="o2"),
    "existing": lambda tx: tx.insert("e", [(n, n) for n in range(20, 30)], existing="error"),
}


@pytest.mark.parametrize("room", range(2))
@pytest.mark.parametrize("asked", [*ASKED, "verify", "query"])
def test_a_disc_that_is_soon_full_is_told_by_all_that_writes(
    asked: str, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: Any
) -> None:
    with made(opened(tmp_path)) as workspace:
        replace, count = os.replace, 0

        def soon_full(*args: Any) -> None:
            nonlocal count
            count += 1
            full() if count > room else replace(*args)

        def ask() -> None:
            if asked == "query":
                workspace.query("linked(x, y), linked(y, z)")
            elif asked == "verify":
                workspace.verify()
            else:
                with workspace.transaction() as tx:
                    ASKED[asked](tx)

        before = stray(workspace, tmp_path)
        with monkeypatch.context() as trouble:
            trouble.setattr(whole_files.os, "replace", soon_full)
            with pytest.raises(lftj.DistributedError, match="No space left on device") as caught:
                ask()
            assert caught.value.code == "E405"
        assert stray(workspace, tmp_path) == before
        assert rows(workspace) == expected[False]


def test_a_compaction_that_fails_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(opened(tmp_path)) as workspace:
        workspace.load("e", [(n, n) for n in range(20)])
        before = stray(workspace, tmp_path)
        replace, count = os.replace, 0

        def soon_full(*args: Any) -> None:
            nonlocal count
            count += 1
            full() if count > 2 else replace(*args)

        with monkeypatch.context() as trouble:
            trouble.setattr(whole_files.os, "replace", soon_full)
            with pytest.raises(lftj.DistributedError, match="No space left on device"):
                workspace.compact()
        assert count > 2
        assert stray(workspace, tmp_path) == before


def test_commits_leave_no_files_that_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(opened(tmp_path)) as workspace:
        for _ in range(3):
            assert workspace.load("e", [(0, 1)]) == 0
            with pytest.raises(lftj.KeyViolationError):
                workspace.load("acct", [(1, "another"), (60, "a"), (61, "b")])
        assert not stray(workspace, tmp_path)
        # Where a commit changed less than it asked for, a file tells its changes: those of late
        # commits alone are kept.
        monkeypatch.setattr(store, "most_entries", lambda *_: 10)
        monkeypatch.setattr(store, "recent_entries", lambda *_: 3)
        for node in range(100, 160):
            with workspace.transaction() as tx:
                tx.insert("e", [(0, 1), (1, 2), (node, node), (node, node + 1)])
            assert sorted(row[:3] for row in tx.changes("e").fetchall()) == [
                (node, node, 1),
                (node, node + 1, 1),
            ]
        assert len(list((tmp_path / "rows").iterdir())) < 150
        assert workspace.verify() == []


def test_what_workers_store_does_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_files, "UNTOUCHED", 0.0)
    monkeypatch.setattr(store, "most_entries", lambda *_: 40)
    monkeypatch.setattr(store, "recent_entries", lambda *_: 18)
    with made(lftj.connect(executor=InlineExecutor(tmp_path, 3, 2))) as workspace:
        workspace.add_rules(
            ".decl met(o: symbol, n: number) met(o, count()) :- acct(x, o), e(x, y), e(y, z), "
            "acct(z, _)."
        )
        executor = workspace._backend.executor
        for step in range(36):
            with workspace.transaction() as tx:
                tx.insert("e", [(step, step + 1), (step + 2, step)])
                tx.upsert("acct", [(step, f"s{step}")])
            if step % 12 == 11:
                executor.forget()  # others begin files of their own
        whole = len(list((tmp_path / "state").glob("whole-*")))
        assert whole < 10
        stored_files.sweep_shared(tmp_path)
        assert len(list((tmp_path / "state").glob("whole-*"))) == whole  # all that is of use
        executor.forget()
        with workspace.transaction() as tx:
            tx.delete("e", [(n, n + 1) for n in range(36)])
        cost = workspace.profile(last=1).iloc[0]
        assert cost["built"] == 0
        assert workspace.verify() == []


def test_rows_without_a_manifest_are_not_removed(tmp_path: Path) -> None:
    with made(opened(tmp_path)):
        pass
    before, files = (
        {file.name for file in (tmp_path / "rows").iterdir()},
        list(tmp_path.glob("manifest-*")),
    )
    texts = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    with pytest.raises(
        lftj.DistributedError, match=r"the manifest is missing, though .* holds rows"
    ) as caught:
        opened(tmp_path)
    assert caught.value.code == "E403"
    assert {file.name for file in (tmp_path / "rows").iterdir()} == before
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text)
    with opened(tmp_path) as workspace:
        assert len(workspace["acct"].fetchall()) == 12


def test_a_first_commit_that_died_is_no_damage(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        manifest.Manifest.store = lambda *args: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        workspace = opened(tmp_path / "path")
        made(workspace)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with opened(tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        assert workspace.load("e", [(1, 2)]) == 1


def test_an_interrupt_that_a_transaction_outlives_loses_none_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(opened(tmp_path)) as workspace, workspace.transaction() as tx:
        tx.delete_where("acct", o="o2")
        with monkeypatch.context() as patch:
            patch.setattr(draft, "remove_files", after(manifest.remove_files, interrupted))
            with pytest.raises(KeyboardInterrupt):
                tx.delete_where("acct", o="o1")
        tx.insert("acct", [(99, "new")])
        tx.commit()
        assert {row[1] for row in workspace["acct"]} == {"o0", "new"}


def test_the_number_of_parts_is_open_until_there_are_rows(tmp_path: Path) -> None:
    with opened(tmp_path, 3) as workspace:
        workspace.relation("e", {"x": int, "y": int})
    with opened(tmp_path, 5) as workspace:
        workspace.load("e", [(n, n) for n in range(30)])
    with pytest.raises(lftj.DistributedError, match="holds 5 parts, the executor has 3"):
        opened(tmp_path, 3)


def test_a_path_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        lftj.DistributedError, match=r"/file cannot be used: .*File exists"
    ) as caught:
        opened(tmp_path / "file")
    assert caught.value.code == "E405"
