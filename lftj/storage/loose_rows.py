"""Rows that are read once or twice and then gone: those of a change, or of one round of a fixpoint."""

from __future__ import annotations

from itertools import permutations

from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Columns
from lftj.storage.relation import Order, RelationVersion
from scantree import Arena

_PERMUTED = 4  # up to this width every key order is offered


class LooseRows(RelationVersion):
    """Distinct rows in any order, without a key order until one is asked for; so all key orders cost the same."""

    __slots__ = ("_rows",)

    def __init__(self, schema: RelationSchema, arena: Arena, rows: Columns):
        super().__init__(schema, arena, {})
        self._rows = rows

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._rows[0])

    def columns(self) -> Columns:
        """All rows, in no particular order."""
        return self._rows

    def orders(self) -> tuple[Order, ...]:
        """Every key order, since none has to be kept."""
        width = len(self._rows)
        return tuple(permutations(range(width))) if width <= _PERMUTED else (tuple(range(width)),)

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        return [column[:: max(1, len(column) // rows)] for column in self._rows]
