"""Pages live as long as a version reaches them, and their words are used again afterwards."""

from __future__ import annotations

import gc
import mmap
import signal
import threading
from collections import deque
from itertools import pairwise, takewhile
from pathlib import Path

import numpy as np
import pytest

from lftj.scantree import Arena, Tree, mapping, stretch
from lftj.scantree.invariants import check_arena
from lftj.scantree.stretch import Stretch
from tests.unit.scantree.trees import random_rows, rows_of, taken


def test_ten_thousand_commits_need_no_more_memory_than_a_few_versions() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    columns = random_rows(1, 4000)
    tree = Tree.build(arena, columns, leaf_capacity=64, fan=16)
    random = np.random.default_rng(1)
    kept: deque[Tree] = deque([tree], maxlen=3)
    places = random.integers(0, 4000, 10_000)
    loaded = arena.bytes_touched
    for number, place in enumerate(places.tolist()):
        row = taken(columns, [place])
        tree = tree.apply(row) if number % 2 else tree.apply([], row)
        kept.append(tree)
    assert arena.bytes_touched < 1.5 * loaded
    check_arena(arena, kept)
    del tree
    kept.clear()
    assert arena.bytes_in_use == 0


def test_versions_may_go_in_any_order() -> None:
    random = np.random.default_rng(2)
    for _ in range(5):
        arena = Arena(reserve_bytes=1 << 28)
        columns = random_rows(3, 600)
        versions = [Tree.build(arena, columns, leaf_capacity=8, fan=8)]
        for _ in range(20):
            gone = taken(columns, np.sort(random.choice(600, 15, replace=False)))
            versions.append(versions[random.integers(0, len(versions))].apply([], gone))
        expected = {id(version): rows_of(version.columns()) for version in versions}
        random.shuffle(versions)
        while versions:
            versions.pop()
            check_arena(arena, versions)
            assert all(rows_of(version.columns()) == expected[id(version)] for version in versions)
        assert arena.bytes_in_use == 0


def test_trees_of_many_shapes_share_an_arena() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    trees = []
    for width in (1, 2, 3, 16, 2, 1):
        columns = random_rows(width, 700, width=width)
        tree = Tree.build(
            arena,
            columns[:1],
            columns[1:],
            leaf_capacity=32,
            aggregates=[("max", width - 1)] * (width % 3),
        )
        trees += [tree, tree.apply([], taken(columns[:1], np.arange(0, 700, 3)))]
    check_arena(arena, trees)
    del trees[::2]
    tree = None
    check_arena(arena, trees)


def test_a_tree_in_a_cycle_is_freed_by_the_collector() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    ring: list[object] = [Tree.build(arena, random_rows(4, 100))]
    ring.append(ring)
    assert arena.bytes_in_use > 0
    del ring
    gc.collect()
    assert arena.bytes_in_use == 0


def test_readers_see_their_version_while_a_writer_goes_on() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    columns = random_rows(5, 3000)
    current = [Tree.build(arena, columns, leaf_capacity=16, fan=16)]
    wrong: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            tree = current[0]
            rows = tree.columns()
            if (
                len(rows[0]) != len(tree)
                or not np.array_equal(rows[0], np.sort(rows[0]))
                or not tree.contains(rows).all()
            ):
                wrong.append(repr(tree))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    random = np.random.default_rng(5)
    for number in range(400):
        picked = taken(columns, np.sort(random.choice(3000, 40, replace=False)))
        current[0] = current[0].apply(picked) if number % 2 else current[0].apply([], picked)
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
    check_arena(arena, current)


def test_two_writers_take_turns() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    results: list[list[tuple[int, ...]]] = [[], []]

    def write(side: int) -> None:
        tree = Tree.empty(arena, 1, leaf_capacity=8, fan=8)
        for number in range(300):
            tree = tree.apply([np.array([number * 7 % 300 + 1000 * side])])
        results[side] = rows_of(tree.columns())

    writers = [threading.Thread(target=write, args=(side,)) for side in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert results == [[(number + 1000 * side,) for number in range(300)] for side in range(2)]
    check_arena(arena, [])
    assert arena.bytes_in_use == 0


def test_a_reserve_that_the_system_refuses_is_halved_until_it_grants_it() -> None:
    arena = Arena(reserve_bytes=1 << 62)
    assert arena.memory.size * 8 < 1 << 62
    assert len(Tree.build(arena, [np.arange(1000)])) == 1000


def test_a_full_arena_names_its_size() -> None:
    with pytest.raises(
        MemoryError, match=r"arena of 0 GiB, of which the system gave 2 MiB, cannot hold another"
    ):
        Tree.build(Arena(reserve_bytes=1 << 20), [np.arange(1_000_000)])


def test_the_memory_of_an_arena_that_is_gone_serves_the_next_one() -> None:
    gc.collect()
    first = Arena()
    start = first.memory.__array_interface__["data"][0]
    columns = random_rows(5, 3000)
    del first
    second = Arena()
    assert second.memory.__array_interface__["data"][0] == start
    tree = Tree.build(second, columns)
    check_arena(second, [tree])
    assert rows_of(tree.columns()) == rows_of(columns)


def test_of_a_large_arena_the_next_one_gets_the_first_pages_and_the_system_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc.collect()
    monkeypatch.setattr("lftj.scantree.arena._KEPT", 1 << 20)
    first = Arena()
    Tree.build(first, [np.arange(1_000_000)])
    kept, touched = (2 << 20) // 8, first.bytes_touched // 8
    words = [kept - 1, kept, touched - 1]
    first.memory[words] = 17
    before = mapped_bytes()
    del first
    assert mapped_bytes() <= before - 8 * (touched - kept)
    second = Arena()
    second.require(touched)
    assert second.memory[words].tolist() == [17, 0, 0]


def mapped_bytes() -> int:
    """The address space that this process uses."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE


def test_an_arena_asks_for_addresses_as_it_needs_them() -> None:
    gc.collect()
    spare = Arena()  # takes what another left
    before = mapped_bytes()
    arenas = [Arena() for _ in range(20)]
    assert mapped_bytes() - before < 20 * (20 << 20)
    tree = Tree.build(arenas[0], [np.arange(3_000_000)])
    assert mapped_bytes() - before < 20 * (20 << 20) + 2 * arenas[0].bytes_touched
    starts = sorted(arena.memory.ctypes.data for arena in arenas)
    assert all(after - first >= arenas[0].memory.size * 8 for first, after in pairwise(starts))
    del tree, arenas
    assert mapped_bytes() - before < 80 << 20
    assert spare.bytes_in_use == 0


def test_a_stretch_grows_in_place_and_beside_another() -> None:
    first, second = Stretch(1 << 30, 1 << 20), Stretch(1 << 30, 1 << 20)
    words, others = first.words(), second.words()
    words[0], others[0] = 7, 8
    assert first.grow(512 << 20)
    assert second.grow(300 << 20)
    words[(512 << 17) - 1] = 9
    assert (words[0], others[0], int(others[1 << 20])) == (7, 8, 0)
    assert not first.grow((1 << 30) + 1)
    del first
    assert words[0] == 7  # an array keeps what it shows
    address = words.ctypes.data
    del words
    assert address not in stretch._taken


def test_where_something_is_mapped_already_a_stretch_goes_elsewhere_or_stops() -> None:
    first = Stretch(1 << 30, 1 << 20)
    assert first.address is not None
    place = first.address + first.mapped
    assert mapping.ask(place, 1 << 21)
    assert not first.grow(8 << 20)
    address = first.address
    del first
    mapping.give_back(place, 1 << 21)
    assert mapping.ask(address, 1 << 21)
    other = Stretch(1 << 30, 1 << 20)
    assert other.address != address
    mapping.give_back(address, 1 << 21)


def test_where_the_system_maps_no_place_that_it_is_told_all_is_reserved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lftj.scantree.stretch.ask", lambda address, size: None)
    whole = Stretch(1 << 28, 1 << 20)
    assert not whole.by_need
    assert whole.mapped == 1 << 28
    arena = Arena(reserve_bytes=1 << 28)
    assert len(Tree.build(arena, [np.arange(100_000)])) == 100_000


def test_words_that_someone_looks_at_are_not_used_again() -> None:
    gc.collect()
    first = Arena()
    words = first.memory[:1000]
    words[999] = 17
    del first
    second = Arena()
    second.memory[999] = 18
    assert words[999] == 17


def test_no_interrupt_is_lost_where_trees_die() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    tree = Tree.build(arena, random_rows(6, 10))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        for _ in range(1_000_000):
            Tree(arena, tree, tree.root, tree.height, tree.count)

    try:
        for _ in range(50):
            with pytest.raises(KeyboardInterrupt):
                interrupted()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(tree) == 10


def test_occurring_tells_the_words_of_every_version_that_lives() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    columns = [column % 500 for column in random_rows(5, 3000)]
    order = np.lexsort(columns[::-1])
    rows = np.unique(np.array([column[order] for column in columns]), axis=1)
    tree = Tree.build(arena, list(rows), [rows[0] + 1000], leaf_capacity=16, fan=4)
    other = Tree.build(arena, [np.array([-1, 1700, 10**9])])
    later = tree.apply([[600], *([601 + place] for place in range(1, len(rows))), [1601]], [])

    def found(*versions: Tree) -> set[int]:
        words = {
            int(word) for version in versions for column in version.columns() for word in column
        }
        return {word for word in words if 0 <= word < 2000}

    assert set(np.flatnonzero(arena.occurring(2000))) == found(tree, other, later)
    del later
    assert set(np.flatnonzero(arena.occurring(2000))) == found(tree, other)
    del tree
    assert set(np.flatnonzero(arena.occurring(2000))) == {1700}
    del other
    assert not arena.occurring(2000).any()


def test_ranges_that_nobody_has_any_more_are_found_before_a_smaller_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Holder:
        """Refers to itself, so that only the collector finds it."""

        def __init__(self, range_: mmap.mmap) -> None:
            self.range, self.me = range_, self

    size = 1 << 44  # of which the system grants a few
    gc.collect()
    with monkeypatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        held = list(
            takewhile(lambda range_: len(range_) == size, iter(lambda: mapping.reserve(size), None))
        )
        Holder(held.pop())
        assert len(mapping.reserve(size)) < size
    assert len(mapping.reserve(size)) == size
