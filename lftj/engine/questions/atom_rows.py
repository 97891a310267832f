# SPDX-License-Identifier: Apache-2.0
"""Whole rows of a question's first atom: to delete them, or to list them."""

from __future__ import annotations

from dataclasses import replace

from lftj.engine.questions.question import question_body
from lftj.engine.versions.result import Result
from lftj.errors import ParseError, ProgramErrors
from lftj.program.checks.by_column import by_position
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen
from lftj.syntax import tree


@frozen(eq=False)
class AtomRows:
    """A question whose answers have all columns of its first atom, also those that it leaves open
    or fixes: `body` asks it, and `rows` are of `relation`.
    """

    relation: str
    body: tree.Body
    columns: tuple[str, ...]

    @staticmethod
    def of(question: str, catalog: Catalog) -> AtomRows:
        """Read a question. Raises ProgramErrors, and ParseError (E103) where no atom comes
        first.
        """
        rule = tree.Rule((tree.Atom("found", ()),), question_body(question))
        rule, errors = by_position(rule, catalog)
        if errors:
            raise ProgramErrors(errors)
        literals = rule.body.literals
        if not literals or not isinstance(literals[0], tree.Atom):
            raise ParseError(
                f"no relation comes first in `{question.strip()}`",
                code="E103",
                hint="write edge(x, y), x > 3",
            )
        terms = literals[0].terms
        prefix = "column"
        while prefix in question:  # a name that the question does not have
            prefix += "_"
        open_ = [
            term if isinstance(term, tree.Variable) else tree.Variable(f"{prefix}{place}")
            for place, term in enumerate(terms)
        ]
        fixed = [
            tree.Comparison("=", variable, term)
            for variable, term in zip(open_, terms, strict=True)
            if not isinstance(term, tree.Variable | tree.Wildcard)
        ]
        atom = replace(literals[0], args=tuple(open_))
        if atom.value is not None:  # of a function
            atom = replace(atom, args=tuple(open_[:-1]), value=open_[-1])
        return AtomRows(
            atom.relation,
            tree.Body((atom, *fixed, *literals[1:])),
            tuple(variable.name for variable in open_),
        )

    def rows(self, answers: Result) -> list[tuple[object, ...]]:
        """The distinct rows of the relation in answers to `body`."""
        places = [answers.columns.index(name) for name in self.columns]
        return list(dict.fromkeys(tuple(row[each] for each in places) for row in answers))
