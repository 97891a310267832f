"""Streams of changes, and consumers that go on where they were."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lftj

PROGRAM = """
.decl road(x: number, y: number)
.decl reach(x: number, y: number)
reach(x, y) :- road(x, y).
reach(x, z) :- reach(x, y), road(y, z).
.decl done(version: number, rows: number)
"""
Open = Callable[[], Any]


@pytest.fixture(params=["memory", "files"])
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open a workspace, or close and open it where it is in files."""
    held: list[Any] = []

    def opened() -> Any:
        if request.param == "memory":
            held[:] = held or [lftj.connect(keep="all")]
        else:
            if held:
                held.pop().close()
            held.append(lftj.connect(tmp_path / "w.lftj", durability="off"))
        if not held[0].relations:
            held[0].add_rules(PROGRAM)
        return held[0]

    yield opened
    for each in held:
        each.close()


def versions(changes: Any) -> list[int]:
    """The versions of changes."""
    return [change.version for change in changes]


def grow(workspace: Any, *numbers: int) -> None:
    """One commit per number, which adds a road to a path."""
    for number in numbers:
        workspace.load("road", [(number, number + 1)])


# ── streams ───────────────────────────────────────────────────────────────────────────────────────
def test_a_stream_gives_each_change_of_its_relation_and_none_of_others(open_again: Open) -> None:
    workspace = open_again()
    start = workspace.version
    stream = workspace.changes("reach", timeout=0)
    grow(workspace, 1, 2)
    workspace.load("done", [(0, 0)])
    grow(workspace, 3)
    found = [(each.version - start, sorted(row[:2] for row in each)) for each in stream]
    assert found == [(1, [(1, 2)]), (2, [(1, 3), (2, 3)]), (4, [(1, 4), (2, 4), (3, 4)])]
    assert list(stream) == []
    assert stream.version == workspace.version
    grow(workspace, 4)
    assert versions(stream) == [start + 5]
    assert versions(workspace.changes("reach", since=start + 1, timeout=0)) == [
        start + 2,
        start + 4,
        start + 5,
    ]


def test_of_more_versions_than_may_wait_the_oldest_come_as_one(open_again: Open) -> None:
    workspace = open_again()
    start = workspace.version
    grow(workspace, *range(1, 8))
    stream = workspace.changes("road", since=start, timeout=0, backlog=3)
    assert [(each.version - start, len(each)) for each in stream] == [(5, 5), (6, 1), (7, 1)]
    stream = workspace.changes("road", since=start, timeout=0, backlog=1)
    assert [(each.version - start, len(each)) for each in stream] == [(7, 7)]


def test_a_stream_that_is_behind_what_is_kept_has_one_change_for_all_of_it() -> None:
    with lftj.connect(keep=2) as workspace:
        workspace.add_rules(PROGRAM)
        start = workspace.version
        stream = workspace.changes("road", timeout=0)
        grow(workspace, *range(1, 8))
        assert [(each.version - start, len(each)) for each in stream] == [(6, 6), (7, 1)]


def test_a_stream_waits_for_commits_of_another_thread_and_a_slow_one_blocks_none(
    open_again: Open,
) -> None:
    workspace = open_again()
    start = workspace.version
    stream, slow = (workspace.changes("road", timeout=20) for _ in range(2))
    found: list[int] = []
    first = threading.Event()

    def read() -> None:
        for change in stream:
            found.append(change.version)
            first.set()
            if len(found) == 3:
                return

    reader = threading.Thread(target=read)
    reader.start()
    grow(workspace, 1)
    assert first.wait(20)
    workspace.load("road", [(1, 2)])  # nothing changes, and nobody's stream ends
    grow(workspace, 2, 3)
    reader.join(20)
    assert found == [start + 1, start + 2, start + 3]
    assert [next(slow).version for _ in range(3)] == found


def test_a_stream_ends_with_its_workspace_or_after_its_timeout(tmp_path: Path) -> None:
    for path in (None, tmp_path / "w.lftj"):
        workspace = lftj.connect(path) if path else lftj.connect()
        workspace.add_rules(PROGRAM)
        begun = time.monotonic()
        assert list(workspace.changes("road", timeout=0.05)) == []
        assert 0.04 < time.monotonic() - begun < 5
        stream = workspace.changes("road")
        reader = threading.Thread(target=lambda s=stream: list(s))
        reader.start()
        time.sleep(0.05)
        assert reader.is_alive()
        workspace.close()
        reader.join(20)
        assert not reader.is_alive()
        assert list(stream) == []


def test_streams_and_consumers_are_read_in_an_event_loop(open_again: Open) -> None:
    workspace = open_again()
    start = workspace.version

    async def read(source: Any, enough: int) -> list[int]:
        found: list[int] = []
        async for change in source:
            found.append(change.version)
            if len(found) == enough:
                break
        return found

    async def both() -> Any:
        consumer = workspace.consumer("c", "reach", timeout=20)
        readers = [
            asyncio.create_task(read(source, 3))
            for source in (workspace.changes("road", timeout=20), consumer)
        ]
        ended = asyncio.create_task(read(workspace.changes("done", timeout=0.05), 1))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(grow, workspace, 1, 2, 3)
        found = await asyncio.gather(*readers, ended)
        consumer.ack()
        return found, consumer.version

    assert asyncio.run(both()) == (
        [[start + 1, start + 2, start + 3]] * 2 + [[]],
        start + 3,
    )


def test_another_process_of_the_path_is_followed(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj") as writer:
        writer.add_rules(PROGRAM)
        with lftj.connect(tmp_path / "w.lftj", read_only=True) as reader:
            stream = reader.changes("reach", timeout=0)
            assert list(stream) == []
            grow(writer, 1, 2)
            assert [len(each) for each in stream] == [1, 2]
            with pytest.raises(lftj.DurableError):
                reader.consumer("c", "reach")


# ── consumers ─────────────────────────────────────────────────────────────────────────────────────
def test_what_was_not_acknowledged_is_given_again_and_nothing_is_lost(open_again: Open) -> None:
    workspace = open_again()
    start = workspace.version
    workspace.consumer("c", "reach")
    grow(workspace, 1, 2, 3, 4)
    for given in range(4):
        workspace = open_again()
        consumer = workspace.consumer("c", "reach", timeout=0)
        assert versions(consumer) == list(range(start + 1 + given, start + 5))
        assert versions(consumer) == list(range(start + 1 + given, start + 5))
        consumer.ack(next(iter(consumer)))
        assert consumer.version == start + given + 1
    assert versions(open_again().consumer("c", "reach", timeout=0)) == []


def test_acknowledging_in_a_transaction_happens_with_it_or_not_at_all(open_again: Open) -> None:
    workspace = open_again()
    start = workspace.version
    workspace.consumer("c", "road")
    grow(workspace, 1, 2, 3)

    class Crash(Exception):
        """An error after all of a change was dealt with."""

    for attempt in range(8):
        workspace = open_again()
        consumer = workspace.consumer("c", "road", timeout=0)
        for change in consumer:
            try:
                with workspace.transaction() as tx:
                    tx.insert("done", [(change.version, attempt)])
                    tx.ack(consumer, change)
                    tx.preview()
                    if attempt % 2:
                        raise Crash
            except Crash:
                assert consumer.version == change.version - 1
            break
    assert workspace["done"].fetchall() == [(start + 1, 0), (start + 2, 2), (start + 3, 4)]
    consumer = open_again().consumer("c", "road", timeout=0)
    assert consumer.version == start + 3


def test_a_transaction_that_only_acknowledges_is_durable_too(open_again: Open) -> None:
    workspace = open_again()
    consumer = workspace.consumer("c", "road", timeout=0)
    grow(workspace, 1, 2)
    version = workspace.version
    first, _ = consumer
    with workspace.transaction() as tx:
        consumer.ack(first, tx)
    assert open_again().consumer("c", "road").version == version - 1
    assert open_again().version == version


def test_versions_that_a_consumer_needs_are_kept_until_it_is_dropped(tmp_path: Path) -> None:
    for path in (None, tmp_path / "w.lftj"):
        workspace = lftj.connect(path, keep=2) if path else lftj.connect(keep=2)
        workspace.add_rules(PROGRAM)
        start = workspace.version
        consumer = workspace.consumer("c", "road", timeout=0)
        grow(workspace, *range(1, 8))
        assert len(workspace.at(start + 1)["road"]) == 1
        assert versions(consumer) == list(range(start + 1, start + 8))
        consumer.ack(start + 3)
        with pytest.raises(lftj.PastError):
            workspace.at(start + 2)
        consumer.drop()
        with pytest.raises(lftj.PastError):
            workspace.at(start + 4)
        with pytest.raises(lftj.ConsumerError, match="has ended"):
            consumer.ack(start + 7)
        assert versions(workspace.consumer("c", "reach", timeout=0)) == []
        workspace.close()


def test_acknowledging_what_was_not_given_or_another_relation_is_refused(open_again: Open) -> None:
    workspace = open_again()
    consumer = workspace.consumer("c", "road", timeout=0)
    grow(workspace, 1, 2)
    for wrong in (workspace.version, "1", True, 1.5):
        with pytest.raises(lftj.ConsumerError, match="was given"):
            consumer.ack(wrong)
    with pytest.raises(lftj.ConsumerError, match="reads `road`"):
        workspace.consumer("c", "reach")
    with pytest.raises(lftj.PastError):
        workspace.consumer("d", "reach", since=99)
    with pytest.raises(lftj.UnknownNameError):
        workspace.consumer("d", "nothing")
    for name in ("", 3):
        with pytest.raises(lftj.DeclarationError):
            workspace.consumer(name, "road")
    with pytest.raises(lftj.DeclarationError):
        workspace.consumer("d", "road", timeout=-1)
    with pytest.raises(lftj.DeclarationError):
        workspace.changes("road", backlog=0)
    list(consumer)
    consumer.ack()
    consumer.ack(workspace.version - 1)  # it does not go back
    assert consumer.version == workspace.version


def test_consumers_go_with_a_workspace_that_is_saved(tmp_path: Path) -> None:
    workspace = lftj.connect(keep="all")
    workspace.add_rules(PROGRAM)
    consumer = workspace.consumer("c", "road", timeout=0)
    grow(workspace, 1, 2)
    with pytest.raises(lftj.ConsumerError, match="'c' has acknowledged") as refused:
        workspace.save_as(tmp_path / "w.lftj")
    assert refused.value.code == "E372"
    assert not (tmp_path / "w.lftj" / "log.sqlite").exists()
    list(consumer)
    consumer.ack()
    workspace.save_as(tmp_path / "w.lftj")
    grow(workspace, 3)
    workspace.close()
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        grow(workspace, 4)
        found = list(workspace.consumer("c", "road", timeout=0))
        assert [sorted(each) for each in found] == [
            [(3, 4, 1, workspace.version - 1)],
            [(4, 5, 1, workspace.version)],
        ]
        with lftj.connect(tmp_path / "w.lftj", copy=True) as copied:
            assert versions(copied.consumer("c", "reach", timeout=0)) == []


def test_a_consumer_that_there_is_goes_on_although_since_is_not_kept_any_more(
    tmp_path: Path,
) -> None:
    with lftj.connect(tmp_path / "w.lftj", keep=1) as workspace:
        workspace.add_rules(PROGRAM)
        reader = workspace.consumer("mailer", "road", since=1, timeout=0)
        grow(workspace, 1, 2, 3)
        for change in reader:
            reader.ack(change)
        grow(workspace, 4)
        again = workspace.consumer("mailer", "road", since=1, timeout=0)
        assert versions(again) == [5]
        with pytest.raises(lftj.PastError):
            workspace.consumer("another", "road", since=1)
