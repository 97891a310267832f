"""Random histories, after which all kept versions are what the reference says they were: in memory,
and at a path that is opened again in between.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.engine.durable import file_checks
from lftj.errors import KeyViolationError, ValueRangeError
from tests.durable.inside import durable_of
from tests.durable.test_histories import steps_of
from tests.oracle.model import Relations, difference
from tests.oracle.pair import Pair, RolledBack
from tests.strategies.histories import History, Transact, histories
from tests.strategies.schemas import BASES, Row


class Remembered(Pair):
    """A pair that remembers what was there at each version, and previews each transaction."""

    def __init__(self, history: History, workspace: Any = None):
        self.versions: dict[int, Relations] = {}
        self.messages: dict[int, str] = {}
        super().__init__((*BASES, *history.program.specs), workspace)

    def check(self) -> None:
        """As for all pairs; then the version is remembered."""
        super().check()
        self.versions.setdefault(self.workspace.version, self.model.relations)

    def _commit(self, step: Transact, before: Relations) -> None:
        begun = self.workspace.version
        with self.workspace.transaction() as tx:
            for action in step.actions:
                self._act(tx, action)
            if step.rollback:
                with suppress(KeyViolationError, ValueRangeError):
                    tx.preview()
                raise RolledBack
            preview = tx.preview()
            found = {name: changed(preview[name].fetchall()) for name in preview}
            version = tx.commit(message=f"after {begun}")
        if version > begun:
            self.messages[version] = f"after {begun}"
        after = self.model.relations
        assert found == {
            name: rows for name in after if (rows := difference(before[name], after[name]))
        }
        assert found == {
            name: rows for name in after if (rows := changed(tx.changes(name).fetchall()))
        }

    def check_past(self, chosen: list[tuple[int, int]]) -> None:
        """All versions, changes between the chosen ones, and the log."""
        workspace = self.workspace
        for version, relations in self.versions.items():
            self._equal(workspace.at(version), relations)
        for pair in chosen:
            first, last = sorted(pair)
            before, after = self.versions[first], self.versions[last]
            for name in after:
                change = workspace.history(name, since=first, until=last)
                assert changed(change.fetchall()) == difference(before[name], after[name])
                self._check_commits(name, first, last)
        entries = {row[0]: row for row in workspace.log()}
        assert len(entries) == len(workspace.log()) == workspace.version
        for version, message in self.messages.items():
            assert entries[version][2] == message
            assert entries[version][3] == self._counts(version)

    def _check_commits(self, name: str, first: int, last: int) -> None:
        """The change of each commit in between that changed the relation."""
        commits = list(self.workspace.history(name, since=first, until=last).commits())
        found = {each.version: changed(each.fetchall()) for each in commits}
        assert [each.version for each in commits] == sorted(found)
        each_step = {
            version: difference(self.versions[version - 1][name], self.versions[version][name])
            for version in range(first + 1, last + 1)
        }
        assert found == {version: rows for version, rows in each_step.items() if rows}

    def _counts(self, version: int) -> str:
        before, after = self.versions[version - 1], self.versions[version]
        parts: list[str] = []
        for name in sorted(after):
            won, lost = len(after[name] - before[name]), len(before[name] - after[name])
            if won or lost:
                parts.append(name + (f" +{won}" if won else "") + (f" -{lost}" if lost else ""))
        return ", ".join(parts)


def changed(rows: list[Any]) -> set[tuple[Row, int]]:
    """The rows of a change with their signs."""
    found = {(tuple(row[:-2]), row[-2]) for row in rows}
    assert len(found) == len(rows)
    return found


def chosen_versions(pair: Remembered, data: st.DataObject) -> list[tuple[int, int]]:
    """Pairs of versions: all to the last one, and some."""
    versions = sorted(pair.versions)
    some = st.sampled_from(versions)
    drawn = data.draw(st.lists(st.tuples(some, some), min_size=1, max_size=3))
    return [(versions[0], versions[-1]), *drawn]


@given(histories(), st.data())
@settings(max_examples=settings().max_examples // 2)
def test_oracle_past_versions_equal_the_reference(history: History, data: st.DataObject):
    with lftj.connect(keep="all") as workspace:
        pair = Remembered(history, workspace)
        for step in steps_of(history):
            pair.step(step)
        pair.check_past(chosen_versions(pair, data))


@given(histories(), st.data())
@settings(max_examples=settings().max_examples // 4)
def test_oracle_past_versions_of_files_equal_the_reference(history: History, data: st.DataObject):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.lftj"
        pair = Remembered(history, lftj.connect(path, keep="all", durability="off"))
        for step in steps_of(history):
            pair.step(step)
            match data.draw(st.sampled_from(["nothing", "checkpoint", "reopen"])):
                case "checkpoint":
                    durable_of(pair.workspace).checkpoint()
                case "reopen":
                    pair.workspace.close()
                    pair.workspace = lftj.connect(path, keep="all", durability="off")
                case _:
                    pass
        pair.check_past(chosen_versions(pair, data))
        pair.workspace.close()
        with lftj.connect(path, read_only=True) as pair.workspace:
            pair.check_past(chosen_versions(pair, data))


def opened(path: Path | None, **options: Any) -> Any:
    """A workspace in memory or at a path, with a view."""
    workspace = lftj.connect(path, **options) if path else lftj.connect(**options)
    if not workspace.relations:
        workspace.add_rules(
            ".decl e(x: number, y: number) .decl r(x: number, y: number) "
            "r(x, y) :- e(x, y). r(x, z) :- r(x, y), e(y, z)."
        )
    return workspace


@pytest.mark.parametrize("files", [False, True])
def test_versions_older_than_so_many_are_an_error_that_names_the_oldest(
    tmp_path: Path, files: bool
) -> None:
    with opened(tmp_path / "w.lftj" if files else None, keep=3) as workspace:
        for number in range(10):
            workspace.load("e", [(number, number + 1)])
        last = workspace.version
        assert [len(workspace.at(last - back)["e"]) for back in range(3)] == [10, 9, 8]
        for version in (last - 3, 0, -1, last + 1):
            with pytest.raises(lftj.PastError, match=f"oldest one is {last - 2}, the last {last}"):
                workspace.at(version)
            with pytest.raises(lftj.PastError):
                workspace.history("r", since=version)
        for wrong in (True, "1", 1.0, None):
            with pytest.raises(lftj.DeclarationError):
                workspace.at(wrong)
        with pytest.raises(lftj.PastError, match="comes after"):
            workspace.history("r", since=last, until=last - 1)
        assert len(workspace.history("e")) == 2


@pytest.mark.parametrize("files", [False, True])
def test_a_moment_is_the_version_that_was_the_last_one_then(tmp_path: Path, files: bool) -> None:
    before = datetime.now()
    path = tmp_path / "w.lftj" if files else None
    workspace = opened(path, keep="all")
    moments: list[datetime] = []
    for number in range(4):
        time.sleep(0.002)
        workspace.load("e", [(number, number + 1)])
        time.sleep(0.002)
        moments.append(datetime.now())
    if path is not None:
        workspace.close()
        workspace = opened(path, keep="all")
    with workspace:
        assert [len(workspace.at(moment)["e"]) for moment in moments] == [1, 2, 3, 4]
        aware = moments[1].astimezone()
        assert len(workspace.at(aware)["e"]) == 2
        assert workspace.at(before).version == 0
        assert workspace.at(datetime.now()).version == workspace.version
        assert [workspace.at(row[1]).version for row in workspace.log()] == [1, 2, 3, 4, 5]
        assert sorted(workspace.history("e", since=moments[0], until=moments[1])) == [(1, 2, 1, 3)]


def to_come() -> list[int | datetime]:
    """A version and moments that are not there yet."""
    west = timezone(timedelta(hours=-11))
    return [
        99,
        10**5000,  # more digits than Python writes
        datetime.now() + timedelta(days=1),
        datetime.now().astimezone(west) + timedelta(minutes=9),
        datetime.max,
        datetime.max.replace(tzinfo=west),
    ]


ASKED = {
    "at": lambda reader, when: reader.at(when),
    "history since": lambda reader, when: reader.history("e", since=when),
    "history until": lambda reader, when: reader.history("e", until=when),
    "changes": lambda reader, when: reader.changes("e", since=when, timeout=0),
    "consumer": lambda reader, when: reader.consumer("c", "e", since=when),
}


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("asked", ASKED)
def test_a_version_to_come_is_told_by_number_and_moment(
    tmp_path: Path, files: bool, asked: str
) -> None:
    with opened(tmp_path / "w.lftj" if files else None, keep="all") as workspace:
        workspace.load("e", [(1, 2)])
        for reader in (workspace, workspace.branch("b")):
            for when in to_come():
                with pytest.raises(lftj.PastError, match=r"not there yet.* the last 2") as caught:
                    ASKED[asked](reader, when)
                assert caught.value.code == "E371"
            with pytest.raises(lftj.DeclarationError, match="a number or a datetime"):
                ASKED[asked](reader, pd.NaT)
            ASKED[asked](reader, datetime.now())


def test_a_moment_of_which_a_reader_has_not_heard_is_not_answered_by_what_it_has(
    tmp_path: Path,
) -> None:
    with (
        opened(tmp_path / "w.lftj", keep="all") as workspace,
        lftj.connect(tmp_path / "w.lftj", read_only=True) as reader,
    ):
        workspace.load("e", [(1, 2)])
        moment = datetime.now()
        with pytest.raises(lftj.PastError, match="the last 1"):
            reader.at(moment)
        reader.refresh()
        assert reader.at(moment).version == 2


@pytest.mark.parametrize("files", [False, True])
def test_versions_of_so_long_are_kept(tmp_path: Path, files: bool) -> None:
    keep = timedelta(seconds=0.3)
    with opened(tmp_path / "w.lftj" if files else None, keep=keep) as workspace:
        workspace.load("e", [(1, 2)])
        workspace.load("e", [(2, 3)])
        assert workspace.at(2)["e"].fetchall() == [(1, 2)]
        time.sleep(0.35)
        workspace.load("e", [(3, 4)])
        assert len(workspace.at(3)["e"]) == 2  # it was the last one until just now
        with pytest.raises(lftj.PastError, match="oldest one is 3"):
            workspace.at(2)
        with pytest.raises(lftj.PastError, match="oldest one is 3"):
            workspace.at(datetime.now() - timedelta(days=1))


def test_a_relation_has_no_rows_before_it_was_declared(tmp_path: Path) -> None:
    for path in (None, tmp_path / "w.lftj"):
        with opened(path, keep="all") as workspace:
            workspace.load("e", [(1, 2)])
            workspace.relation("late", {"x": int})
            workspace.load("late", [(7,)])
            assert workspace.history("late", since=0).fetchall() == [(7, 1, workspace.version)]
            assert len(workspace.history("late", since=0, until=1)) == 0
            assert [len(each) for each in workspace.history("late", since=0).commits()] == [1]
            assert [len(each) for each in workspace.changes("late", since=0, timeout=0)] == [1]
            with pytest.raises(lftj.UnknownNameError):
                workspace.history("never")


def test_files_keep_what_was_asked_for_whatever_checkpoints_remove(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    workspace = opened(path, keep=6, durability="off")
    for number in range(20):
        workspace.load("e", [(number, number + 1)])
        durable_of(workspace).checkpoint()
    workspace.close()
    with opened(path, keep=6) as workspace:
        last = workspace.version
        for back in range(6):
            count = 20 - back
            snapshot = workspace.at(last - back)
            assert len(snapshot["r"]) == count * (count + 1) // 2
            assert len(snapshot.query("r(0, y)")) == count
        first = durable_of(workspace).log.oldest()[0]
        assert 10 < first <= last - 5


def test_versions_around_large_commits_are_kept_or_refused_and_files_are_whole(
    tmp_path: Path,
) -> None:
    for keep in ("all", None):
        path = tmp_path / f"{keep}.lftj"
        workspace = opened(path, keep=keep, durability="off")
        for number in range(12):
            few = lftj.Tuning(paged_rows=1 if number in (4, 8) else 1000)
            durable_of(workspace)._engine.tuning = few
            workspace.load("e", [(number, number + 1)])
            if keep and number in (2, 6, 10):
                durable_of(workspace).checkpoint()
        durable_of(workspace)._engine.past.begin(durable_of(workspace)._engine.state)
        oldest = 0 if keep else 10
        for version in range(1, workspace.version + 1):
            if version < oldest:
                with pytest.raises(lftj.PastError, match=f"oldest one is {oldest}"):
                    workspace.at(version)
            else:
                assert len(workspace.at(version)["e"]) == version - 1
        stream = workspace.changes("e", since=oldest, timeout=0)
        assert sum(map(len, stream)) == 12 - max(0, oldest - 1)
        assert list(problems(path)) == []
        workspace.close()
        assert list(problems(path)) == []


def test_damage_of_a_past_commit_or_its_note_is_found_by_a_check(tmp_path: Path) -> None:
    with opened(tmp_path / "w.lftj", keep="all", durability="off") as workspace:
        for number in range(6):
            workspace.load("e", [(number, number + 1)])
            if number == 3:
                durable_of(workspace).checkpoint()
    for change in (
        "UPDATE commits SET time = time + 1 WHERE number = 2",
        "UPDATE notes SET note = replace(note, 'e', 'r') WHERE number = 2",
        "UPDATE commits SET time = time + 1 WHERE number = 7",
        "INSERT INTO consumers VALUES ('c', 'e', 1, 1)",
    ):
        copy = Path(shutil.copytree(tmp_path / "w.lftj", tmp_path / "copy.lftj"))
        with closing(sqlite3.connect(copy / "log.sqlite")) as connection:
            connection.execute(change)
            connection.commit()
        assert "is damaged" in " ".join(problems(copy)), change
        shutil.rmtree(copy)


def problems(path: Path) -> list[str]:
    """Problems that a check finds."""
    with lftj.connect() as engine:
        backend: Any = engine._backend
        return list(file_checks.problems(backend, path, deep=True))


def test_a_workspace_that_is_copied_or_saved_begins_with_its_present(tmp_path: Path) -> None:
    workspace = opened(None)
    workspace.load("e", [(1, 2)])
    workspace.save_as(tmp_path / "w.lftj")
    workspace.load("e", [(2, 3)])
    with lftj.connect(tmp_path / "w.lftj", copy=True, keep="all") as copied:
        copied.load("e", [(3, 4)])
        assert [len(copied.at(version)["e"]) for version in (3, 4)] == [2, 3]
        with pytest.raises(lftj.PastError, match="oldest one is 3"):
            copied.at(2)
        assert len(copied.history("r")) == 3
    with pytest.raises(lftj.PastError, match="oldest one is 2"):
        workspace.at(1)
    assert len(workspace.history("e")) == 1
    workspace.close()


def test_a_keep_of_another_kind_is_refused() -> None:
    for wrong in (0, -1, True, "some", timedelta(seconds=-1), 1.5):
        with pytest.raises(lftj.DeclarationError, match="keep is"):
            lftj.connect(keep=wrong)  # pyright: ignore[reportCallIssue, reportArgumentType]
