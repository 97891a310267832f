# SPDX-License-Identifier: Apache-2.0
"""Question: a body, read and checked as if it were the body of a rule whose head has the body's
variables.

The rule goes the way of all rules, so a question may use whatever a rule may. It is added to a copy
of the program that nobody else sees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from lftj.engine.questions.parameters import Parametrised, atoms_in, is_parameter
from lftj.errors import ParseError, ProgramErrors, TypeClashError
from lftj.program.checks.by_column import by_position
from lftj.program.checks.program_checks import check
from lftj.program.normal_form import QUESTION, RelationSchema, RuleVariable, Stratum
from lftj.program.program import Program
from lftj.program.schema import Catalog
from lftj.program.scope import direct_names
from lftj.program.statistics_hints import Sizes, never
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.builder import to_tree
from lftj.syntax.conditionals import has_conditionals, is_made, without_conditionals
from lftj.syntax.parser import parse
from lftj.syntax.source import join
from lftj.types import INT

_REMEMBERED = 64  # questions, each with the relations of the whole program
_ASKED = re.compile(r"\s*\?(-\s*|\s+)(?=[^\W\d]|[!(])")
"""The mark that Prolog and notebooks write before a question; `? = x` begins with a parameter."""
_LITERALS = (tree.Atom, tree.Comparison, tree.Truth, tree.Negation, tree.Disjunction, tree.Choice)


class Question:
    """A question that was read, and may be asked of any version; see `Workspace.prepare_query`."""

    def __init__(self, question: object):
        """Read a text, a Python expression or a tree. Raises ParseError, ProgramErrors."""
        body = question_body(question)
        self.parametrised = Parametrised.of(body)
        self.shown = str(body)


@frozen(eq=False)
class Asked:
    """A question that was read and checked: its own strata, the schema of its answers, and the
    relations that it adds to the program's. `values`: the relation of its parameters, if it has
    some.
    """

    program: StratifiedProgram
    schema: RelationSchema
    fresh: Mapping[str, RelationSchema]
    question: Parametrised
    values: RelationSchema | None = None
    searches: list[Any] = field(default_factory=list)
    """Searches that nobody runs now; see `bound_search`."""


class Questions:
    """The questions in text, and prepared ones, that were asked lately of a workspace: reading and
    checking one takes longer than many an answer.
    """

    def __init__(self) -> None:
        self._known: dict[object, tuple[Program, Asked]] = {}

    def known(self, program: Program, question: object) -> Asked | None:
        """A question that was asked of this program lately."""
        found = self._known.get(question) if isinstance(question, str | Question) else None
        return found[1] if found is not None and found[0] is program else None

    def asked(self, program: Program, question: object, sizes: Sizes) -> Asked:
        """A question, read and checked for a program, and known from now on; `sizes`: see
        `Program.add`. Raises what a rule with this body would raise.
        """
        if not isinstance(question, str | Question):
            return _asked(program, Question(question).parametrised, sizes)
        read = Question(question) if isinstance(question, str) else question
        made = _asked(program, read.parametrised, sizes)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[question] = program, made
        return made


def question_body(question: object) -> tree.Body:
    """The body that a text, a Python expression or a tree stands for."""
    if isinstance(question, str):
        return _parsed(question)
    node = to_tree(question)
    if isinstance(node, _LITERALS):
        node = tree.Body((node,), span=node.span)
    if isinstance(node, tree.Body):
        return without_conditionals(tree.Rule((), node)).body if has_conditionals(node) else node
    hint = "ask for an atom or a body: reach(1, y) & (y != 3)"
    raise ParseError(f"`{node}` is not a question", code="E103", hint=hint)


def _parsed(text: str) -> tree.Body:
    text = _ASKED.sub(lambda mark: " " * len(mark[0]), text.rstrip().removesuffix("."))
    try:
        clauses = parse(text, "<query>", within=("question() :-\n", "\n.")).clauses
    except ProgramErrors:
        if _is_program(text):
            raise _not_one_body() from None
        raise
    if len(clauses) != 1 or not isinstance(clauses[0], tree.Rule):
        raise _not_one_body()
    return _placed(clauses[0].body)


def _placed(body: tree.Body) -> tree.Body:
    """Add the place of the whole body, from the first condition to the last."""
    first, last = body.literals[0].span, body.literals[-1].span
    return body if first is None or last is None else replace(body, span=join(first, last))


def _is_program(text: str) -> bool:
    """Test for text that reads as clauses though not as a body: most likely a rule with its
    head.
    """
    try:
        return bool(parse(f"{text}.").clauses)
    except ProgramErrors:
        return False


def _not_one_body() -> ParseError:
    hint = (
        "leave out the head: the variables of the body are the columns of the answer; or add "
        "rules and ask for what they derive"
    )
    return ParseError("a question is one body", code="E103", hint=hint)


def asked(
    program: Program,
    body: tree.Body,
    sizes: Sizes = never,
    values: RelationSchema | None = None,
) -> tuple[Program, RelationSchema, list[Stratum]]:
    """The program with the question as a rule, the schema of its answers, and the strata that it
    needs beside those of the program. `sizes`: see `Program.add`. `values`: the relation of its
    parameters, whose variables are no answers.
    """
    if values is not None:
        program = replace(program, catalog=program.catalog.declare(values))
    names = tuple(
        name for name in direct_names(body.literals) if not is_parameter(name) and not is_made(name)
    )
    types = {variable.name: variable.type for variable in _variables(program, body)}
    schema = RelationSchema(QUESTION, tuple((name, types[name]) for name in names))
    head = tree.Atom(QUESTION, tuple(tree.Variable(name) for name in names), span=body.span)
    program = replace(program, catalog=program.catalog.declare(schema))
    program = program.add(tree.ParsedProgram((tree.Rule((head,), body, span=body.span),)), sizes)[0]
    rules = program.sources[program.next_source - 1].normal.rules
    return program, schema, program.order.strata_of(rule.relation for rule in rules)


def values_of(catalog: Catalog, question: Parametrised) -> RelationSchema | None:
    """The relation of a question's parameters, if it has some. Where nothing tells the type of one,
    what else is wrong with the question is raised first, as it is most likely the reason.
    """
    if not question.parameters:
        return None
    try:
        return question.schema(catalog)
    except TypeClashError:
        for atom in atoms_in(question.body):
            catalog.relation(atom.relation, atom.span)
        raise


def _asked(program: Program, question: Parametrised, sizes: Sizes) -> Asked:
    rule, errors = by_position(tree.Rule((), question.body), program.catalog)
    if errors:
        raise ProgramErrors(errors)
    question = question._replace(body=rule.body)
    values = values_of(program.catalog, question)
    program, schema, own = asked(program, question.bound(), sizes, values)
    relations = program.stratified.relations
    fresh = {schema.name: schema} | {
        name: relations[name] for stratum in own for name in stratum.relations
    }
    checked = StratifiedProgram(relations, Stratification.of(own))
    return Asked(checked, schema, fresh, question, values)


def _variables(program: Program, body: tree.Body) -> tuple[RuleVariable, ...]:
    """The body's variables with the types that the checks find, seen through a head that counts
    them all.
    """
    catalog = program.catalog.declare(RelationSchema(QUESTION, (("n", INT),)))
    head = tree.Atom(QUESTION, (tree.HeadAggregate("count", ()),), span=body.span)
    return (
        check(tree.ParsedProgram((tree.Rule((head,), body, span=body.span),)), catalog)
        .rules[0]
        .variables
    )
