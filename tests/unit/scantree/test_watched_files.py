"""Mapped files: the blocks that someone looked at are compared with their checksums,
and no others.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lftj.scantree import watched_files
from lftj.scantree.mapping import reserve, show_file
from lftj.scantree.watched_files import (
    BLOCK_BYTES,
    SUMS,
    FileDamagedError,
    Watch,
    WatchedFile,
    sums_of,
    write_sums,
)

BLOCKS = 640
NEIGHBOURS = 128
"""Blocks that the system may bring in with one that is looked at: as many as 2 MiB have."""


def mapped(file: Path, *, tail: int | None = None) -> tuple[np.ndarray, WatchedFile]:
    size = file.stat().st_size
    array = np.frombuffer(reserve(size), np.uint8)
    handle = os.open(file, os.O_RDONLY)
    show_file(array.ctypes.data, handle, 0, size)
    os.close(handle)
    return array, WatchedFile(file, array.ctypes.data, 0, size, tail, array)


def written(file: Path, blocks: int = BLOCKS, rest: int = 0) -> bytes:
    content = np.random.default_rng(1).bytes(blocks * BLOCK_BYTES + rest)
    file.write_bytes(content)
    write_sums(file, 0, sums_of(content))
    return content


def flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def test_what_was_looked_at_is_checked_once(tmp_path: Path) -> None:
    written(tmp_path / "a")
    array, file = mapped(tmp_path / "a")
    watch = Watch()
    watch.add(file)
    watch.check()
    assert watch.read == 0
    assert array[3 * BLOCK_BYTES] >= 0
    watch.check()
    first = watch.read
    assert BLOCK_BYTES <= first <= NEIGHBOURS * BLOCK_BYTES
    watch.check()
    assert watch.read == first
    array[400 * BLOCK_BYTES] ^= 1  # a private copy: the file has what it had
    watch.check()
    assert first < watch.read <= 2 * NEIGHBOURS * BLOCK_BYTES
    watch.check(everything=True)
    assert (watch.read, watch.files) == (BLOCKS * BLOCK_BYTES, 0)


def test_a_flipped_byte_is_told_when_its_block_is_looked_at(tmp_path: Path) -> None:
    written(tmp_path / "a")
    flip(tmp_path / "a", 400 * BLOCK_BYTES + 5)
    array, file = mapped(tmp_path / "a")
    watch = Watch()
    watch.add(file)
    assert array[0] >= 0
    watch.check()
    assert array[400 * BLOCK_BYTES + 9000] >= 0
    for _ in range(2):  # and not only once
        with pytest.raises(FileDamagedError, match="not what was written"):
            watch.check()


def test_where_the_system_does_not_tell_all_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_files, "_PAGES", "/nowhere")
    written(tmp_path / "a", 3)
    watch = Watch()
    watch.add(mapped(tmp_path / "a")[1])
    watch.check()
    assert (watch.read, watch.files) == (3 * BLOCK_BYTES, 0)


@pytest.mark.parametrize("damage", ["sums", "file", "short sums"])
def test_what_is_gone_is_damaged(tmp_path: Path, damage: str) -> None:
    written(tmp_path / "a", 3)
    array, file = mapped(tmp_path / "a")
    if damage == "short sums":
        (tmp_path / "a.sums").write_bytes(b"\0")
    else:
        (tmp_path / ("a" if damage == "file" else "a.sums")).unlink()
    assert array[0] >= 0
    with pytest.raises(FileDamagedError):
        file.check(np.ones_like(file.unchecked))


@pytest.mark.parametrize("block", [0, 63, 64, 65, 129, BLOCKS - 1])
def test_the_block_that_is_damaged_is_named(tmp_path: Path, block: int) -> None:
    written(tmp_path / "a")
    flip(tmp_path / "a", block * BLOCK_BYTES + 5)
    some = mapped(tmp_path / "a")[1]
    all_but_it = np.arange(BLOCKS) != block
    assert some.check(all_but_it) == (BLOCKS - 1) * BLOCK_BYTES
    with pytest.raises(FileDamagedError, match=f"from byte {block * BLOCK_BYTES} on"):
        some.check(np.ones_like(some.unchecked))
    every = mapped(tmp_path / "a")[1]
    with pytest.raises(FileDamagedError, match=f"from byte {block * BLOCK_BYTES} on"):
        every.check(np.ones_like(every.unchecked))


def test_a_file_that_was_cut_short_is_damaged(tmp_path: Path) -> None:
    written(tmp_path / "a", 70)
    file = mapped(tmp_path / "a")[1]
    os.truncate(tmp_path / "a", 66 * BLOCK_BYTES + 100)
    with pytest.raises(FileDamagedError, match=f"from byte {66 * BLOCK_BYTES} on"):
        file.check(np.ones_like(file.unchecked))


def test_the_last_block_may_have_gone_on(tmp_path: Path) -> None:
    content = written(tmp_path / "a", 2, 100)
    _, file = mapped(tmp_path / "a", tail=int(sums_of(content)[-1]))
    with open(tmp_path / "a", "ab") as sink:
        sink.write(b"more")
    write_sums(tmp_path / "a", 0, sums_of((tmp_path / "a").read_bytes()))
    assert file.check(np.ones_like(file.unchecked)) == len(content)


def test_sums_that_the_system_takes_in_pieces_are_all_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written = os.pwrite
    monkeypatch.setattr(
        os, "pwrite", lambda handle, content, place: written(handle, bytes(content)[:5], place)
    )
    write_sums(tmp_path / "file", 3, np.arange(4, dtype=np.uint32))
    assert np.fromfile(tmp_path / f"file{SUMS}", np.uint32).tolist() == [0, 0, 0, 0, 1, 2, 3]
