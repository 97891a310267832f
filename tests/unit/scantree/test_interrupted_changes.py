"""Ctrl-C while a kernel makes a version leaves none of its pages behind."""

from __future__ import annotations

import numpy as np
import pytest

import lftj.scantree.tree
from lftj.scantree import Arena, Tree
from lftj.scantree.invariants import check_arena
from tests.interrupting import Interrupt


@pytest.fixture
def interrupted(monkeypatch, heeding_interrupts):
    """Have an interrupt come while the kernel of this name runs."""

    def have(name: str) -> None:
        kernel = getattr(lftj.scantree.tree, name)

        def running(*arguments):
            interrupt = Interrupt()  # noqa: F841 — it is forgotten when this ends
            return kernel(*arguments)

        monkeypatch.setattr(lftj.scantree.tree, name, running)

    return have


def numbers(first: int, last: int) -> list[np.ndarray]:
    return [np.arange(first, last)]


def test_a_tree_that_is_built(interrupted):
    arena = Arena()
    kept = Tree.build(arena, numbers(0, 3000))
    interrupted("build_in_room")
    with pytest.raises(KeyboardInterrupt):
        Tree.build(arena, numbers(0, 5000))
    check_arena(arena, [kept])


@pytest.mark.parametrize("erased", [(0, 10), (0, 500), (3, 500), (600, 601)])
@pytest.mark.parametrize("inserted", [(0, 0), (500, 510)])
def test_a_tree_that_is_changed(interrupted, erased, inserted):
    arena = Arena()
    kept = Tree.build(arena, numbers(0, 500), leaf_capacity=4, fan=8)
    interrupted("apply_in_room")
    with pytest.raises(KeyboardInterrupt):
        kept.apply(numbers(*inserted), numbers(*erased))
    check_arena(arena, [kept])
    assert len(kept.columns()[0]) == 500
