"""Of many better values the best are taken first; which ones does not depend on how far apart they
are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import lftj
from lftj.maintenance.lattice import best_rows
from lftj.maintenance.lattice.best_rows import BestRows
from lftj.program.monotone import Lattice
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.dictionary import Dictionary
from tests.retuning import constants
from tests.unit.recursion.best_values import LABELS
from tests.unit.recursion.test_lattice_update import steps

LEAST, MOST = -(2**63), 2**63 - 1


def table(function: str, *, best_first: bool) -> BestRows:
    schema = RelationSchema("v", (("x", INT), ("value", INT)))
    empty = RelationVersion.empty(schema, Arena())
    return BestRows(empty, Lattice(1, function), Dictionary(), best_first=best_first)


@pytest.mark.parametrize(
    ("function", "better"), [("min", lambda a, b: a < b), ("max", lambda a, b: a > b)]
)
def test_waves_come_best_first_and_miss_nothing(function: str, better: object):
    draw = np.random.default_rng(1)
    values = draw.permutation(np.concatenate([[LEAST, MOST], np.arange(-2500, 2500)]))
    rows = table(function, best_first=True)
    rows.add_columns([np.arange(len(values)), values])
    waves: list[list[int]] = []
    while len((wave := rows.take_fresh())[1]):
        waves.append(wave[1].tolist())
    assert len(waves) > 3
    assert 256 <= len(waves[0]) < 400
    ends = [
        (max(wave), min(wave)) if function == "min" else (min(wave), max(wave)) for wave in waves
    ]
    assert all(better(worst, best) for (worst, _), (_, best) in pairwise(ends))  # type: ignore[operator]
    assert {tuple(row) for row in np.transpose(rows.total.columns()).tolist()} == set(
        enumerate(values.tolist())
    )


def test_what_waits_may_be_bettered_or_not_needed():
    rows = table("min", best_first=True)
    rows.add_columns([np.arange(1000), np.arange(1000)])
    rows.take_fresh()
    rows.add_columns([np.array([998, 999]), np.array([-5, -6])])
    second = rows.take_fresh()
    assert {(998, -5), (999, -6)} < set(zip(*(column.tolist() for column in second), strict=True))
    while len(rows.take_fresh()[0]):
        pass
    found = dict(zip(*(column.tolist() for column in rows.total.columns()), strict=True))
    assert found == {**{x: x for x in range(998)}, 998: -5, 999: -6}


def test_what_is_said_with_a_value_rides_along():
    """Of offers as good as each other the least is taken; one that is no better than what a group
    has changes nothing.
    """
    schema = RelationSchema("v", (("x", INT), ("value", INT), ("by", INT), ("also", INT)))
    rows = BestRows(
        RelationVersion.empty(schema, Arena()), Lattice(1, "max", riding=2), Dictionary()
    )

    def take(*offers: tuple[int, int, int, int]) -> list[list[int]]:
        rows.add_columns(list(np.array(offers).T))
        return np.transpose(rows.take_fresh()).tolist()

    assert take((1, 5, 8, 0), (1, 5, 7, 3), (1, 4, 1, 1), (2, 5, 9, 9), (1, 5, 7, 2)) == [
        [1, 5, 7, 2],
        [2, 5, 9, 9],
    ]
    assert take((1, 5, 0, 0), (2, 4, 0, 0)) == []
    assert take((2, 6, 3, 3), (1, 5, 6, 6)) == [[2, 6, 3, 3]]
    assert np.transpose(rows.total.columns()).tolist() == [[1, 5, 7, 2], [2, 6, 3, 3]]


def test_few_offers_and_those_that_must_not_wait_come_at_once():
    for best_first, many in ((True, 200), (False, 5000)):
        rows = table("max", best_first=best_first)
        rows.add_columns([np.arange(many), np.arange(many)])
        assert len(rows.take_fresh()[0]) == many


def test_labels_of_a_grid_take_steps_for_its_edges_not_for_their_corrections():
    side = 80
    nodes = np.arange(side * side).reshape(side, side)
    edges = [*zip(nodes[:, :-1].ravel().tolist(), nodes[:, 1:].ravel().tolist(), strict=True)]
    edges += zip(nodes[:-1].ravel().tolist(), nodes[1:].ravel().tolist(), strict=True)
    with lftj.connect() as ws:
        ws.relation("edge", {"x": int, "y": int, "w": int})
        ws.load("edge", [(a, b, 0) for a, b in edges])
        ws.add_rules("\n".join(line for line in LABELS.splitlines() if "decl edge" not in line))
        assert steps(ws) < 60 * len(edges)
        assert {label for _, label in ws["label"].fetchall()} == {0}


@pytest.mark.parametrize("few", [True, False], ids=["much the same", "all different"])
@pytest.mark.parametrize("function", [None, "min", "max"])
@constants(best_rows, _OFFERED_ROWS=500)
def test_of_very_many_offers_only_those_that_count_wait(function: str | None, few: bool):
    draw, schema = np.random.default_rng(8), RelationSchema("v", (("x", INT), ("value", INT)))
    rows = BestRows(
        RelationVersion.empty(schema, Arena()),
        function and Lattice(1, function),  # type: ignore[arg-type]
        Dictionary(),
    )
    expected: set[tuple[int, ...]] = set()
    for turn in range(2):
        offers = [draw.integers(-20, 20 if few else 10**12, (2, 300)) for _ in range(40)]
        for number, each in enumerate(offers):
            rows.add(each[::-1], np.array([1, 0]))
            assert rows.offered <= max(800, 2 * 40**2) or not few, (turn, number)
        expected |= {tuple(row) for row in np.concatenate(offers, axis=1).T.tolist()}
        rows.take_offers() if turn else rows.take_fresh()
        assert rows.offered == 0
        if not turn:
            of_group = {}
            for x, value in sorted(expected, key=lambda row: row[1], reverse=function == "min"):
                of_group[x] = value
            found = {tuple(row) for row in np.transpose(rows.total.columns()).tolist()}
            assert found == (expected if function is None else set(of_group.items()))


@constants(best_rows, _OFFERED_ROWS=500)
def test_threads_that_add_very_many_offers_lose_none():
    rows = BestRows(
        RelationVersion.empty(RelationSchema("v", (("x", INT),)), Arena()),
        None,
        Dictionary(),
    )
    with ThreadPoolExecutor(4) as threads:
        list(
            threads.map(
                lambda first: [
                    rows.add_columns([np.arange(i, i + 50) % 3000]) for i in range(first, 9000, 160)
                ],
                range(0, 160, 40),
            )
        )
    assert rows.take_fresh()[0].tolist() == list(range(3000))


@pytest.mark.parametrize("most", [50, 10**6, 2**62], ids=["dense", "sparse", "wide"])
@constants(best_rows, _SET_LEAST=0)
def test_a_set_of_all_rows_tells_what_is_new_once_many_came(most: int):
    """Rows that widen the set, that are there, and that come twice; the tree gets them when it is
    read, and a compiled run takes what waits.
    """
    draw, schema = np.random.default_rng(3), RelationSchema("v", (("x", INT), ("y", INT)))
    known: set[tuple[int, ...]] = set()
    rows = BestRows(RelationVersion.empty(schema, Arena()), None, Dictionary())
    for turn in range(12):
        offers = draw.integers(-most, most, (2, 40)) // (1 if turn > 5 else 2)
        offered = {tuple(row) for row in offers.T.tolist()} | set(sorted(known)[:5])
        rows.add_columns(list(offers))
        rows.add_columns(list(np.array(sorted(offered)).T))
        assert rows.offered >= len(offered - known)
        packed = rows.take_packed() if turn % 3 == 1 else None
        found = packed.columns() if packed is not None else rows.take_fresh()
        assert {tuple(row) for row in np.transpose(found).tolist()} == offered - known
        known |= offered
        if turn % 4 == 3:
            assert np.transpose(rows.total.columns()).tolist() == sorted(map(list, known))
    came = rows.came
    assert came is not None
    assert np.transpose(came).tolist() == sorted(map(list, known))
    rows.add_columns([np.array([most + 1]), np.array([0])])
    assert rows.take_offers().T.tolist() == [[most + 1, 0]]
    rows.total = rows.total
    assert rows.came is None
    assert rows.offered == 0


@pytest.mark.parametrize(("read", "turns"), [(False, 4), (True, 54)], ids=["at last", "each time"])
def test_rows_that_come_are_looked_up_until_a_set_of_all_takes_no_longer(read: bool, turns: int):
    """Rows that lie anywhere are added to as many pages, which a set saves where no rule reads all
    rows meanwhile.
    """
    schema = RelationSchema("v", (("x", INT), ("y", INT)))
    there = np.arange(300_000)
    full = RelationVersion.build(schema, Arena(), [there // 600, there % 600])
    rows = BestRows(full, None, Dictionary(), read=read)
    for turn in range(60):
        rows.add_columns([np.arange(500), np.full(500, 600 + turn)])
        assert (rows.take_packed() is not None) is (turn > turns), turn
        rows.take_fresh()
    assert rows.total.count == 330_000
