# SPDX-License-Identifier: Apache-2.0
"""Shuffle of a stratum in supersteps: the rows found by one part that it holds, and those that it
sends to others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lftj.distributed.partitioning.cuts import ALL, parts_of
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.program import RelationSchema
from lftj.storage import Columns, Delta
from lftj.types import Dictionary, Role, Source


class News(NamedTuple):
    """Rows that other parts have to hold, in these cuts, and are not known to."""

    schema: RelationSchema
    cuts: tuple[int, ...]
    rows: Delta


class Shuffle:
    """Part `number` of `parts`. `schemas`: of what supersteps collect, by relation."""

    def __init__(
        self,
        supersteps: Supersteps,
        schemas: Mapping[str, RelationSchema],
        dictionary: Dictionary,
        number: int,
        parts: int,
    ):
        self._supersteps, self._dictionary = supersteps, dictionary
        self._schemas = {
            relation: schemas[Source(relation, Role.NEWS)] for relation in supersteps.cuts
        }
        self._number, self._parts = number, parts
        self._leaving: dict[str, list[Columns]] = {}

    def out(self, relation: str, rows: Columns) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Divide rows: masks of those that this part holds, by the local name in each cut, and a
        mask of those that some other part holds.
        """
        held, leaves = dict[str, np.ndarray](), np.zeros(len(rows[0]), bool)
        for cut, local in zip(
            self._supersteps.cuts[relation], self._supersteps.local(relation), strict=True
        ):
            held[local] = self._here(relation, rows, cut)
            leaves |= self._parts > 1 if cut == ALL else ~held[local]
        for cut in self._supersteps.further.get(relation, ()):
            leaves |= self._parts > 1 if cut == ALL else ~self._here(relation, rows, cut)
        return held, leaves

    def tell(self, relation: str, rows: Columns) -> None:
        """Let others know."""
        if len(rows[0]):
            self._leaving.setdefault(relation, []).append(rows)

    def news(self) -> dict[str, News]:
        """Rows to be sent to other parts, and not yet sent, by relation in the role `NEWS`."""
        leaving, self._leaving = self._leaving, {}
        found: dict[str, News] = {}
        for relation, pieces in leaving.items():
            cuts = (*self._supersteps.cuts[relation], *self._supersteps.further.get(relation, ()))
            rows = Delta.insertion(
                [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
            )
            found[Source(relation, Role.NEWS)] = News(self._schemas[relation], cuts, rows)
        return found

    def _here(self, relation: str, rows: Columns, cut: int) -> np.ndarray:
        """Mark the rows that this part holds in a cut."""
        if cut == ALL:
            return np.ones(len(rows[0]), bool)
        types = [type for _, type in self._schemas[relation].columns]
        return parts_of(rows, types, cut, self._dictionary, self._parts) == self._number
