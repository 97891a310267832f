# SPDX-License-Identifier: Apache-2.0
"""Facts in program text, and defaults of columns: rows of Python values, checked cell by cell, at
about a microsecond a cell.
"""

from __future__ import annotations

from lftj.errors import LftjError, Span, UnsafeRuleError
from lftj.functions import FUNCTORS
from lftj.program.checked import Row
from lftj.program.checks.elaborate import Elaborator
from lftj.program.checks.inference import Inference
from lftj.program.normal_form import RelationSchema, Value
from lftj.program.schema import Catalog
from lftj.program.scope import term_aggregates, term_names
from lftj.syntax import tree
from lftj.types import INT64_MAX, INT64_MIN

_CLASSES = {"int": int, "str": str, "bool": bool}
"""Types whose constants need no conversion."""


class FactReader:
    """Collects the rows of facts in `rows`, by relation, in the order of the text; `places` has
    each relation's first fact.
    """

    def __init__(self, catalog: Catalog):
        self.rows: dict[str, list[Row]] = {}
        self.places: dict[str, Span | None] = {}
        self._catalog = catalog
        self._classes: dict[str, tuple[tuple[type | None, ...], list[int], RelationSchema]] = {}

    def read(self, fact: tree.Rule) -> list[LftjError]:
        """Add the rows of one fact; returns the problems with it, none as a rule."""
        errors: list[LftjError] = []
        for head in fact.heads:
            row = self._plain_row(head)
            if row is None:
                row, problems = self._row(head, fact)
                errors += problems
            if row is not None:
                if head.relation not in self.rows:
                    self.rows[head.relation], self.places[head.relation] = [], head.span
                self.rows[head.relation].append(row)
        return errors

    def _plain_row(self, head: tree.Atom) -> Row | None:
        """The row of a fact whose constants are of their columns' types as they stand; None when it
        takes a closer look.
        """
        if head.relation not in self._classes:
            if (schema := self._catalog.relations.get(head.relation)) is None:
                return None
            unsigned = [place for place, (_, type) in enumerate(schema.columns) if type.unsigned]
            self._classes[head.relation] = (
                tuple(_CLASSES.get(type.name) for _, type in schema.columns),
                unsigned,
                schema,
            )
        classes, unsigned, schema = self._classes[head.relation]
        terms = head.terms
        if len(terms) != len(classes) or (head.value is not None) is not schema.functional:
            return None
        row: list[object] = []
        for term, expected in zip(terms, classes, strict=True):
            if not isinstance(term, tree.Constant) or type(value := term.value) is not expected:
                return None
            if expected is int and not INT64_MIN <= value <= INT64_MAX:  # type: ignore[operator]
                return None
            row.append(value)
        return None if any(row[place] < 0 for place in unsigned) else tuple(row)  # type: ignore[operator]

    def _row(self, head: tree.Atom, fact: tree.Rule) -> tuple[Row | None, list[LftjError]]:
        """The row of a fact with expressions, conversions or problems."""
        errors: list[LftjError] = []
        for name, variable in {
            name: each for term in head.terms for name, each in term_names(term).items()
        }.items():
            hint = (
                f'write "{name}" in quotes for a string, or give the rule a body that binds '
                f"`{name}`"
            )
            message = f"variable `{name}` in a fact of `{head.relation}`: facts have constants only"
            errors.append(
                UnsafeRuleError(message, code="E145", span=variable.span or head.span, hint=hint)
            )
        elaborator = Elaborator(
            Inference(tree.Rule((), tree.Body(())), self._catalog), self._catalog
        )
        checked = elaborator.head(head)
        errors += elaborator.errors
        if any(isinstance(term, tree.HeadAggregate) for term in head.terms) and not errors:
            hint = (
                f"give the rule a body whose assignments are aggregated; of a single one: "
                f"{head} :- true."
            )
            errors.append(
                UnsafeRuleError(
                    f"an aggregate in a fact of `{head.relation}`",
                    code="E145",
                    span=head.span,
                    hint=hint,
                )
            )
        for error in errors:
            error.span = error.span or head.span or fact.span
        if errors or checked is None:
            return None, errors
        return tuple(arg.value for arg in checked.args if isinstance(arg, Value)), []


def is_fact(rule: tree.Rule) -> bool:
    """Test for a clause that is read as rows, not as a rule."""
    return rule.is_fact and not any(
        term_aggregates(term) or _has_many_values(term)
        for head in rule.heads
        for term in head.terms
    )


def _has_many_values(term: tree.Term) -> bool:
    if not isinstance(term, tree.Call):
        return False
    known = FUNCTORS.get(term.functor)
    return (known is not None and known.many) or any(map(_has_many_values, term.args))
