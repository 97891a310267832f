"""Stretches of addresses: what may happen while one is taken."""

from __future__ import annotations

import gc
from typing import Any

from lftj.scantree.stretch import GRAIN, Stretch


def test_stretches_that_die_while_another_is_taken_do_not_disturb_it() -> None:
    # Each collection leaves one more stretch for the next one to find.
    kept = [Stretch(GRAIN, GRAIN) for _ in range(20)]
    dying = [Stretch(GRAIN, GRAIN) for _ in range(200)]
    collected = 0
    # Python keeps tuples for reuse, for which it collects nothing: take them all.
    pairs = [(number, number) for number in range(10_000)]

    def leave_one(phase: str, _: dict[str, Any]) -> None:
        nonlocal collected
        if phase == "stop" and dying:
            collected += 1
            ring: list[Any] = [dying.pop()]
            ring.append(ring)

    before = gc.get_threshold()
    gc.callbacks.append(leave_one)
    gc.set_threshold(1)
    try:
        while dying:
            kept.append(Stretch(GRAIN, GRAIN))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(leave_one)
    assert collected == 200
    assert len(pairs) == 10_000
    assert len({stretch.address for stretch in kept}) == len(kept)
