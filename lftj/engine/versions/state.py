# SPDX-License-Identifier: Apache-2.0
"""State that a commit publishes: the program and the data of one version, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from lftj.errors import UnknownNameError
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.scantree.frozen import frozen
from lftj.storage.database import Database, base_name
from lftj.storage.relation import RelationVersion
from lftj.syntax.builder import Predicate
from lftj.views.states import ViewStates


def name_of(relation: str | Predicate) -> str:
    """The name of a relation given by name or by handle."""
    if isinstance(relation, str):
        return relation
    if isinstance(relation, Predicate):
        return relation.name
    hint = 'pass what ws.relation(…) returned, or the name: "acct"'
    raise UnknownNameError(
        f"expected a relation or its name, found {relation!r} ({type(relation).__name__})",
        hint=hint,
    )


@frozen
class State:
    """One committed version. Immutable, so whoever holds it reads a consistent snapshot for as long
    as it likes.

    `views` are the relations declared by `ws.view`, which take no rows of their own; `aggregates`
    are the user-defined ones. `view_states` is what views are maintained with, by relation.
    """

    program: Program
    database: Database
    views: frozenset[str] = field(default_factory=frozenset)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
    view_states: ViewStates = field(default_factory=ViewStates)

    @cached_property
    def version(self) -> int:
        """Number of the last commit that changed rows or rules."""
        return self.database.version

    def schema(self, relation: str | Predicate) -> RelationSchema:
        """The schema of a relation of the user's. Raises UnknownNameError with the nearest known
        name.
        """
        return self.program.catalog.relation(name_of(relation))

    def relation(self, relation: str | Predicate) -> RelationVersion:
        """The rows of a relation, base and derived."""
        return self.database[self.schema(relation).name]

    def base(self, name: str) -> RelationVersion:
        """The rows of a relation that are not derived."""
        return self.database[base_name(name) if base_name(name) in self.database else name]
