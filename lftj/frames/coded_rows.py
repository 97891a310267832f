# SPDX-License-Identifier: Apache-2.0
"""Rows that are codes already: what a workspace gave comes back to it, or to another one, without
becoming Python values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from lftj.frames.arrow_columns import code_arrow
from lftj.frames.frame import CodedColumn, Place, Target
from lftj.frames.out import decode_column, to_values
from lftj.frames.python_columns import code_values
from lftj.scantree.frozen import frozen
from lftj.types import NULL_CODE, Type
from lftj.types.texts import Texts


class CodedRows(ABC):
    """A set of rows whose columns are codes: a result. `len` is their number."""

    types: Sequence[Type]

    @property
    def _column_names(self) -> Sequence[str] | None:
        """The names of the columns of a relation; None for those of a query, which its variables
        name.
        """
        return None

    @abstractmethod
    def _coded(self) -> tuple[Sequence[np.ndarray], Texts]:
        """One array of codes per column, which nobody writes to, and their strings."""

    @abstractmethod
    def __len__(self) -> int: ...


@frozen
class CodedCarrier:
    """Coded rows. Those of a query go by position, like tuples: its variables name the columns.
    Those of a relation go by name where a name is one of the relation that they go to.
    """

    source: CodedRows
    place: Place = field(default_factory=lambda: Place("the result"))
    names: None = None
    first: int = 0
    end: int | None = None
    """The rows [first, end) are read, by default all."""

    def names_for(self, wanted: Sequence[str], *, asked: bool) -> Sequence[str] | None:
        """The names by which columns are found; None where they go by position. `asked`: the caller
        says which goes where.
        """
        names = self.source._column_names
        return names if names and (asked or not {*names}.isdisjoint(wanted)) else None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.source.types)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(range(len(self.source))[self.first : self.end])

    def part(self, first: int, end: int) -> CodedCarrier:
        """See `Carrier.part`."""
        return CodedCarrier(self.source, self.place, first=first, end=end)

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`. One copy where types agree; only strings whose codes mean something
        else there are looked up.
        """
        columns, texts = self.source._coded()
        codes, type = columns[position][self.first : self.end], self.source.types[position]
        missing = codes == NULL_CODE if type.optional else None
        if type.required != target.type.required:
            return code_values(to_values(type, codes, texts), target)
        if type.name != "str" or texts.meaning is target.dictionary.meaning:
            return CodedColumn(np.array(codes), missing)
        return code_arrow(decode_column(type, codes, texts), target)
