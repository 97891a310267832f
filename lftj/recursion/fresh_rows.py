"""Relations as a fixpoint sees them: the rows of one round, and all rows so far."""

from __future__ import annotations

from itertools import permutations

from lftj.program.normal_form import RelationSchema
from lftj.storage.relation import Order, RelationVersion
from scantree import Arena
from scantree.tree import Words


def every_order(width: int) -> tuple[Order, ...]:
    """All key orders of so many columns; only the columns' own order when there are too many to look at."""
    return tuple(permutations(range(width))) if width <= 4 else (tuple(range(width)),)


class AnyOrder(RelationVersion):
    """A relation as if it had every key order, for choosing a plan: an order made in one round serves all later ones."""

    def __init__(self, relation: RelationVersion):
        super().__init__(relation.schema, relation.identity.arena, {})
        self._relation = relation

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._relation.count

    def orders(self) -> tuple[Order, ...]:
        """Every key order."""
        return every_order(max(1, self.schema.arity))

    def sample(self, rows: int) -> list[Words]:
        """About `rows` rows at equal distances."""
        return self._relation.sample(rows)


class FreshRows(RelationVersion):
    """Rows that are read once or twice: no key order exists until one is asked for, and then all cost the same."""

    def __init__(self, schema: RelationSchema, arena: Arena, rows: list[Words]):
        super().__init__(schema, arena, {})
        self._rows = rows

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._rows[0])

    def columns(self) -> list[Words]:
        """All rows, in no particular order."""
        return self._rows

    def orders(self) -> tuple[Order, ...]:
        """Every key order, since none has to be kept."""
        return every_order(len(self._rows))

    def sample(self, rows: int) -> list[Words]:
        """About `rows` rows at equal distances."""
        return [column[:: max(1, len(column) // rows)] for column in self._rows]
