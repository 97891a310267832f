"""One conjunction of atoms, negated atoms, equations and comparisons, and the normal rule that is
made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lftj.errors import Span
from lftj.program.bindings import Variables, bound_by, definitions, of_expressions
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate, CheckedLiteral
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Assignment,
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RuleVariable,
    Value,
)

HeadTerm = Expression | CheckedHeadAggregate
Kind = TypeVar("Kind", bound=Expression)
"""Ref, Value or Apply: what comes in goes out."""


@dataclass
class Conjunct:
    """`positive` are atoms and equations, which bind; `negated` and `filters` only reject. Atoms
    have variables and constants only.
    """

    positive: list[CheckedLiteral] = field(default_factory=list)
    negated: list[CheckedAtom] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)

    def copy(self) -> Conjunct:
        """One that can grow apart from this one."""
        return Conjunct(list(self.positive), list(self.negated), list(self.filters))

    @property
    def literals(self) -> list[CheckedLiteral]:
        """All of them."""
        return [*self.positive, *self.negated, *self.filters]

    def split(self, part: Callable[[CheckedLiteral], Hashable]) -> dict[Hashable, Conjunct]:
        """The literals by what `part` says of them, in the order in which it says so first."""
        found: dict[Hashable, Conjunct] = {}
        for literal in self.positive:
            found.setdefault(part(literal), Conjunct()).positive.append(literal)
        for atom in self.negated:
            found.setdefault(part(atom), Conjunct()).negated.append(atom)
        for test in self.filters:
            found.setdefault(part(test), Conjunct()).filters.append(test)
        return found

    def bound(self) -> Variables:
        """The variables that the conjunction binds."""
        return bound_by(self.positive)


class RuleMaker:
    """Makes one normal rule out of a conjunction: merges equal variables, orients equations,
    numbers what is left.
    """

    def __init__(self, conjunct: Conjunct, variables: Sequence[RuleVariable]):
        self._variables = list(variables)
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
            PositiveAtom(each.relation, tuple(map(self._argument, each.args))) for each in atoms
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
        kept, gone = (right, left) if self._variables[left].name.startswith("_") else (left, right)
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
            atom.relation, tuple(None if arg is None else self._argument(arg) for arg in atom.args)
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
