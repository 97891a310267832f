"""Trees in files: what another arena opens is what was stored, wherever it is mapped, and only what
a version changed is written.
"""

from __future__ import annotations

import gc
import os
import signal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import lftj.scantree.segment
from lftj.scantree import Arena, Tree
from lftj.scantree.segment import SegmentFile, address_of, forget_stored, needed, open_segments
from lftj.scantree.segment_homes import homes_in
from lftj.scantree.watched_files import FileDamagedError
from tests.unit.scantree.stored_trees import RESERVE, opened, same, tree_of


@pytest.mark.parametrize("capacities", [{}, {"leaf_capacity": 4, "fan": 4}])
def test_a_stored_tree_is_opened_elsewhere_and_changed_there(
    tmp_path: Path, capacities: dict[str, int]
) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 2000, **capacities)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    found = opened(tmp_path, [segment], tree, address_of(arena, tree.root))
    assert found.root == address_of(arena, tree.root)  # at home
    assert same(found, tree)
    change = np.array([5, 900], np.int64)
    after = found.apply([change // 7, change, change], [change[:0]] * 2)
    assert same(after, tree.apply([change // 7, change, change]))
    assert same(found, tree)
    del after
    found.arena.sweep()
    assert same(found, tree)


def test_an_empty_tree_has_no_page_to_open(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 10)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([0, tree.root])
    assert address_of(arena, 0) == 0
    assert open_segments(Arena(RESERVE), tmp_path, [segment], [0, address_of(arena, tree.root), 0])[
        ::2
    ] == [0, 0]


def test_a_segment_that_could_not_be_mapped_is_mapped_later_at_its_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, other = Arena(RESERVE), Arena(RESERVE)
    tree = tree_of(arena, 300)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])

    def refuse(*_: object) -> None:
        raise OSError("no address space")

    with monkeypatch.context() as patch:
        patch.setattr("lftj.scantree.arena.show_file", refuse)
        with pytest.raises(OSError, match="no address space"):
            opened(tmp_path, [segment], tree, address_of(arena, tree.root), other)
    found = opened(tmp_path, [segment], tree, address_of(arena, tree.root), other)
    assert found.root == address_of(arena, tree.root)
    assert same(found, tree)
    assert len(other.taken) == 1


def test_a_later_version_writes_what_it_changed(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 200_000)
    file = SegmentFile(arena, tmp_path, "one", 1 << 24)
    first = file.append([tree.root])
    one = np.array([77], np.int64)
    later = tree.apply([one // 7, one, one])
    second = file.append([later.root, tree.root])
    assert 0 < second.words - first.words < first.words / 20
    assert same(opened(tmp_path, [first], tree, address_of(arena, tree.root)), tree)
    shared = Arena(RESERVE)
    assert same(opened(tmp_path, [first], tree, address_of(arena, tree.root), shared), tree)
    assert same(opened(tmp_path, [second], later, address_of(arena, later.root), shared), later)
    assert same(opened(tmp_path, [first], tree, address_of(arena, tree.root), shared), tree)
    assert shared.bytes_in_use == second.words * 8  # each word is mapped once
    assert not shared.is_free(second.home, 1)
    assert not shared.is_free(second.home + second.room - 1, 1)
    assert file.append([later.root]) == second


def test_pages_of_two_processes_make_one_tree(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 3000, leaf_capacity=8, fan=8)
    first = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    other = opened(tmp_path, [first], tree, address_of(arena, tree.root))
    one = np.array([9], np.int64)
    changed = other.apply([one // 7, one, one])
    file = SegmentFile(other.arena, tmp_path, "two", 1 << 22)
    second = file.append([changed.root], [first])
    assert second.words < first.words
    assert second.reads == (first.name,)
    assert needed([second, first], [address_of(other.arena, changed.root), 0]) == [second, first]
    assert needed([second, first], [address_of(arena, tree.root)]) == [first]
    for segments in ([first, second], [second, first]):
        found = opened(tmp_path, segments, changed, address_of(other.arena, changed.root))
        assert same(found, changed)
        assert [found.arena.mapped[segment.name] for segment in segments] == [
            (segment.home, segment.words) for segment in segments
        ]
    assert file.append([tree_of(other.arena, 1).root], [first]).reads == (
        first.name,
    )  # as before, though none of the new pages does


def test_no_other_segment_gets_the_home_of_one_that_is_elsewhere(tmp_path: Path) -> None:
    """Its addresses are still those: a page below which both are could not tell them apart."""
    arena = Arena(RESERVE)
    tree = tree_of(arena, 3000)
    first = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    elsewhere = Arena(RESERVE)
    elsewhere.take(first.home, 1)
    assert elsewhere.is_free(first.home + 1, 1 << 20)
    opened(tmp_path, [first], tree, address_of(arena, tree.root), elsewhere)
    assert not elsewhere.is_free(first.home + 1, 1 << 20)


def test_a_segment_is_not_opened_beside_one_that_has_its_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, elsewhere = Arena(RESERVE), Arena(RESERVE)
    tree = tree_of(arena, 3000)
    first = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    with monkeypatch.context() as patch:
        patch.setattr("lftj.scantree.segment.find_home", lambda *_: first.home)
        patch.setattr(
            "lftj.scantree.segment.homes_in",
            lambda folder: dict.fromkeys(os.listdir(folder), (0, 0)),
        )
        SegmentFile(elsewhere, tmp_path, "two", 1 << 22)
    for _ in range(2):
        with pytest.raises(FileDamagedError, match="addresses of another segment"):
            opened(tmp_path, [first], tree, address_of(arena, tree.root), elsewhere)
    assert same(opened(tmp_path, [first], tree, address_of(arena, tree.root)), tree)


def test_no_two_segments_of_a_folder_have_a_home_whoever_made_them(tmp_path: Path) -> None:
    """In a range that has room for eleven: left to chance alone, two of these five would have some
    words both.
    """
    room = 1 << 22
    homes = [
        SegmentFile(Arena(24 * 8 * room), tmp_path, "one", room).segment.home for _ in range(5)
    ]
    assert all(end - first >= room for first, end in pairwise(sorted(homes)))
    assert sorted(home for home, _ in homes_in(tmp_path).values()) == sorted(homes)


def test_of_two_that_take_a_home_at_once_one_takes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = SegmentFile(Arena(RESERVE), tmp_path, "one", 1 << 22).segment
    with monkeypatch.context() as patch:
        patch.setattr(
            "lftj.scantree.segment.find_home", lambda *_: patch.undo() or first.home
        )  # as if the first were not there yet
        second = SegmentFile(Arena(RESERVE), tmp_path, "two", 1 << 22).segment
    assert abs(first.home - second.home) >= 1 << 22
    assert set(homes_in(tmp_path)) == {first.name, second.name}


def test_names_that_say_no_home_are_passed_over(tmp_path: Path) -> None:
    for name in ("one.pages", "part0-5f.pages", "0.3.a.1.json", "strings-1"):
        (tmp_path / name).touch()
    assert homes_in(tmp_path) == {}


def test_where_a_home_is_taken_pages_are_relocated(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 3000, leaf_capacity=4, fan=4)
    file = SegmentFile(arena, tmp_path, "one", 1 << 22)
    first = file.append([tree.root])
    elsewhere = Arena(RESERVE)
    elsewhere.take(first.home, 1)
    found = opened(tmp_path, [first], tree, address_of(arena, tree.root), elsewhere)
    assert found.root != address_of(arena, tree.root)
    assert same(found, tree)
    one = np.array([9], np.int64)
    later = tree.apply([one // 7, one, one])
    second = file.append([later.root])
    again = opened(tmp_path, [second], later, address_of(arena, later.root), elsewhere)
    assert same(again, later)
    assert same(found, tree)
    moved = found.apply([one // 7, one, one * 2])
    third = SegmentFile(elsewhere, tmp_path, "three", 1 << 22).append([moved.root], [second])
    assert same(opened(tmp_path, [second, third], moved, address_of(elsewhere, moved.root)), moved)


def test_an_arena_that_ends_before_a_home_shows_the_segment_elsewhere(tmp_path: Path) -> None:
    """Pages are relocated where the system gives less room, also those that come later, and others
    read what is written there.
    """
    arena, room = Arena(RESERVE), 1 << 22
    tree = tree_of(arena, 3000, leaf_capacity=4, fan=4)
    file = SegmentFile(arena, tmp_path, "one", room)
    first = file.append([tree.root])
    small = Arena(RESERVE // 4)
    assert first.home >= small.memory.size
    found = opened(tmp_path, [first], tree, address_of(arena, tree.root), small)
    assert same(found, tree)
    one = np.array([9], np.int64)
    moved = found.apply([one // 7, one, one * 2])
    second = SegmentFile(small, tmp_path, "two", room).append([moved.root], [first])
    address = address_of(small, moved.root)
    for other in (Arena(RESERVE), Arena(RESERVE // 4), Arena(RESERVE // 8)):
        assert same(opened(tmp_path, [second, first], moved, address, other), moved)
    third = file.append([tree.apply([one, one, one]).root])
    assert same(opened(tmp_path, [third], tree, address_of(arena, tree.root), small), tree)


def test_however_many_index_pages_are_relocated(tmp_path: Path) -> None:
    arena, elsewhere = Arena(RESERVE), Arena(RESERVE)
    tree = Tree.build(arena, [np.arange(40_000)], leaf_capacity=4, fan=8)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 25).append([tree.root])
    elsewhere.take(segment.home, 1)
    found = opened(tmp_path, [segment], tree, address_of(arena, tree.root), elsewhere)
    assert np.array_equal(found.columns()[0], tree.columns()[0])


def test_an_interrupt_while_pages_are_relocated_comes_when_all_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relocated page is not looked at again: pages below it would lead to where nothing is."""
    arena, elsewhere = Arena(RESERVE), Arena(RESERVE)
    tree = Tree.build(arena, [np.arange(40_000)], leaf_capacity=4, fan=8)
    file = SegmentFile(arena, tmp_path, "one", 1 << 25).append([tree.root])
    elsewhere.take(file.home, 1)
    relocate, calls = lftj.scantree.segment.relocate, 0

    def interrupted(*arguments: object) -> tuple[int, int]:
        nonlocal calls
        calls += 1
        if calls == 1:
            signal.raise_signal(signal.SIGINT)
        return relocate(*arguments)

    monkeypatch.setattr(lftj.scantree.segment, "relocate", interrupted)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            opened(tmp_path, [file], tree, address_of(arena, tree.root), elsewhere)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert calls > 1
    monkeypatch.undo()
    found = opened(tmp_path, [file], tree, address_of(arena, tree.root), elsewhere)
    assert np.array_equal(found.columns()[0], tree.columns()[0])


def test_files_go_with_the_arena_that_shows_them(tmp_path: Path) -> None:
    gc.collect()
    arena = Arena()
    tree = tree_of(arena, 2000)
    segment = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    with_file = Arena()
    open_segments(with_file, tmp_path, [segment], [])
    assert with_file.memory[with_file.mapped[segment.name][0]] != 0
    assert segment.name in Path("/proc/self/maps").read_text()
    del with_file
    assert segment.name not in Path("/proc/self/maps").read_text()


def test_all_can_be_written_again(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    tree = tree_of(arena, 3000, leaf_capacity=4, fan=4)
    first = SegmentFile(arena, tmp_path, "one", 1 << 22).append([tree.root])
    forget_stored(arena, [tree.root])
    second = SegmentFile(arena, tmp_path, "two", 1 << 22).append([tree.root], [first])
    assert (second.words, second.reads) == (first.words, ())
    assert same(opened(tmp_path, [second], tree, address_of(arena, tree.root)), tree)


def test_no_range_of_words_is_given_twice(tmp_path: Path) -> None:
    arena = Arena(1 << 28)
    with pytest.raises(MemoryError):
        SegmentFile(arena, tmp_path, "large", 1 << 26)
    for name in "abc":
        SegmentFile(arena, tmp_path, name, 1 << 19)
    ranges = sorted(arena.taken)
    assert all(end <= first for (_, end), (first, _) in pairwise(ranges))
    with pytest.raises(MemoryError, match="GiB"):
        arena.require(ranges[0][0])
