"""Readers of a workspace over parts in other processes, and the leases by which they hold files: on
a folder, and on a server that speaks S3.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.partition.seaweed import BUCKET, seaweed
from lftj.distributed.files import leases
from lftj.distributed.files.leases import READERS, Lease
from lftj.distributed.files.manifest import row_files
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import unmount
from lftj.distributed.result import summed
from lftj.partition.address import CACHE, Address
from tests.distributed.inline import InlineExecutor, require_equal

RULES = """
  .decl edge(x: number, y: number, name: symbol)
  .decl start(x: number)
  .decl deg(x: number, n: number)
  deg(x, count()) :- edge(x, _, _).
  .decl reach(x: number, y: number)
  reach(x, x) :- start(x).
  reach(x, y) :- edge(x, y, _). reach(x, z) :- reach(x, y), edge(y, z, _).
  .decl oneway(x: number, y: number, name: symbol)
  oneway(x, y, s) :- edge(x, y, s), !edge(y, x, _).
  start(0). start(100). reach(7, 7). oneway(7, 8, "own").
"""
SMALL = """
  .decl edge(x: number, y: number, name: symbol)
  .decl deg(x: number, n: number)
  deg(x, count()) :- edge(x, _, _).
"""
QUESTIONS = (
    "edge(x, y, s), deg(y, n), n > 1",
    "start(x), !( edge(x, y, _), edge(y, x, _) )",
    "n = count : { oneway(_, _, s) }",
    "edge(1, y, s)",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as found:
        yield found


class Place:
    """A path of parts: opened to write by this process, read by it as by another machine."""

    def __init__(self, path: str, options: dict[str, str] | None, caches: Path):
        self.path, self.options, self._caches = path, options, caches
        self.folders: list[Path] = []
        self.mounted: list[Address] = []

    def writer(self, partitions: int = 3, **options: Any) -> lftj.Workspace:
        executor: Any = InlineExecutor(self._place(), partitions)
        return lftj.connect(executor=executor, **options)

    def reader(self, **options: Any) -> lftj.Workspace:
        place = self._place()
        if isinstance(place, Address):
            os.environ[CACHE] = str(self._caches / f"cache{len(self.mounted) - 1}")
            options["storage_options"] = self.options
        return lftj.connect(self.path, read_only=True, **options)

    def _place(self) -> Any:
        if self.options is None:
            self.folders.append(Path(self.path))
            return Path(self.path)
        cache = str(self._caches / f"cache{len(self.mounted)}")
        self.mounted.append(Address(self.path, tuple(sorted(self.options.items())), cache))
        self.folders.append(self.mounted[-1].folder)
        return self.mounted[-1]

    @property
    def leases(self) -> set[str]:
        folder = self.folders[0]
        return store_of(folder).names(folder / READERS, suffix=".lease")

    @property
    def rows(self) -> set[str]:
        return row_files(self.folders[0])


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    return Place(str(tmp_path / "parts"), None, tmp_path)


@pytest.fixture(params=["folder", "s3"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    monkeypatch.setenv(CACHE, str(tmp_path / "none"))
    if request.param == "folder":
        yield request.getfixturevalue("folder")
        return
    options = request.getfixturevalue("server")
    name = request.node.name.replace("[", "-").strip("]")
    found = Place(f"s3://{BUCKET}/{name}", options, tmp_path)
    yield found
    for each in found.mounted:
        unmount(each)


def inside(workspace: Any) -> Any:
    return workspace._backend


def change(came: list[Any], gone: list[Any], *workspaces: lftj.Workspace) -> None:
    for workspace in workspaces:
        with workspace.transaction() as tx:
            tx.delete("edge", gone)
            tx.insert("edge", came)


def begun(*workspaces: lftj.Workspace, rules: str = SMALL) -> None:
    for workspace in workspaces:
        workspace.add_rules(rules)
        workspace.load("edge", [(x, x + 1, f"s{x % 3}") for x in range(4)])


def rows(workspace: Any) -> dict[str, list[Any]]:
    return {name: sorted(workspace[name].fetchall()) for name in workspace.relations}


def lost(read: Callable[[], object]) -> None:
    with pytest.raises(lftj.DistributedError, match="this reader's lease had ended") as caught:
        read()
    assert caught.value.code == "E408"
    assert "ws.refresh()" in str(caught.value.hint)


# ── what readers see ──────────────────────────────────────────────────────────────────────────────
def test_readers_see_versions_whole_in_any_history(place: Place) -> None:
    commits = 12 if place.options is None else 6
    draw, single = random.Random(commits), lftj.connect()
    tuning = lftj.Tuning(compacted_entries=8)
    with place.writer(tuning=tuning) as writer:
        begun(writer, single, rules=RULES)
        reader, told, heard = place.reader(), list[Any](), set(single["reach"].fetchall())
        reader.subscribe("reach", told.append)
        there, expected = set(single["edge"].fetchall()), rows(single)
        for number in range(commits):
            gone = draw.sample(sorted(there), min(len(there), draw.choice((0, 0, 1, 3))))
            came = [(draw.randrange(7), draw.randrange(7), f"s{number % 4}") for _ in range(2)]
            there = there.difference(gone).union(came)
            change(came, gone, writer, single)
            match draw.randrange(6):
                case 0:
                    writer.compact()
                case 1 if number > 2:
                    writer.repartition(draw.choice((2, 3, 4)))
                case 2 | 3 if number > 3:
                    for each in (writer, single):
                        each.add_rules(
                            f"reach({number}, 0). reach(x, x) :- start(x), !edge(x, _, _)."
                        )
                case _:
                    pass
            name = draw.choice(["edge", "deg", "reach", "oneway"])
            assert sorted(reader[name].fetchall()) == expected[name], number
            if draw.random() < 0.5:
                past = reader.snapshot()
                assert reader.refresh() == writer.version
                assert rows(past) == expected
                expected = rows(single)
                question = draw.choice(QUESTIONS)
                assert set(reader.query(question)) == set(single.query(question)), question
        reader.refresh()
        require_equal(reader, single)
        for question in QUESTIONS:
            assert set(reader.query(question)) == set(single.query(question)), question
        for changes in told:
            for x, y, sign, _ in changes.fetchall():
                assert ((x, y) in heard) == (sign < 0)
                (heard.add if sign > 0 else heard.discard)((x, y))
        assert heard == set(single["reach"].fetchall())
        assert not reader.verify()
        reader.close()
        assert not place.leases


def test_a_reader_is_asked_as_any_workspace(folder: Place) -> None:
    with folder.writer() as writer:
        begun(writer)
        with folder.reader() as reader:
            assert str(reader.explain("deg(0, 1)")) == str(writer.explain("deg(0, 1)"))
            assert "deg(2, 0)" in str(reader.why_not("deg(2, 0)"))
            assert reader.prepare_query("edge(?, y, _)")(1).fetchall() == [(2,)]
            assert reader.to_dict() == writer.to_dict()
            assert len(reader["edge"]) == 4
            assert ("(rows)", "", 0, 0) not in reader.memory().fetchall()
            assert str(reader.plan()) == str(writer.plan())
            assert len(reader.profile()) == 0
            assert "to read" in repr(reader)
            assert not reader.wait_for(writer.version + 1, timeout=0.0)
            change([(8, 9, "s")], [], writer)
            assert reader.wait_for(writer.version, timeout=60.0)
            assert (8, 9, "s") in reader["edge"].fetchall()


REFUSED: dict[str, tuple[str, Callable[[lftj.Workspace], object]]] = {
    "a row": ("E356", lambda ws: ws.load("edge", [(1, 2, "s")])),
    "a rule": ("E356", lambda ws: ws.add_rule("deg(x, 0) :- edge(_, x, _).")),
    "compacting": ("E356", lambda ws: ws.compact()),
    "parts": ("E356", lambda ws: ws.repartition(7)),
    "the past": ("E400", lambda ws: ws.at(1)),
    "a branch": ("E400", lambda ws: ws.branch("other")),
    "a copy": ("E400", lambda ws: ws.backup("other")),
}


def test_a_reader_changes_nothing(folder: Place) -> None:
    place = folder
    with pytest.raises(lftj.DurableError, match="there is no workspace") as caught:
        place.reader()
    assert caught.value.code == "E351"
    with place.writer() as writer:
        begun(writer)
        with place.reader() as reader:
            for code, call in REFUSED.values():
                with pytest.raises(lftj.LftjError) as caught:
                    call(reader)
                assert caught.value.code == code
            assert rows(reader) == rows(writer)
        for options in ({"copy": True}, {"keep": "all"}, {"storage_options": {"a": "b"}}):
            with pytest.raises(lftj.LftjError):
                place.reader(**options)
        with pytest.raises(lftj.DistributedError, match="hdfs"):
            lftj.connect("hdfs://host/flights", read_only=True)
        with pytest.raises(lftj.DurableError, match="is no workspace"):
            lftj.connect(place.path)


# ── what leases hold ──────────────────────────────────────────────────────────────────────────────
def test_two_readers_hold_two_versions(place: Place) -> None:
    with place.writer() as writer:
        begun(writer)
        expected, readers = list[Any](), list[lftj.Workspace]()
        for number in range(3):
            expected.append(rows(writer))
            readers.append(place.reader())
            change([(10 + number, 11, "new")], [(number, number + 1, f"s{number}")], writer)
            writer.compact()
        assert len(place.leases) == 3
        for number in (2, 0):
            assert rows(readers[number]) == expected[number]
            readers[number].close()
            writer.compact()
        assert rows(readers[1]) == expected[1]
        readers[1].refresh()
        inside(readers[1])._lease.renew()  # as is done soon
        writer.compact()
        assert place.rows == inside(writer).manifest.files()
        readers[1].close()
        assert not place.leases


def test_compactions_while_a_reader_opens_and_reads(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, waiting = Lease.renew, [True, True]
    with folder.writer() as writer:
        begun(writer)

        def compacted() -> None:
            for number in range(4):  # entries of more than one for each part
                change([(20 + number, writer.version, "new")], [], writer)
            writer.compact()

        def late(self: Lease) -> None:
            if waiting:
                waiting.pop()
                compacted()
            plain(self)

        def meanwhile(*args: Any) -> Any:
            monkeypatch.undo()
            compacted()
            return summed(*args)

        monkeypatch.setattr(Lease, "renew", late)
        with folder.reader() as reader:
            assert not waiting
            expected = rows(writer)
            monkeypatch.setattr("lftj.distributed.reader.summed", meanwhile)
            assert rows(reader) == expected
            reader.refresh()
            assert rows(reader) == rows(writer) != expected


def test_a_reader_that_was_paused_beyond_its_lease_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = place.writer()
    begun(writer)
    reader, other = place.reader(), place.reader()
    before, unread, expected = sorted(reader["deg"].fetchall()), reader["edge"], rows(writer)
    for number in range(4):  # entries of more than one for each part
        change([(50 + number, 51, "new")], [(number, number + 1, f"s{number % 3}")], writer)
    writer.compact()
    writer.repartition(2)
    writer.close()
    writer = place.writer(2)  # sweeps too
    assert rows(other) == expected  # a lease that holds
    other.close()
    monkeypatch.setattr(leases, "GRACE", -1e9)  # as if the reader had been paused for years
    change([(51, 52, "new")], [], writer)
    writer.compact()
    assert not place.leases
    assert sorted(reader["deg"].fetchall()) == before
    lost(lambda: unread.fetchall())
    lost(lambda: reader.query("edge(x, y, _)"))
    lost(lambda: reader.explain("deg(0, 1)"))
    reader.subscribe("edge", lambda changes: None)
    assert reader.refresh() == writer.version
    assert rows(reader) == rows(writer)
    reader.close()
    writer.close()


def test_a_reader_that_dies_holds_nothing_soon_after(folder: Place) -> None:
    place = folder
    with place.writer() as writer:
        begun(writer)
        before = place.rows
        if (child := os.fork()) == 0:
            try:
                found = place.reader()
                found["edge"].fetchall()
                os.kill(os.getpid(), signal.SIGKILL)
            finally:  # a child never goes on as a copy of the tests
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        change([(60, 61, "new")], [], writer)
        writer.compact()
        (lease,) = place.leases
        assert before <= place.rows
        file = Path(place.path) / READERS / lease
        ended = file.stat().st_mtime - leases.SECONDS - leases.GRACE
        os.utime(file, (ended + 5.0, ended + 5.0))
        writer.compact()
        assert before <= place.rows
        os.utime(file, (ended - 5.0, ended - 5.0))
        writer.compact()
        assert place.rows == inside(writer).manifest.files()
        assert not place.leases


def test_a_lease_is_written_as_long_as_its_reader_lives(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "SECONDS", 0.02)
    place = folder
    with place.writer() as writer:
        begun(writer)
        reader = place.reader()
        (lease,) = place.leases
        file = Path(place.path) / READERS / lease
        os.utime(file, (0.0, 0.0))
        for _ in range(10_000):
            if file.stat().st_mtime > 0.0:
                break
            time.sleep(0.001)  # the thread that writes needs the lock of Python
        else:
            pytest.fail("nobody writes it again")
        if (child := os.fork()) == 0:
            try:
                reader["edge"].fetchall()
                with pytest.raises(lftj.DistributedError) as caught:
                    reader.refresh()
                reader.close()  # the lease is its parent's
                os._exit(0 if caught.value.code == "E402" else 2)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert place.leases == {lease}
        thread = inside(reader)._lease._thread
        del reader
        thread.join(60.0)
        assert not place.leases


def test_who_may_only_read_is_warned_and_reads(
    folder: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(self: Lease) -> None:
        raise PermissionError("read-only")

    with folder.writer() as writer:
        begun(writer)
        monkeypatch.setattr(Lease, "_write", refused)
        with caplog.at_level(logging.WARNING), folder.reader() as reader:
            assert rows(reader) == rows(writer)
            reader.refresh()
        assert [record for record in caplog.messages if "no lease could be written" in record] == (
            caplog.messages
        )
        assert len(caplog.messages) == 1
