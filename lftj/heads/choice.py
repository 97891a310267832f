# SPDX-License-Identifier: Apache-2.0
"""Choice [Choice]: of the candidates of an iteration, those are accepted that share no value of a
domain with a row accepted before.

A relation with choice domains D₁, …, Dₖ holds at most one row for each value of each Dᵢ. Its
meaning is the inflationary fixpoint of Γᶜ(I) = I ∪ c(e(new rows)). Here c is a function: candidates
are taken in ascending order of their *values*, strings by code point, so what is accepted depends
on the candidates of each iteration alone, never on history, threads, or the order of rows and
rules. What was rejected once clashes with something accepted, for good: later iterations look at
new candidates only.
"""

from __future__ import annotations

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.scantree.place_sort import places_in_order
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Columns
from lftj.types import NULL_CODE
from lftj.types.dictionary import Dictionary


class Chooser:
    """Accepted values of one relation's choice domains."""

    def __init__(self, schema: RelationSchema, dictionary: Dictionary):
        self._schema = schema
        self._dictionary = dictionary
        self._taken: list[set[object]] = [set() for _ in schema.choice]

    def accepted(self, candidates: Columns) -> Columns:
        """Accept those candidates (distinct, in any order) that meet no accepted one; return them
        sorted by codes. O(n log n) for n candidates.
        """
        order = value_order(candidates, self._schema, self._dictionary)
        domains = [
            _values([candidates[column][order] for column in domain], len(order))
            for domain in self._schema.choice
        ]
        chosen = [
            place for place, values in enumerate(zip(*domains, strict=True)) if self._take(values)
        ]
        rows = order[np.array(chosen, np.int64)]
        return sort_rows([column[rows] for column in candidates])

    def _take(self, values: tuple[object, ...]) -> bool:
        """Accept a row with these values of the domains, unless one is taken."""
        for value, taken in zip(values, self._taken, strict=True):
            if value in taken:
                return False
        for value, taken in zip(values, self._taken, strict=True):
            taken.add(value)
        return True


def _values(columns: Columns, rows: int) -> list[object]:
    """One value per row for a domain of these columns; codes equal where values do."""
    listed = [column.tolist() for column in columns]
    return (
        listed[0]
        if len(listed) == 1
        else list(zip(*listed, strict=True))
        if listed
        else [()] * rows
    )


def value_order(columns: Columns, schema: RelationSchema, dictionary: Dictionary) -> np.ndarray:
    """The places of the rows in ascending order of their values. O(n · bits of a row)."""
    keys = [
        _ranked(column, dictionary) if type.name == "str" else column
        for column, (_, type) in zip(columns, schema.columns, strict=True)
    ]
    return places_in_order(keys)


def _ranked(codes: np.ndarray, dictionary: Dictionary) -> np.ndarray:
    """Numbers that order as the strings of these codes do: codes follow arrival."""
    (distinct,) = sort_rows([codes])
    absent = int(bool(len(distinct)) and distinct[0] == NULL_CODE)
    ranks = dictionary.ranks(distinct[absent:])
    return np.concatenate([np.full(absent, len(ranks)), ranks])[np.searchsorted(distinct, codes)]


def choose(schema: RelationSchema, candidates: Columns, dictionary: Dictionary) -> Columns:
    """The rows of a relation that does not depend on itself: all candidates are of one iteration.
    Sorted by codes.
    """
    return Chooser(schema, dictionary).accepted(candidates)
