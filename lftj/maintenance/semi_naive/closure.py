# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum that is to be closed from nothing: what every way to do it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.rules.full_evaluation import derive
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import union
from lftj.storage.database import base_name


@frozen
class Closure:
    """The rules of a stratum over relations below it, base rows among them.

    `prepared`: the same rules as they are kept for many commits, where few rows are expected.
    `after_iteration` as in `Fixpoint.run_iterations`. `trail`: where each iteration notes the rows
    that it found; it stays empty where rows are found otherwise. `begun`: rows of iteration 0, by
    relation, where someone has them already.
    """

    schemas: Mapping[str, RelationSchema]
    rules: Sequence[NormalRule | FunctorRule]
    relations: Relations
    context: Context
    prepared: PreparedRules | None = None
    after_iteration: Callable[[int], bool] | None = None
    trail: list[Iteration] | None = None
    begun: Mapping[str, Columns] = field(default_factory=dict)

    @cached_property
    def normal(self) -> list[NormalRule]:
        """The rules that join."""
        return [rule for rule in self.rules if isinstance(rule, NormalRule)]

    @property
    def whole(self) -> bool:
        """Test that rows cannot be found partition by partition: functors, or choices."""
        return len(self.normal) < len(self.rules) or any(
            schema.choice for schema in self.schemas.values()
        )

    def first(self, name: str) -> Columns:
        """The rows of iteration 0 of a relation: its base rows, and what its rules that read
        nothing of the stratum derive; sorted.
        """
        if name in self.begun:
            return self.begun[name]
        own = self.schemas.keys()
        seeds = [rule for rule in self.normal if own.isdisjoint(rule.reads)]
        return iteration_0(self.schemas[name], seeds, self.relations, self.context)


def iteration_0(
    schema: RelationSchema, seeds: list[NormalRule], relations: Relations, context: Context
) -> Columns:
    """The base rows of a relation, and what its rules that read nothing of the stratum derive;
    sorted.
    """
    rows = derive(schema, seeds, relations, context)
    base = base_name(schema.name)
    return union(rows, relations[base].columns()) if base in relations else rows
