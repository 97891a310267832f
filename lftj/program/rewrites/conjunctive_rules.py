# SPDX-License-Identifier: Apache-2.0
"""Plain conjunctions as normal rules: equal variables become one, each equation says which variable
is computed from which others, and what is left is numbered.

Here a definition comes to its end. A hidden relation gets its name, or that of another one with
equal rules; one without rules is empty, and bodies that read it are false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from lftj.errors import DeclarationError, Span
from lftj.program.bindings import Variables, definitions, of_expressions
from lftj.program.checked import (
    Block,
    CheckedAtom,
    CheckedDisjunction,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.hidden import explain_hidden, only_input
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Assignment,
    Expression,
    Filter,
    FunctorRule,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import FALSE, Body, Definition, HeadTerm, RuleProgram
from lftj.program.schema import MOST_COLUMNS
from lftj.types import Type
from lftj.types.sources import HiddenName

Kind = TypeVar("Kind", bound=Expression)
"""Ref, Value or Apply: what comes in goes out."""


def conjunctive_rules(program: RuleProgram) -> RuleProgram:
    """The definition that was opened last as normal rules, where its bodies are plain."""
    definition = program.finished
    if definition is None:
        return program
    draft = program.copy()
    draft.open.pop()
    if definition.asked_by and _resolved(draft, definition.asked_by) != definition.asked_by:
        draft.names[definition.relation] = _asking(definition, draft)
        return draft
    rules = dict.fromkeys(_rules(definition, draft))
    if not definition.kind:
        draft.rules += [rule for rule in rules if rule not in draft.rules]
    elif rules:
        draft.names[definition.relation] = _name(definition, list(rules), draft)
    else:
        draft.names[definition.relation] = None
        draft.body = _without(draft.body, definition.relation)
        draft.open = [_reading_nothing_of(each, definition.relation) for each in draft.open]
    return draft


def _rules(definition: Definition, draft: RuleProgram) -> list[NormalRule | FunctorRule]:
    if definition.functor is not None:
        return [replace(definition.functor, domain=_resolved(draft, definition.functor.domain))]
    relation = "" if definition.kind else definition.relation
    return [
        RuleMaker(conjunct, draft.variables, lambda name: _resolved(draft, name)).make(
            draft.source, relation, definition.head, draft.span
        )
        for conjunct in definition.finished
    ]


def _resolved(draft: RuleProgram, relation: str) -> str:
    """A relation that is read, by its name where that is a placeholder."""
    return draft.names.get(relation) or relation


def _name(
    definition: Definition, rules: Sequence[NormalRule | FunctorRule], draft: RuleProgram
) -> str:
    """The name of the hidden relation with rules like these. Raises DeclarationError (E168)."""
    known = (definition.kind, definition.choice, *map(_nameless, rules))
    if known not in draft.known_rules:
        name = _new_name(definition.kind, draft)
        columns = _columns(rules[0])
        if len(columns) > MOST_COLUMNS:
            raise _too_wide(name, len(columns), draft.span)
        draft.known_rules[known] = name
        draft.schemas.append(RelationSchema(name, columns, choice=definition.choice))
        draft.hidden_rules += [replace(rule, relation=name) for rule in rules]
    return draft.known_rules[known]


def _nameless(rule: NormalRule | FunctorRule) -> object:
    if isinstance(rule, FunctorRule):
        return rule
    return replace(rule, variables=()), *[each.type for each in rule.variables]


def _asking(definition: Definition, draft: RuleProgram) -> str:
    """The name of the hidden relation without rules that holds the rows of another hidden one."""
    domain = _resolved(draft, definition.asked_by)
    known = (definition.kind, domain)
    if known not in draft.known_rules:
        draft.known_rules[known] = name = _new_name(definition.kind, draft)
        schema = next(each for each in draft.schemas if each.name == domain)
        draft.schemas.append(RelationSchema(name, schema.columns, asked_by=domain))
    return draft.known_rules[known]


def _new_name(kind: str, draft: RuleProgram) -> str:
    while True:
        draft.counts[kind] = draft.counts.get(kind, 0) + 1
        name = HiddenName(draft.source, kind, draft.counts[kind])
        if name not in draft.taken:
            return name


def _columns(rule: NormalRule | FunctorRule) -> tuple[tuple[str, Type], ...]:
    if isinstance(rule, NormalRule):
        return tuple(_column(place, term, rule) for place, term in enumerate(rule.head))
    types = (*rule.types, rule.result) if rule.result is not None else rule.types
    return tuple((f"_{number}", type) for number, type in enumerate(types))


def _column(place: int, term: Ref | AggregateTerm, rule: NormalRule) -> tuple[str, Type]:
    """Name and type of the column that a head term fills: its variable's name where that is the
    user's and new, else its place.
    """
    if isinstance(term, AggregateTerm):
        return f"_{place}", term.type
    variable = rule.variables[term.variable]
    repeated = term in rule.head[:place] or variable.is_made
    return f"_{place}" if repeated else variable.name, variable.type


def _too_wide(name: str, columns: int, span: Span | None) -> DeclarationError:
    what = "what a functor or an aggregate is given" if only_input(name) else explain_hidden(name)
    message = (
        f"{what} takes {columns} values from the rest of its rule; {MOST_COLUMNS} is the most "
        f"there may be"
    )
    hint = "derive what it needs in a rule of its own, with a head of fewer variables"
    return DeclarationError(message, code="E168", span=span, hint=hint)


# ── hidden relations without rules ────────────────────────────────────────────────────────────────
def _reading_nothing_of(definition: Definition, relation: str) -> Definition:
    waiting = tuple(
        Body(_without(body.pending, relation), body.conjunct) for body in definition.waiting
    )
    return replace(definition, waiting=waiting)


def _without(literals: Sequence[CheckedLiteral], relation: str) -> tuple[CheckedLiteral, ...]:
    """The literals, of which none reads a relation that is empty."""
    return tuple(_emptied(literal, relation) for literal in literals)


def _emptied(literal: CheckedLiteral, relation: str) -> CheckedLiteral:
    match literal:
        case CheckedAtom(relation=name) if name == relation:
            return FALSE
        case CheckedNegation(block=Block(literals=(CheckedAtom(relation=name),))) if (
            name == relation
        ):
            return CheckedNegation(Block((FALSE,)))
        case CheckedDisjunction(branches=branches):
            made = [replace(each, literals=_without(each.literals, relation)) for each in branches]
            return CheckedDisjunction(tuple(each for each in made if FALSE not in each.literals))
    return literal


# ── normal rules ──────────────────────────────────────────────────────────────────────────────────
class RuleMaker:
    """Makes one normal rule out of a conjunction: merges equal variables, orients equations,
    numbers what is left.
    """

    def __init__(
        self,
        conjunct: Conjunct,
        variables: Sequence[RuleVariable],
        named: Callable[[str], str],
    ):
        """`named`: the names of relations that the conjunction reads."""
        self._variables = list(variables)
        self._named = named
        self._same: dict[int, int] = {}
        self._conjunct = conjunct
        self._numbers: dict[int, int] = {}
        for literal in conjunct.positive:
            if (
                isinstance(literal, Filter)
                and isinstance(literal.left, Ref)
                and isinstance(literal.right, Ref)
            ):
                self._merge(literal.left.variable, literal.right.variable)

    def make(
        self, source: int, relation: str, head: Sequence[HeadTerm], span: Span | None
    ) -> NormalRule:
        """The rule `relation(head) :- conjunct`. O(size), but for many equations of bound
        variables, which is quadratic in these.
        """
        atoms = [each for each in self._conjunct.positive if isinstance(each, CheckedAtom)]
        equations = [each for each in self._conjunct.positive if isinstance(each, Filter)]
        self._equations = [each for each in map(self._filter, equations) if each.left != each.right]
        terms = tuple(self._head_term(term) for term in head)
        positive = dict.fromkeys(
            PositiveAtom(self._named(each.relation), tuple(map(self._argument, each.args)))
            for each in atoms
        )
        negated = dict.fromkeys(self._negated(each) for each in self._conjunct.negated)
        assignments, tests = orient(
            self._equations, of_expressions(arg for atom in positive for arg in atom.args)
        )
        filters = dict.fromkeys([*map(self._filter, self._conjunct.filters), *tests])
        return self._numbered(
            NormalRule(
                source,
                relation,
                terms,
                (),
                tuple(positive),
                tuple(negated),
                tuple(assignments),
                tuple(filters),
                span,
            )
        )

    # ── equal variables ───────────────────────────────────────────────────────────────────────────
    def _root(self, variable: int) -> int:
        while variable in self._same:
            variable = self._same[variable]
        return variable

    def _merge(self, left: int, right: int) -> None:
        """Keep the one the user named, or else the first."""
        left, right = self._root(left), self._root(right)
        if left == right:
            return
        kept, gone = (right, left) if self._variables[left].is_made else (left, right)
        self._same[gone] = kept

    def _expression(self, expression: Expression) -> Expression:
        match expression:
            case Ref():
                return Ref(self._root(expression.variable))
            case Apply():
                return Apply(
                    expression.operator,
                    tuple(map(self._expression, expression.args)),
                    expression.type,
                )
        return expression

    def _filter(self, literal: Filter) -> Filter:
        return Filter(
            literal.operator, self._expression(literal.left), self._expression(literal.right)
        )

    def _argument(self, arg: Expression | None) -> Ref | Value:
        made = None if arg is None else self._expression(arg)
        assert isinstance(made, Ref | Value), "an atom has variables and constants only"
        return made

    def _negated(self, atom: CheckedAtom) -> NegatedAtom:
        return NegatedAtom(
            self._named(atom.relation),
            tuple(None if arg is None else self._argument(arg) for arg in atom.args),
        )

    # ── heads ─────────────────────────────────────────────────────────────────────────────────────
    def _head_term(self, term: HeadTerm) -> Ref | AggregateTerm:
        if isinstance(term, CheckedHeadAggregate):
            return AggregateTerm(
                term.function, tuple(map(self._variable_for, term.args)), term.type
            )
        return self._variable_for(term)

    def _variable_for(self, expression: Expression) -> Ref:
        """The variable itself, or a new one that an equation ties to the expression."""
        expression = self._expression(expression)
        if isinstance(expression, Ref):
            return expression
        self._variables.append(RuleVariable("_", expression.type))
        made = Ref(len(self._variables) - 1)
        self._equations.append(Filter("=", made, expression))
        return made

    # ── numbers ───────────────────────────────────────────────────────────────────────────────────
    def _numbered(self, rule: NormalRule) -> NormalRule:
        """The rule with its variables numbered in the order in which its atoms, assignments and
        head mention them.
        """
        atoms = tuple(
            PositiveAtom(each.relation, tuple(map(self._renumber, each.args)))
            for each in rule.atoms
        )
        assignments = tuple(
            Assignment(self._number(each.variable), self._renumber(each.expression))
            for each in rule.assignments
        )
        head = tuple(
            AggregateTerm(each.function, tuple(map(self._renumber, each.args)), each.type)
            if isinstance(each, AggregateTerm)
            else self._renumber(each)
            for each in rule.head
        )
        negated = tuple(
            NegatedAtom(
                each.relation,
                tuple(None if arg is None else self._renumber(arg) for arg in each.args),
            )
            for each in rule.negated
        )
        filters = tuple(
            Filter(each.operator, self._renumber(each.left), self._renumber(each.right))
            for each in rule.filters
        )
        variables = tuple(self._variables[old] for old in self._numbers)
        return NormalRule(
            rule.source,
            rule.relation,
            head,
            variables,
            atoms,
            negated,
            assignments,
            filters,
            rule.span,
        )

    def _number(self, variable: int) -> int:
        return self._numbers.setdefault(variable, len(self._numbers))

    def _renumber(self, expression: Kind) -> Kind:
        match expression:
            case Ref():
                return Ref(self._number(expression.variable))  # type: ignore[return-value]
            case Apply():
                return Apply(
                    expression.operator,
                    tuple(map(self._renumber, expression.args)),
                    expression.type,
                )  # type: ignore[return-value]
        return expression


def orient(equations: Iterable[Filter], bound: Variables) -> tuple[list[Assignment], list[Filter]]:
    """Each equation as an assignment, where that closes no circle and its variable has none yet;
    else as a filter.

    `bound` are the variables of atoms. First come the assignments of variables that no atom has.
    """
    assigned: dict[int, Expression] = {}
    waiting = dict.fromkeys(equations)
    order, progress = list(waiting), True
    while progress:
        progress = False
        for equation in [each for each in order if each in waiting]:
            for variable, expression in definitions(equation):
                if variable not in bound and of_expressions([expression]) <= bound:
                    assigned[variable] = expression
                    bound |= {variable}
                    del waiting[equation]
                    progress = True
                    break
        order.reverse()
    tests: list[Filter] = []
    for equation in waiting:
        for variable, expression in definitions(equation):
            if variable not in assigned and variable not in _needs(expression, assigned):
                assigned[variable] = expression
                break
        else:
            tests.append(equation)
    return [Assignment(variable, expression) for variable, expression in assigned.items()], tests


def _needs(expression: Expression, assigned: dict[int, Expression]) -> set[int]:
    """The variables that an expression needs, through assignments too."""
    found: set[int] = set()
    waiting = list(of_expressions([expression]))
    while waiting:
        if (variable := waiting.pop()) not in found:
            found.add(variable)
            if variable in assigned:
                waiting += of_expressions([assigned[variable]])
    return found
