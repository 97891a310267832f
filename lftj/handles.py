"""What declarations and `add_rule` give back: names to use in rules, and tickets to remove rules with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lftj.errors import UnknownNameError
from lftj.program.normal_form import RelationSchema
from lftj.program.schema import describe
from lftj.syntax import tree
from lftj.syntax.builder import Predicate
from lftj.types import Type


class Relation(Predicate):
    """A declared relation: call it in rules, `acct(x, "FR")` or `F[x] == y`, and pass it wherever a relation's name may stand.

    Attributes: `name`, `columns` (names), `types`, `key` (column names, or None).
    """

    def __init__(self, schema: RelationSchema):
        """For the workspace; declare with `ws.relation`, `ws.view` or `ws.function`."""
        super().__init__(schema.name, schema.arity, schema.functional, [name for name, _ in schema.columns])
        self.schema = schema

    @property
    def types(self) -> tuple[Type, ...]:
        """The columns' types."""
        return tuple(type for _, type in self.schema.columns)

    @property
    def key(self) -> tuple[str, ...] | None:
        """Names of the key columns, or None."""
        return None if self.schema.key is None else tuple(self.schema.columns[i][0] for i in self.schema.key)

    def __repr__(self) -> str:
        return f"<Relation {describe(self.schema)}>"


@dataclass(frozen=True, eq=False)
class RuleHandle:
    """A rule in a workspace, to remove it by; `str()` gives its text. For facts: the facts of one relation in one program text.

    Two handles are equal when they stand for the same added rule; adding one rule twice gives two handles and each must be removed.
    """

    source: int | None
    rule: tree.Rule | None
    facts: tuple[str, tuple[np.ndarray, ...]] | None = None

    def __eq__(self, other: object) -> bool:
        if self.source is None or not isinstance(other, RuleHandle):
            return self is other
        return self.source == other.source

    def __hash__(self) -> int:
        return object.__hash__(self) if self.source is None else hash(self.source)

    def __str__(self) -> str:
        if self.facts is None:
            return str(self.rule)
        name, columns = self.facts
        count = len(columns[0])
        return f"{count} fact{'s' if count != 1 else ''} of {name}"

    def __repr__(self) -> str:
        return f"<RuleHandle {self}>"


def handles_of(rules: RuleHandle | Iterable[object]) -> list[RuleHandle]:
    """One handle, or several. Raises UnknownNameError (E114) for anything else, such as a rule's text."""
    several = [rules] if isinstance(rules, RuleHandle | str) or not hasattr(rules, "__iter__") else rules
    found: list[RuleHandle] = []
    for rule in several:
        if not isinstance(rule, RuleHandle):
            hint = "pass a handle from add_rule(…) or from ws.rules"
            raise UnknownNameError(f"{rule!r} is not the handle of a rule", code="E114", hint=hint)
        found.append(rule)
    return found
