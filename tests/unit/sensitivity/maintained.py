"""A body maintained through this package, and the checks that make its steps worth something."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.scantree import Arena, Tree
from lftj.scantree.rows import difference, sort_rows
from lftj.sensitivity import (
    Granularity,
    Liveness,
    Regions,
    SensitivityIndex,
    Surgeries,
    TraceLog,
    change_oracle,
    surgeries,
)
from lftj.sensitivity.oracle import OracleWork
from lftj.sensitivity.shape import Position, PositionKey
from tests.unit.sensitivity.triejoin import Body, Row, Run, records_array

Relations = Mapping[str, set[Row]]


def columns_of(rows: set[Row], width: int) -> list[np.ndarray]:
    """Rows as sorted columns."""
    array = np.array(sorted(rows), np.int64).reshape(-1, width)
    return [np.ascontiguousarray(array[:, i]) for i in range(width)]


class Maintained:
    """The result of a body, kept by trace. `granularities` by position; a position that is not
    there keeps no index.
    """

    def __init__(
        self, body: Body, relations: Relations, granularities: Mapping[PositionKey, Granularity]
    ) -> None:
        self.body = body
        self.granularities = dict(granularities)
        self.arena = Arena(reserve_bytes=1 << 28)
        self.relations = {name: set(rows) for name, rows in relations.items()}
        self.trees = self._trees()
        self.work = OracleWork()
        self.steps = 0
        self.log_all()

    def log_all(self) -> None:
        """Evaluate in full and make every index anew."""
        run = Run(self.body, self.body.rows(self.relations), {}, 0)
        self.result = run.found
        self.full_steps = run.steps
        logged = self._logged([run])
        self.indices = {
            position.key: SensitivityIndex.build(
                self.arena,
                position,
                granularity,
                logged.get(position.key, self._no_intervals(position)),
            )
            for position, granularity in self._channels()
        }

    def _channels(self) -> list[tuple[Position, Granularity]]:
        by_key = self.body.shape.by_key
        return [
            (by_key[key], granularity)
            for key, granularity in self.granularities.items()
            if granularity.kept
        ]

    @staticmethod
    def _no_intervals(position: Position) -> list[np.ndarray]:
        return [np.empty(0, np.int64)] * (len(position.alpha) + 2 + len(position.gamma))

    def _logged(self, runs: list[Run]) -> dict[PositionKey, list[np.ndarray]]:
        channels = self._channels()
        log = TraceLog(channels)
        for run in runs:
            log(
                records_array(
                    run.records, [position for position, _ in channels], self.body.shape.levels
                )
            )
        return log.columns()

    def _trees(self) -> list[Tree]:
        trees = []
        for number, rows in enumerate(self.body.rows(self.relations)):
            width = len(self.body.reads[number][1])
            trees.append(
                Tree.empty(self.arena, width, leaf_capacity=4, fan=4).apply(columns_of(rows, width))
            )
        return trees

    def step(self, relations: Relations) -> tuple[Regions, ...]:
        """Go to these relations, and maintain the result. Returns the regions."""
        before, after = self.body.rows(self.relations), self.body.rows(relations)
        trees, changes = [], []
        for tree, old, new in zip(self.trees, before, after, strict=True):
            inserts, erases = (
                columns_of(new - old, tree.key_width),
                columns_of(old - new, tree.key_width),
            )
            trees.append(tree.apply(inserts, erases))
            changes.append(surgeries(tree, trees[-1], inserts, erases) if old != new else None)
        regions, self.work = change_oracle(self.body.shape, changes, self.indices)
        lost, won = self._both_sides(regions, before, after)
        self.relations = {name: set(rows) for name, rows in relations.items()}
        self.trees = trees
        live = Liveness(self.body.shape, trees)
        for key, columns in self._logged(won).items():
            self.indices[key] = self.indices[key].add(columns, live)
        self.result = self.result - set().union(*(run.found for run in lost)) | set().union(
            *(run.found for run in won)
        )
        self.steps = sum(run.steps for run in (*lost, *won))
        return regions

    def _both_sides(
        self, regions: tuple[Regions, ...], before: list[set[Row]], after: list[set[Row]]
    ) -> tuple[list[Run], list[Run]]:
        lost, won = [], []
        for batch in regions:
            for i in range(len(batch)):
                pins = {
                    level: int(column[i])
                    for level, column in zip(batch.levels, batch.columns, strict=True)
                }
                lost.append(Run(self.body, before, pins, self.body.shape.levels))
                won.append(Run(self.body, after, pins, batch.log_from))
        return lost, won

    # ── what must hold after every step ───────────────────────────────────────────────────────────
    def check_result(self) -> None:
        """The maintained result is that of a full evaluation."""
        assert self.result == Run(self.body, self.body.rows(self.relations), {}, 0).found

    def check_invariant(self, domain: range) -> None:
        """Coverage, context by context and value by value, for values in the domain and next to it
        on both sides.
        """
        rows = self.body.rows(self.relations)
        self._check_level(rows, (), range(domain.start - 1, domain.stop + 1))

    def _covers(self, position: Position, bound: Row, value: int) -> bool:
        index = self.indices.get(position.key)
        if position.prefix or index is None:
            return True
        alpha = [np.array([bound[level]], np.int64) for level in position.alpha]
        _, gamma = index.stab(alpha, np.array([value], np.int64))
        wanted = tuple(bound[level] for level in index.gamma)
        return (
            wanted in set(zip(*(column.tolist() for column in gamma), strict=True))
            if gamma
            else bool(len(_))
        )

    def _check_level(self, rows: list[set[Row]], bound: Row, domain: range) -> bool:
        """Search for a proof below; after the first one in the existential block nothing has to be
        covered.
        """
        level = len(bound)
        if level == self.body.shape.levels:
            return True
        computed = self.body.computed(level, bound)
        proof = False
        for value in domain if computed is None else [computed]:
            if self._matches(rows, bound, value) and self._check_level(
                rows, (*bound, value), domain
            ):
                proof = True
                if level >= self.body.shape.exists_from:
                    return True
        return proof

    def _matches(self, rows: list[set[Row]], bound: Row, value: int) -> bool:
        positive, negated = self.body.at(len(bound))
        further = (*bound, value)
        passes = self.body.filters.get(len(bound))
        lacking = [p for p in positive if value not in self.body.values(rows, p, bound)]
        lacking += [p for p in negated if self.body.present(rows, p, further)]
        if lacking:
            free = passes is not None and not passes(further)
            assert free or any(self._covers(p, bound, value) for p in lacking), (
                "no witness",
                bound,
                value,
                lacking,
            )
            return False
        if passes is not None and not passes(further):
            return False
        for position in (*positive, *negated):
            assert self._covers(position, bound, value), ("not covered", bound, value, position)
        return True


def delta(old: Tree, new: Tree) -> tuple[Surgeries, list[np.ndarray], list[np.ndarray]]:
    """The surgeries between two trees, and the rows won and lost."""
    inserts, erases = (
        difference(new.columns(), old.columns()),
        difference(old.columns(), new.columns()),
    )
    return surgeries(old, new, sort_rows(inserts), sort_rows(erases)), inserts, erases
