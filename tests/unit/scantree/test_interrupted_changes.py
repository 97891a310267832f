"""Ctrl-C while a kernel makes a version leaves none of its pages behind."""

from __future__ import annotations

import _thread
import signal

import numpy as np
import pytest

import scantree.tree
from scantree import Arena, Tree
from scantree.invariants import check_arena


class Interrupt:
    """Comes the moment it is forgotten. Nothing here runs in the interpreter, which would handle it on the spot."""

    __del__ = staticmethod(_thread.interrupt_main)


@pytest.fixture
def interrupted(monkeypatch):
    """Have an interrupt come while the kernel of this name runs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def have(name: str) -> None:
        kernel = getattr(scantree.tree, name)

        def running(*arguments):
            interrupt = Interrupt()  # noqa: F841 — it is forgotten when this ends
            return kernel(*arguments)

        monkeypatch.setattr(scantree.tree, name, running)

    yield have
    signal.signal(signal.SIGINT, before)


def numbers(first: int, last: int) -> list[np.ndarray]:
    return [np.arange(first, last)]


def test_a_tree_that_is_built(interrupted):
    arena = Arena()
    kept = Tree.build(arena, numbers(0, 3000))
    interrupted("build")
    with pytest.raises(KeyboardInterrupt):
        Tree.build(arena, numbers(0, 5000))
    check_arena(arena, [kept])


@pytest.mark.parametrize("erased", [(0, 10), (0, 500), (3, 500), (600, 601)])
@pytest.mark.parametrize("inserted", [(0, 0), (500, 510)])
def test_a_tree_that_is_changed(interrupted, erased, inserted):
    arena = Arena()
    kept = Tree.build(arena, numbers(0, 500), leaf_capacity=4, fan=8)
    interrupted("apply_changes")
    with pytest.raises(KeyboardInterrupt):
        kept.apply(numbers(*inserted), numbers(*erased))
    check_arena(arena, [kept])
    assert len(kept.columns()[0]) == 500
