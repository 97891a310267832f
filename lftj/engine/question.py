"""Question: a body, read and checked as if it were the body of a rule whose head has the body's
variables.

The rule goes the way of all rules, so a question may use whatever a rule may. It is added to a copy
of the program that nobody else sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from lftj.errors import ParseError, ProgramErrors
from lftj.program.checks.program_checks import check
from lftj.program.normal_form import QUESTION, RelationSchema, RuleVariable, Stratum
from lftj.program.program import Program
from lftj.program.scope import direct_names
from lftj.program.statistics_hints import Repeats, never
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.syntax import tree
from lftj.syntax.builder import to_tree
from lftj.syntax.parser import parse
from lftj.syntax.source import join
from lftj.types import INT

_REMEMBERED = 64  # questions, each with the relations of the whole program
_LITERALS = (tree.Atom, tree.Comparison, tree.Truth, tree.Negation, tree.Disjunction, tree.Choice)


class Asked(NamedTuple):
    """A question that was read and checked: its own strata, the schema of its answers, and the
    relations that it adds to the program's.
    """

    program: StratifiedProgram
    schema: RelationSchema
    fresh: Mapping[str, RelationSchema]


class Questions:
    """The questions in text that were asked lately of a workspace: reading and checking one takes
    longer than many an answer.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Program, Asked]] = {}

    def asked(self, program: Program, question: object, repeats: Repeats) -> Asked:
        """A question, asked of a program; `repeats`: see `Program.add`. Raises what a rule with
        this body would raise.
        """
        if not isinstance(question, str):
            return _asked(program, question_body(question), repeats)
        known = self._known.get(question)
        if known is None or known[0] is not program:
            known = program, _asked(program, question_body(question), repeats)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[question] = known
        return known[1]


def question_body(question: object) -> tree.Body:
    """The body that a text, a Python expression or a tree stands for."""
    if isinstance(question, str):
        return _parsed(question)
    node = to_tree(question)
    if isinstance(node, tree.Body):
        return node
    if isinstance(node, _LITERALS):
        return tree.Body((node,), span=node.span)
    hint = "ask for an atom or a body: reach(1, y) & (y != 3)"
    raise ParseError(f"`{node}` is not a question", code="E103", hint=hint)


def _parsed(text: str) -> tree.Body:
    text = text.rstrip().removesuffix(".")
    try:
        clauses = parse(text, "<query>", within=("question() :-\n", ".")).clauses
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
    program: Program, body: tree.Body, repeats: Repeats = never
) -> tuple[Program, RelationSchema, list[Stratum]]:
    """The program with the question as a rule, the schema of its answers, and the strata that it
    needs beside those of the program. `repeats`: see `Program.add`.
    """
    names = tuple(direct_names(body.literals))
    types = {variable.name: variable.type for variable in _variables(program, body)}
    schema = RelationSchema(QUESTION, tuple((name, types[name]) for name in names))
    head = tree.Atom(QUESTION, tuple(tree.Variable(name) for name in names), span=body.span)
    program = replace(program, catalog=program.catalog.declare(schema))
    program = program.add(tree.ParsedProgram((tree.Rule((head,), body, span=body.span),)), repeats)[
        0
    ]
    rules = program.sources[program.next_source - 1].normal.rules
    return program, schema, program.order.strata_of(rule.relation for rule in rules)


def _asked(program: Program, body: tree.Body, repeats: Repeats) -> Asked:
    program, schema, own = asked(program, body, repeats)
    relations = program.stratified.relations
    fresh = {schema.name: schema} | {
        name: relations[name] for stratum in own for name in stratum.relations
    }
    return Asked(StratifiedProgram(relations, Stratification.of(own)), schema, fresh)


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
