"""Files of pages: damage is told, pages are synced before what vouches for them, a failed append
leaves nothing, no file stays open.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import lftj.scantree.segment
from lftj.scantree import Arena, Tree
from lftj.scantree.segment import SegmentFile, SegmentFullError, address_of, open_segments
from lftj.scantree.stretch import GRAIN
from lftj.scantree.watched_files import FileDamagedError
from tests.unit.scantree.stored_trees import RESERVE, opened, same, tree_of


def test_a_torn_or_short_file_is_told(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 2000)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    path = tmp_path / segment.name
    content = path.read_bytes()
    path.write_bytes(content[:-8])
    with pytest.raises(FileDamagedError, match="too short"):
        open_segments(Arena(RESERVE), tmp_path, [segment], [segment.home])
    path.write_bytes(content[:30_000] + bytes([content[30_000] ^ 1]) + content[30_001:])
    with pytest.raises(FileDamagedError, match="not what was written"):
        open_segments(Arena(RESERVE), tmp_path, [segment], [segment.home])
    path.unlink()
    with pytest.raises(FileNotFoundError):
        open_segments(Arena(RESERVE), tmp_path, [segment], [segment.home])


def test_another_file_of_this_name_is_told(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree_of(arena, 2000).root])
    other = SegmentFile(arena, tmp_path, "two", 1 << 22).append([tree_of(arena, 2000).root])
    for ending in ("", ".sums"):
        (tmp_path / f"{other.name}{ending}").rename(tmp_path / f"{segment.name}{ending}")
    with pytest.raises(FileDamagedError, match="another file"):
        open_segments(Arena(RESERVE), tmp_path, [segment], [segment.home])


def test_pages_are_on_disk_before_their_checksums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena(RESERVE)
    file = SegmentFile(arena, tmp_path, "one", 1 << 22)
    synced: list[str] = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: synced.append(Path(os.readlink(f"/proc/self/fd/{handle}")).suffix),
    )
    file.append([tree_of(arena, 2000).root])
    assert synced == [".pages", ".sums"]


def test_what_was_looked_at_of_a_large_file_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lftj.scantree.segment._CHECKED", 0)
    arena = Arena(RESERVE)
    tree = tree_of(arena, 200_000)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 24).append([tree.root])
    with (tmp_path / segment.name).open("r+b") as file:
        file.seek(segment.words * 8 - 30_000)
        file.write(b"other")
    found = opened(tmp_path, [segment], tree, address_of(arena, tree.root))
    found.arena.watch.check()
    assert found.lookup([np.array([0]), np.array([1])])[1][0].tolist() == [3]
    found.arena.watch.check()
    assert 0 < found.arena.watch.read < segment.words * 8 / 2
    found.columns()
    with pytest.raises(FileDamagedError, match="not what was written"):
        found.arena.watch.check()


def test_what_is_read_as_a_whole_is_written_in_large_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = dict[Path, list[tuple[int, int]]]()
    pwrite = os.pwrite

    def noted(handle: int, content: memoryview, place: int) -> int:
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        written.setdefault(path, []).append((place, place + len(content)))
        return pwrite(handle, content, place)

    arena = Arena(RESERVE)
    few, many = tree_of(arena, 2000), tree_of(arena, 500_000)
    file = SegmentFile(arena, tmp_path, "one", 1 << 24, read_whole=True)
    file.append([few.root])
    monkeypatch.setattr(os, "pwrite", noted)
    segment = file.append([many.root])
    for tree in (few, many):
        assert same(opened(tmp_path, [segment], tree, address_of(arena, tree.root)), tree)
    assert 8 * segment.home % GRAIN == 0
    pieces = written[tmp_path / segment.name]
    assert len(pieces) > 3
    assert all(first % GRAIN == 0 for first, _ in pieces[1:])
    assert all(first // GRAIN == (last - 1) // GRAIN for first, last in pieces)


def test_a_failed_append_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 200_000)
    small = SegmentFile(arena, tmp_path, "small", 1 << 16)
    with pytest.raises(SegmentFullError):
        small.append([tree.root])
    assert address_of(arena, tree.root) == 0
    file = SegmentFile(arena, tmp_path, "one", 1 << 24)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="full"):
            file.append([tree.root])
    assert address_of(arena, tree.root) == 0
    assert same(
        opened(tmp_path, [file.append([tree.root])], tree, address_of(arena, tree.root)), tree
    )


def test_nothing_is_appended_once_closed(tmp_path: Path) -> None:
    arena = Arena()
    tree = Tree.empty(arena, 1).apply([np.arange(1000)])
    file = SegmentFile(arena, tmp_path, "a")
    file.close()
    with (tmp_path / "other").open("w+b") as other:  # which has the number that the file had
        with pytest.raises(OSError, match="descriptor"):
            file.append([tree.root])
        assert other.seek(0, 2) == 0


def test_a_file_that_nobody_appends_to_any_more_is_closed(tmp_path: Path) -> None:
    file = SegmentFile(Arena(1 << 32), tmp_path, "a")
    number = file._file
    assert os.fstat(number).st_ino == (tmp_path / file.segment.name).stat().st_ino
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_no_file_stays_open(tmp_path: Path) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_files()
    arena = Arena(RESERVE)
    tree = tree_of(arena, 2000)
    file = SegmentFile(arena, tmp_path, "one", 1 << 22)
    segment = file.append([tree.root])
    later = tree.apply([], [np.array([0]), np.array([3])])
    file.close()
    assert open_files() == before
    with pytest.raises(OSError, match="descriptor"):
        file.append([later.root])
    assert address_of(arena, later.root) == 0
    shared = Arena(RESERVE)
    assert same(opened(tmp_path, [segment], tree, address_of(arena, tree.root), shared), tree)
    shared.watch.check(everything=True)
    (tmp_path / segment.name).write_bytes(b"")
    with pytest.raises(FileDamagedError):
        open_segments(Arena(RESERVE), tmp_path, [segment], [segment.home])
    assert open_files() == before


def test_a_file_that_cannot_be_begun_leaves_no_file_and_takes_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena(RESERVE)
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        for writes in ("write_sums", "write_at"):
            patch.setattr(lftj.scantree.segment, writes, full)
            with pytest.raises(OSError, match="No space"):
                SegmentFile(arena, tmp_path, "a")
    assert (arena.taken, arena.homes, os.listdir(tmp_path)) == ([], {}, [])
    tree = tree_of(arena, 2000)
    segment = SegmentFile(arena, tmp_path, "a").append([tree.root])
    assert same(opened(tmp_path, [segment], tree, address_of(arena, tree.root)), tree)
