"""Two drivers of one path whose lock does not keep them apart: one commit of each version is true,
and who made the other is told.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import commit, store
from lftj.distributed.files import epochs, path_lock
from lftj.distributed.files.manifest import Manifest, row_files
from lftj.distributed.objects import file_store
from lftj.frames import whole_files
from tests.distributed.accounts import change, made, opened, rows


def no_locks(*_: Any) -> None:
    raise OSError(errno.ENOTSUP, "Operation not supported")


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks."""
    monkeypatch.setattr(path_lock, "lock_file", no_locks)


def refused(act: Callable[[], object]) -> None:
    """Raises since another workspace has gone on."""
    with pytest.raises(
        lftj.DistributedError, match="another workspace has written below"
    ) as caught:
        act()
    assert caught.value.code == "E406"


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_no_locks_is_not_in_use(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(path_lock, "lock_file", flock)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with opened(tmp_path) as workspace:
                workspace.relation("e", {"x": int, "y": int})
                assert list(workspace.relations) == ["e"]
    assert len([record for record in caplog.records if "has no locks" in record.getMessage()]) == 1


def test_a_removed_lock_and_commits_in_turn(tmp_path: Path) -> None:
    one = made(opened(tmp_path))
    (tmp_path / "writer.lock").unlink()
    other = opened(tmp_path)
    assert one.version == other.version
    assert one.load("e", [(30, 31)]) == 1
    refused(lambda: other.load("e", [(40, 41)]))
    refused(lambda: change(other))  # nor the next one: it is told until it opens the path again
    refused(other.compact)
    assert not [file for file in (tmp_path / "rows").iterdir() if file.name.endswith(".tmp")]
    assert one.load("e", [(31, 32)]) == 1
    other.close()
    one.close()
    with opened(tmp_path) as again:
        assert {(30, 31), (31, 32)} <= set(again["e"])
        assert (40, 41) not in set(again["e"])
        assert (30, 32) in set(again["linked"])
        assert again.load("e", [(40, 41)]) == 1
        assert again.verify() == []


@pytest.mark.usefixtures("unlocked")
@pytest.mark.parametrize(
    "first",
    ["begins to send", "has rows settled", "has sent", "has derived", "is about to make it true"],
)
def test_commits_at_once(first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One driver is somewhere in its commit, when another one commits, compacts and goes on."""
    one = made(opened(tmp_path))
    other = opened(tmp_path)
    expected = dict[str, list[Any]]()

    def meanwhile() -> None:
        monkeypatch.undo()
        monkeypatch.setattr(path_lock, "lock_file", no_locks)
        other.load("e", [(8, 9), (9, 10)])
        other.compact()
        for number in range(6):  # more than there are manifests kept
            other.load("e", [(50 + number, 51 + number)])
        expected.update(rows(other))

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        def both(*args: Any, **options: Any) -> Any:
            meanwhile()
            return function(*args, **options)

        return both

    match first:
        case "begins to send":
            monkeypatch.setattr(store.Commit, "carry_out", before(store.Commit.carry_out))
        case "has rows settled":
            monkeypatch.setattr(store, "Commit", before(store.Commit))
        case "has sent":
            monkeypatch.setattr(commit.Commit, "_touched", before(commit.Commit._touched))
        case "has derived":
            monkeypatch.setattr(commit.Commit, "_outcome", before(commit.Commit._outcome))
        case _:
            monkeypatch.setattr(file_store, "new_file", before(whole_files.new_file))
    refused(lambda: change(one))
    assert expected
    assert rows(other) == expected
    other.load("acct", [(70, "more")])
    one.close()
    other.close()
    with opened(tmp_path) as again:
        assert row_files(tmp_path) == again._backend.manifest.files()
        assert rows(again)["e"] == expected["e"]
        change(again)
        assert again.verify() == []


@pytest.mark.usefixtures("unlocked")
def test_opening_while_another_one_is_in_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening the path removes files that nothing names, so it first makes sure that nothing ever
    will name them.
    """
    one = made(opened(tmp_path))
    before = rows(one)
    plain, others = commit.Commit._outcome, list[Any]()

    def outcome(self: Any) -> Any:
        monkeypatch.setattr(commit.Commit, "_outcome", plain)
        others.append(opened(tmp_path))
        return plain(self)

    monkeypatch.setattr(commit.Commit, "_outcome", outcome)
    refused(lambda: change(one))
    (other,) = others
    assert rows(other) == before
    assert other.load("e", [(30, 31)]) == 1
    one.close()
    other.close()
    with opened(tmp_path) as again:
        assert again.verify() == []
        assert (30, 31) in set(again["e"])


@pytest.mark.usefixtures("unlocked")
def test_two_begin_a_path(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    one.relation("e", {"x": int, "y": int})
    refused(lambda: other.relation("f", {"x": int}))
    one.close()
    other.close()
    with opened(tmp_path) as again:
        assert list(again.relations) == ["e"]


def test_a_number_that_is_free_again_is_of_no_use(tmp_path: Path) -> None:
    """A driver so late that the manifests of then are gone."""
    late = Manifest(3, mark="a")
    late.store(tmp_path)
    last = late
    for _ in range(40):
        before, last = last, last.following(last)
        last.store(tmp_path, before)
    number = min(epochs.epochs(tmp_path))
    assert number > late.epoch + 1
    with pytest.raises(lftj.DistributedError) as caught:
        late.following(late).store(tmp_path)
    assert caught.value.code == "E406"
    assert Manifest.load(tmp_path) == last


def test_a_link_that_a_network_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answer was lost, so the second says that the name is there."""
    plain = os.link

    def link(*names: Any) -> None:
        plain(*names)
        plain(*names)

    monkeypatch.setattr(whole_files.os, "link", link)
    with opened(tmp_path) as workspace:
        workspace.relation("e", {"x": int, "y": int})
        assert workspace.load("e", [(1, 2)]) == 1
    with opened(tmp_path) as workspace:
        assert list(workspace["e"]) == [(1, 2)]
    assert not list(tmp_path.glob("*.tmp"))


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(whole_files.os, "link", link)
    with pytest.raises(lftj.DistributedError, match="its file system has no hard links") as caught:
        opened(tmp_path)
    assert caught.value.code == "E405"


MOMENTS: dict[str, tuple[Any, str, bool]] = {
    # where the driver is killed, and whether its commit is true then
    "with rows settled": (store, "Commit", False),
    "with rows sent": (commit.Commit, "_touched", False),
    "between two steps": (commit.StageSupersteps, "_superstep", False),
    "with all derived": (commit.Commit, "_outcome", False),
    "before the link": (whole_files.os, "link", False),
    "after the link": (whole_files, "sync_folder", True),
    "as old files go": (store, "remove_files", True),
}


@pytest.mark.usefixtures("unlocked")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_driver_that_is_killed_beside_another(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(opened(tmp_path)).close()
    other = opened(tmp_path)
    where, name, happened = MOMENTS[moment]
    if (child := os.fork()) == 0:
        try:
            with opened(tmp_path) as workspace:
                plain = getattr(where, name)

                def killed(*args: Any) -> Any:
                    if (
                        name != "sync_folder"
                        or epochs.epoch_file(
                            tmp_path, workspace._backend.manifest.epoch + 1
                        ).exists()
                    ):
                        os.kill(os.getpid(), signal.SIGKILL)
                    return plain(*args)  # row files are written in the same way

                setattr(where, name, killed)
                change(workspace)
        finally:  # a child never goes on as a copy of the tests
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    if happened:
        refused(lambda: other.load("e", [(30, 31)]))
        other.close()
        other = opened(tmp_path)
    assert other.load("e", [(30, 31)]) == 1
    assert ((50, "new") in set(other["acct"])) == happened
    assert other.verify() == []
    other.close()
    with opened(tmp_path) as again:
        assert row_files(tmp_path) == again._backend.manifest.files()
        assert not list(tmp_path.glob("*.tmp"))
        assert (30, 31) in set(again["e"])
