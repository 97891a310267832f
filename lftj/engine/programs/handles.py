# SPDX-License-Identifier: Apache-2.0
"""Handles that declarations and `add_rule` return: names to use in rules, and tickets to remove
rules with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lftj.errors import UnknownNameError
from lftj.program.checked import Row
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import describe
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.builder import Predicate
from lftj.types import Type


class Relation(Predicate):
    """A declared relation: call it in rules, `acct(x, "FR")` or `F[x] == y`, and pass it in place
    of a relation's name.

    Attributes: `name`, `columns` (names), `types`, `key` (column names, or None), `default` (by
    column).
    """

    def __init__(self, schema: RelationSchema):
        """For the workspace; declare with `ws.relation`, `ws.view` or `ws.function`."""
        super().__init__(
            schema.name, schema.arity, schema.functional, [name for name, _ in schema.columns]
        )
        self.schema = schema

    @property
    def types(self) -> tuple[Type, ...]:
        """The columns' types."""
        return tuple(type for _, type in self.schema.columns)

    @property
    def key(self) -> tuple[str, ...] | None:
        """Names of the key columns, or None."""
        return (
            None
            if self.schema.key is None
            else tuple(self.schema.columns[i][0] for i in self.schema.key)
        )

    @property
    def default(self) -> dict[str, object]:
        """Values that rows by name have in columns that they leave out."""
        return dict(self.schema.defaults)

    def __repr__(self) -> str:
        return f"<Relation {describe(self.schema)}>"


@frozen(guarded=True, eq=False)
class RuleHandle:
    """A rule in a workspace, to remove it by; `str()` gives its text. For facts: the facts of one
    relation in one program text.

    Two handles are equal when they are of the same added rule; adding one rule twice gives two
    handles and each must be removed.
    """

    source: int | None
    rule: tree.Rule | None
    facts: tuple[str, tuple[Row, ...]] | None = None

    def __eq__(self, other: object) -> bool:
        if self.source is None or not isinstance(other, RuleHandle):
            return self is other
        return self.source == other.source and self.rule == other.rule

    def __hash__(self) -> int:
        return object.__hash__(self) if self.source is None else hash(self.source)

    def __str__(self) -> str:
        if self.facts is None:
            return str(self.rule)
        name, rows = self.facts
        count = len(rows)
        return f"{count} fact{'s' if count != 1 else ''} of {name}"

    def __repr__(self) -> str:
        return f"<RuleHandle {self}>"


def without(program: Program, handle: RuleHandle) -> Program:
    """The program without the rule of a handle; the rows of facts are the caller's. Raises
    UnknownNameError (E114).
    """
    if handle.facts is not None:
        # the relation may get an aggregate rule again, as far as this text is concerned; the commit
        # looks at the rows themselves
        program.catalog.relation(handle.facts[0])
        catalog = replace(
            program.catalog, fact_relations=program.catalog.fact_relations - {handle.facts[0]}
        )
        return replace(program, catalog=catalog)
    return program.remove(number_of(handle, program))


def number_of(handle: RuleHandle, program: Program) -> int:
    """The number of a handle's rule in a program. Raises UnknownNameError (E114) where it is not
    the rule that has this number.

    Numbers begin anew in each workspace, and are given again after a rollback.
    """
    source = handle.source
    if (
        source is None
        or (known := program.sources.get(source)) is None
        or known.rule != handle.rule
    ):
        hint = (
            "it was removed or rolled back, or belongs to another workspace; ws.rules lists "
            "what there is"
        )
        raise UnknownNameError(f"no such rule: {handle}", code="E114", hint=hint)
    return source


def handles_of(rules: RuleHandle | Iterable[object]) -> list[RuleHandle]:
    """One handle, or several. Raises UnknownNameError (E114) for anything else, such as a rule's
    text.
    """
    several = (
        [rules] if isinstance(rules, RuleHandle | str) or not hasattr(rules, "__iter__") else rules
    )
    found: list[RuleHandle] = []
    for rule in several:
        if not isinstance(rule, RuleHandle):
            hint = "pass a handle from add_rule(…) or from ws.rules"
            raise UnknownNameError(f"{rule!r} is not the handle of a rule", code="E114", hint=hint)
        found.append(rule)
    return found
