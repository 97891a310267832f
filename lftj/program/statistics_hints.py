"""What the form of a rule may depend on beside its text: the keys of relations, and how often
values repeat in the rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lftj.program.bindings import Variables, of_expressions
from lftj.program.checked import CheckedAtom
from lftj.program.normal_form import RelationSchema

Repeats = Callable[[str, int], bool | None]
"""Whether a value of a relation's column has two rows or more on average; None where there are too
few rows to tell.
"""


def never(relation: str, column: int) -> bool:
    """Nothing is known of the rows: no aggregate is drawn in."""
    return False


class Asking:
    """Passes questions on. `unsure`: relations that had too few rows to tell."""

    def __init__(self, repeats: Repeats):
        self._repeats = repeats
        self.unsure: set[str] = set()

    def __call__(self, relation: str, column: int) -> bool | None:
        """See `Repeats`."""
        found = self._repeats(relation, column)
        if found is None:
            self.unsure.add(relation)
        return found


class Known(NamedTuple):
    """What is known of relations: the `schemas` of users' ones, and their rows."""

    schemas: Mapping[str, RelationSchema]
    repeats: Repeats = never

    def chooses(self, relation: str) -> bool:
        """Whether a relation has a choice domain."""
        return relation in self.schemas and bool(self.schemas[relation].choice)

    def keyed(self, atom: CheckedAtom, variables: Variables) -> bool:
        """Whether no two rows of an atom have the same values of these variables and the same
        constants.
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
