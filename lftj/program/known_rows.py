"""What the form of a rule may depend on beside its text: the keys of relations, and how often values repeat in the rows there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lftj.program.normal_form import RelationSchema

Repeats = Callable[[str, int], bool | None]
"""Whether a value of a relation's column has two rows or more on average; None where there are too few rows to tell."""


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


NOTHING = Known({})
