"""Random changes of facts, and workspaces that take them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import require_equal

AS_TABLE = 100  # rows from which on a change is handed over as an Arrow table
UPDATE, BOOTSTRAP, ELASTIC = math.inf, 0.0, 0.2  # shares of a bootstrap that an update may take


@dataclass(frozen=True)
class Change:
    """Rows of one relation that come and go in one commit, an array of rows × columns each."""

    relation: str
    inserted: np.ndarray
    deleted: np.ndarray

    def __len__(self) -> int:
        return len(self.inserted) + len(self.deleted)

    @property
    def undone(self) -> Change:
        """The opposite change."""
        return Change(self.relation, self.deleted, self.inserted)


class Changes:
    """Draws changes of one relation: rows to delete uniformly from those present, to insert from
    those deleted and from `spare`.
    """

    def __init__(self, relation: str, rows: np.ndarray, spare: np.ndarray, seed: int = 1):
        self._relation = relation
        self._random = np.random.default_rng(seed)
        self._present = rows
        self._spare = spare

    def of_size(self, size: int, inserts: int | None = None) -> Change:
        """A change of that many rows, half of them inserts unless said otherwise."""
        inserts = size // 2 if inserts is None else inserts
        self._present, deleted = self._taken(self._present, size - inserts)
        self._spare, inserted = self._taken(self._spare, inserts)
        self._present = np.concatenate([self._present, inserted])
        self._spare = np.concatenate([self._spare, deleted])
        return Change(self._relation, inserted, deleted)

    def _taken(self, rows: np.ndarray, some: int) -> tuple[np.ndarray, np.ndarray]:
        """The other rows, and some at random."""
        order = self._random.permutation(len(rows))
        return rows[order[some:]], rows[order[:some]]


def rows_of_table(table: pa.Table) -> np.ndarray:
    """Integer columns as an array of rows × columns."""
    return np.stack([np.asarray(column) for column in table.columns], axis=1)


def table_of_rows(rows: np.ndarray, names: Sequence[str]) -> pa.Table:
    """The reverse of `rows_of_table`."""
    return pa.table(
        {name: np.ascontiguousarray(rows[:, place]) for place, name in enumerate(names)}
    )


class Following:
    """A workspace with facts and rules that takes changes. `elastic` is the share of a bootstrap
    that an update may take.
    """

    def __init__(
        self,
        rules: str,
        facts: Mapping[str, pa.Table],
        elastic: float = ELASTIC,
        tuning: lftj.Tuning | None = None,
    ):
        options = {} if tuning is None else {"tuning": tuning}
        self.workspace: lftj.Workspace = connect(elastic=elastic, **options)
        self._columns = {name: table.column_names for name, table in facts.items()}
        for name, table in facts.items():
            types = {
                field.name: int if pa.types.is_integer(field.type) else str
                for field in table.schema
            }
            self.workspace.relation(name, types)
            self.workspace.load(name, table)
        self.evaluated = processor_seconds(lambda: self.workspace.add_rules(rules))

    def commit(self, changes: Sequence[Change]) -> float:
        """Commit changes together; the processor seconds from the start of the transaction to its
        end.
        """
        work = [
            (
                change.relation,
                self._data(change, change.deleted),
                self._data(change, change.inserted),
            )
            for change in changes
        ]

        def run() -> None:
            with self.workspace.transaction() as transaction:
                for relation, deleted, inserted in work:
                    transaction.delete(relation, deleted)
                    transaction.insert(relation, inserted)

        return processor_seconds(run)

    def _data(self, change: Change, rows: np.ndarray) -> object:
        return (
            [tuple(row) for row in rows.tolist()]
            if len(rows) < AS_TABLE
            else table_of_rows(rows, self._columns[change.relation])
        )

    def strategy(self) -> str:
        """Strategies that the last commit used for the recursive strata."""
        profile = self.workspace.profile(last=1)
        return " ".join(
            strategy
            for strategy, rule in zip(profile["outcome"], profile["rule"], strict=True)
            if not rule
        )

    def views(self) -> dict[str, list[list[int]]]:
        """Columns of the rows of all relations, sorted."""
        return {
            name: _sorted_columns(self.workspace[name].arrow())
            for name in sorted(self.workspace.relations)
        }


def _sorted_columns(table: pa.Table) -> list[list[int]]:
    ordered = (
        table.sort_by([(name, "ascending") for name in table.column_names])
        if table.num_columns
        else table
    )
    return [column.combine_chunks() for column in ordered.columns]


def require_same_views(what: str, one: Following, other: Following) -> None:
    """Both hold the same rows. Raises ResultsDiffer."""
    others = other.views()
    for name, columns in one.views().items():
        require_equal(f"{what}, rows of {name}", columns == others[name], True)


def verify(what: str, following: Following) -> None:
    """The views are what they are when derived from nothing. Raises ResultsDiffer."""
    require_equal(f"{what}, views that differ", following.workspace.verify(), [])


def in_turn(changes: Changes, times: int) -> Iterator[Change]:
    """Deletions of one row, each followed by the insertion of another."""
    for _ in range(times):
        yield changes.of_size(1, 0)
        yield changes.of_size(1, 1)
