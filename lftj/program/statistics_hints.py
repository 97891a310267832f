"""Statistics that the form of a rule may depend on: the keys of relations, and how often values
repeat in the existing rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple

from lftj.program.bindings import Variables, of_expressions
from lftj.program.checked import CheckedAtom
from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen

Repeats = Callable[[str, int], bool | None]
"""Function that tells if a value of a relation's column has two rows or more on average; None where
there are too few rows.
"""


def never(relation: str, column: int) -> bool:
    """Answer for rows of which nothing is known: no aggregate is drawn in."""
    return False


@frozen(slots=True)
class Answers:
    """Answers about rows that were given before, by relation and column: `Repeats` as it was."""

    given: Mapping[tuple[str, int], bool | None] = field(default_factory=dict)

    def __call__(self, relation: str, column: int) -> bool | None:
        """The answer that was given before; False for what nobody asked."""
        return self.given.get((relation, column), False)

    @property
    def unsure(self) -> frozenset[str]:
        """The relations that had too few rows to tell."""
        return frozenset(name for (name, _), answer in self.given.items() if answer is None)


class Asking:
    """Passes questions on, and remembers the answers."""

    def __init__(self, repeats: Repeats):
        self._repeats = repeats
        self._answers: dict[tuple[str, int], bool | None] = {}
        self.answers = Answers(self._answers)
        """All that were given so far."""

    def __call__(self, relation: str, column: int) -> bool | None:
        """See `Repeats`."""
        return self._answers.setdefault((relation, column), self._repeats(relation, column))


class Known(NamedTuple):
    """Known facts about relations: the `schemas` of users' ones, and their rows."""

    schemas: Mapping[str, RelationSchema]
    repeats: Repeats = never

    def chooses(self, relation: str) -> bool:
        """Test for a relation with a choice domain."""
        return relation in self.schemas and bool(self.schemas[relation].choice)

    def keyed(self, atom: CheckedAtom, variables: Variables) -> bool:
        """Test for an atom of which no two rows have the same values of these variables and the
        same constants.
        """
        schema = self.schemas.get(atom.relation)
        keys = (
            ()
            if schema is None
            else schema.choice
            if schema.key is None
            else (*schema.choice, schema.key)
        )
        return any(of_expressions(atom.args[column] for column in key) <= variables for key in keys)


NOTHING = Known({})
