"""Prices of kernel steps by the bytes behind them: data, measured once on one class of machine.

A step to rows that lie beside those of the step before takes what its instructions take. One that
jumps waits until the rows come: hardly at all where all rows of the tree stay in the processor's
cache, for ten or twenty times as long where they are in memory and no translation of their
addresses is cached either.
"""

from __future__ import annotations

from math import log2

from lftj.join.plan.atom_statistics import AtomStatistics

WORD = 8
"""Bytes of a value."""
STEP = 20.0
"""Nanoseconds of a step that waits for nothing: processor time on two cores of an Intel Xeon (model
167, 2 MB of second-level cache each) that other programs share. `python -m bench cost --calibrate`
measures it, and the table below.
"""
WAITS = (
    (1 << 16, 0.0),
    (1 << 18, 18.0),
    (1 << 20, 48.0),
    (1 << 22, 136.0),
    (1 << 24, 250.0),
    (1 << 26, 450.0),
)
"""Nanoseconds that a jump waits in one column of a tree of so many bytes; between them as the
logarithm of the size.
"""
BESIDE = 512
"""Bytes between two places of a column up to which going from one to the other is no jump: what is
read ahead, and a page of addresses for several places.
"""
PLACE = 256
"""Bytes that a jump brings into the cache: lines of a few pages, and of those above them."""

_SIZES = tuple(log2(size) for size, _ in WAITS)
_STEPS = tuple(waited / STEP for _, waited in WAITS)


def wait(size: float) -> float:
    """Time, in kernel steps, that a jump into a tree of so many bytes waits."""
    if size <= WAITS[0][0]:
        return 0.0
    place = log2(size)
    for number in range(1, len(_SIZES)):
        if place < _SIZES[number]:
            share = (place - _SIZES[number - 1]) / (_SIZES[number] - _SIZES[number - 1])
            return _STEPS[number - 1] + share * (_STEPS[number] - _STEPS[number - 1])
    return _STEPS[-1]


def waits(
    atom: AtomStatistics, variable: int, visits: float, before: float, places: float
) -> float:
    """Time, in kernel steps, that so many visits to values of an atom's variable wait for memory
    behind one of the `before` bindings of its other variables.

    `places`: where something is bound that the atom does not have, the bindings of these with the
    variable. Then the search comes back to its rows: that is a jump to one of these places. The
    values then ascend, and lie side by side unless few of them are visited.
    """
    size = float(WORD * atom.arity * atom.statistics.rows)
    jumps = 1.0 if places else 0.0
    if visits > 1.0 and WORD * atom.rows > BESIDE * visits * before:
        jumps += visits - 1.0
    size = min(size, PLACE * places) if places else size
    return jumps and jumps * len(atom.columns[variable]) * wait(size)
