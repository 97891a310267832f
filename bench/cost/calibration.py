"""Measurement of prices: waits of jumps into trees of several sizes, and what one of each other
kind of work takes in random bodies.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from rich.console import Console

import lftj
from bench.cost.cases import Cases
from bench.cost.forecast import PRICES, Work
from bench.cost.measuring import Measured, measuring
from bench.cost.prices import WAITS
from bench.engine import connect

_JUMPS = 100_000
_COLUMNS = 2
"""Columns of the tree that a jump of the measured body reads."""
_SEED = 17
_REFITS = 30


def waits() -> list[tuple[int, float]]:
    """Nanoseconds that a jump waits in a column of a tree of so many bytes: the time of a join that
    looks up random rows, less that of one over a small tree.
    """
    chance = np.random.default_rng(_SEED)
    found: list[tuple[int, float]] = []
    for size in (1 << 14, *(size for size, _ in WAITS)):
        rows = size // 16
        jumps = {"x": np.arange(_JUMPS), "y": chance.integers(0, rows, _JUMPS)}
        tree = {"y": np.arange(rows), "z": chance.integers(0, 1_000, rows)}
        found.append((size, 1e9 * _seconds(pa.table(jumps), pa.table(tree)) / _JUMPS / _COLUMNS))
    return [(size, round(each - found[0][1])) for size, each in found[1:]]


def _seconds(jumps: pa.Table, tree: pa.Table) -> float:
    workspace = connect(tuning=lftj.Tuning(without={"star join"}))
    workspace.add_rules(
        ".decl jump(x: number, y: number)  .decl tree(y: number, z: number)\n.decl n(n: number)"
    )
    workspace.load("jump", jumps)
    workspace.load("tree", tree)
    found: list[Measured] = []
    with measuring(found):  # the comparison makes `x` come first
        workspace.add_rules("n(count()) :- jump(x, y), tree(y, z), z != x.")
    workspace.close()
    return found[-1].seconds - found[-1].making


def prices(found: Sequence[Measured]) -> Work:
    """Nanoseconds of one of each kind but waits: those that leave the least relative errors, where
    the steps of a search are those that were counted.
    """
    kinds = ("start", "steps", "windows", "rows", "probes", "words", "looked_up", "scanned")
    once = ("start", "words", "looked_up", "scanned")
    rows, waited, taken = [], [], []
    for each in found:
        work = each.expected
        times = each.steps / max(1.0, work.counted) if each.searched else 1.0
        if 2e-9 * times * PRICES.waits * work.waits > each.seconds:
            continue  # waits would hide all else
        taken.append(1e9 * each.seconds)
        rows.append([getattr(work, kind) * (1 if kind in once else times) for kind in kinds])
        waited.append(times * PRICES.waits * work.waits)
    amounts, taken = np.array(rows), np.array(taken)
    weights, solved = 1 / taken, np.zeros(len(kinds))
    for _ in range(_REFITS):
        solved = _least_squares(amounts * weights[:, None], (taken - waited) * weights)
        off = np.abs(np.log((amounts @ solved + waited + 1.0) / taken))
        weights = 1 / (taken * (1 + off) ** 2)
    return Work(**dict(zip(kinds, solved.round(1).tolist(), strict=True)), waits=PRICES.waits)


def _least_squares(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The solution without negative numbers, by coordinate descent."""
    squares, products = matrix.T @ matrix, matrix.T @ wanted
    found = np.zeros(len(products))
    for _ in range(500):
        for place in np.flatnonzero(np.diag(squares)):
            off = products[place] - squares[place] @ found
            found[place] = max(0.0, found[place] + off / squares[place, place])
    return found


def calibrate(console: Console) -> None:
    """Print the table of `bench/cost/prices.py`, and the prices of `bench/cost/forecast.py`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        console.print(f"WAITS = {waits()}")
    bodies = [case.measured for case in Cases("m").random(seed=_SEED)]
    console.print(prices([each for each in bodies if each.seconds > 0.0005]))
