# SPDX-License-Identifier: Apache-2.0
"""Columns with hubs, values that outweigh a part. Those of base relations were counted, those of
derived ones are guessed from rules.

It is a matter of balance alone: what is a hub, and where, changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lftj.distributed.partitioning.cuts import Cut, Hub
from lftj.distributed.partitioning.partition_keys import Rule
from lftj.program import FunctorRule, NormalRule, Ref, RelationSchema
from lftj.types import Type


class Hubs:
    """`counted`: by relation and column (as text, for it is in the manifest) how many rows hubs
    have and which values they are.
    """

    def __init__(
        self,
        counted: Mapping[str, Mapping[str, tuple[int, Iterable[Hub]]]],
        relations: Mapping[str, RelationSchema],
    ):
        self._rows: dict[tuple[str, int], int] = {}
        of: dict[Type, set[Hub]] = {}
        for name, columns in counted.items():
            for column, (rows, values) in columns.items():
                if name in relations:
                    self._rows[name, int(column)] = rows
                    of.setdefault(relations[name].columns[int(column)][1], set()).update(values)
        self._of = {type: tuple(sorted(values)) for type, values in of.items()}  # pyright: ignore[reportArgumentType]

    def copy(self) -> Hubs:
        """The same, to be told more."""
        copied = Hubs({}, {})
        copied._rows, copied._of = dict(self._rows), self._of
        return copied

    def of(self, type: Type) -> tuple[Hub, ...]:
        """All hubs of a type, in whichever column: what joins has to be cut alike."""
        return self._of.get(type, ())

    def has(self, relation: str, column: Cut) -> bool:
        """Test for a column with hubs."""
        return (relation, column) in self._rows

    def rows(self, relation: str, column: int) -> int:
        """The rows of hubs in a column of a base relation, to two digits; 0 where it has none, or
        nobody counted.
        """
        return self._rows.get((relation, column), 0)

    def heavy(self, rule: NormalRule, lead: Any) -> bool:
        """Test for a leading variable whose single values may take more work than a part should."""
        return isinstance(lead, int) and any(
            argument == Ref(lead) and self.has(atom.relation, column)
            for atom in rule.atoms
            for column, argument in enumerate(atom.args)
        )

    def follow(self, rule: Rule, schema: RelationSchema) -> None:
        """Head columns have the hubs of their variables, unless a value of theirs has one row."""
        if not self._rows or isinstance(rule, FunctorRule):
            return
        group = {
            place: term.variable for place, term in enumerate(rule.head) if isinstance(term, Ref)
        }
        single = schema.key or (tuple(group) if rule.aggregates else ())
        for place, variable in group.items():
            if single != (place,) and self.heavy(rule, variable):
                self._rows.setdefault((rule.relation, place), 0)
