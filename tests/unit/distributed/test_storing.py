"""Closing a path and storing below it."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

from lftj.distributed.stored.storing import begin_storing, end_storing, storing


def test_parts_are_stored_while_the_path_is_open(tmp_path: Path) -> None:
    said = []
    for change in (
        lambda: None,
        lambda: begin_storing(tmp_path),
        lambda: end_storing(tmp_path),
        lambda: begin_storing(tmp_path),
    ):
        change()
        with storing(tmp_path) as open_:
            said.append(open_)
    assert said == [False, True, False, True]


def test_who_closes_waits_for_who_stores(tmp_path: Path) -> None:
    begin_storing(tmp_path)
    closing = threading.Thread(target=end_storing, args=(tmp_path,))
    with storing(tmp_path) as first, storing(tmp_path) as second:
        assert first
        assert second
        closing.start()
        closing.join(0.1)
        assert closing.is_alive()
    closing.join(10)
    assert not closing.is_alive()
    assert list(tmp_path.iterdir()) == []


def test_closing_is_harmless_where_nothing_is_open(tmp_path: Path) -> None:
    end_storing(tmp_path)
    end_storing(tmp_path / "gone")
    with storing(tmp_path / "gone") as open_:
        assert not open_


def test_who_waits_for_the_end_of_closing_does_not_store(tmp_path: Path) -> None:
    begin_storing(tmp_path)
    said: list[bool] = []

    def store() -> None:
        with storing(tmp_path) as open_:
            said.append(open_)

    (file,) = tmp_path.iterdir()
    with file.open() as held:  # as someone who is closing the path
        fcntl.flock(held, fcntl.LOCK_EX)
        late = threading.Thread(target=store)
        late.start()
        late.join(0.1)
        assert late.is_alive()
        file.unlink()
    late.join(10)
    assert said == [False]
