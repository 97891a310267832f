# SPDX-License-Identifier: Apache-2.0
"""A rule on its way to normal form as text, for readers: one line for each rule that it has become
so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lftj.functions.aggregates import written_over
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    FunctorCall,
)
from lftj.program.hidden import kind_of
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    Filter,
    FunctorRule,
    NormalRule,
    Ref,
    RuleVariable,
    Value,
)
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import Body, Definition, HeadTerm, RuleProgram
from lftj.syntax.constants import print_constant
from lftj.types.sources import HiddenName

Names = Mapping[str, str]
"""Names of placeholders."""
Term = HeadTerm | AggregateTerm | None


def shown_names(program: RuleProgram) -> Names:
    """Names of a finished program's placeholders; those of empty relations have the number 0."""
    return {
        placeholder: name or HiddenName(program.source, kind_of(placeholder), 0)
        for placeholder, name in program.names.items()
    }


def listing(program: RuleProgram, names: Names) -> list[str]:
    """The rules as text: those of the heads first, then those of hidden relations."""
    shown = [_of_rule(rule) for rule in program.rules]
    waiting = {each.relation: each for each in program.open if each.kind}
    for definition in reversed(program.open):
        if not definition.kind:
            shown += _of_definition(definition, program, names)
    if program.heads:
        shown.append(_of_heads(program, names))
    done: set[str] = set()
    for placeholder in program.names:
        name = program.names[placeholder]
        if placeholder in waiting:
            shown += _of_definition(waiting[placeholder], program, names)
        elif name is not None and name not in done:
            done.add(name)
            shown += [_of_rule(rule) for rule in program.hidden_rules if rule.relation == name]
    return shown


def _of_rule(rule: NormalRule | FunctorRule) -> str:
    if isinstance(rule, FunctorRule):
        return _of_functor(rule, rule.relation, {})
    text = _Text(rule.variables, {})
    head = text.atom(rule.relation, rule.head)
    body = [
        *(text.atom(each.relation, each.args) for each in rule.atoms),
        *("!" + text.atom(each.relation, each.args) for each in rule.negated),
        *(text.comparison("=", Ref(each.variable), each.expression) for each in rule.assignments),
        *(text.comparison(each.operator, each.left, each.right) for each in rule.filters),
    ]
    return text.finished(head, body)


def _of_functor(rule: FunctorRule, relation: str, names: Names) -> str:
    columns = ", ".join(f"x{number}" for number in range(1, len(rule.types) + 1))
    domain, call = (
        f"{names.get(rule.domain, rule.domain)}({columns})",
        f"{rule.functor}({columns})",
    )
    if rule.result is None:
        return f"{relation}({columns}) :- {domain}, {call}."
    return f"{relation}({columns}, y) :- {domain}, y = {call}."


def _of_definition(definition: Definition, program: RuleProgram, names: Names) -> Iterator[str]:
    relation = definition.relation
    if definition.kind:
        relation = names[relation]
    if definition.functor is not None:
        yield _of_functor(definition.functor, relation, names)
    for body in (*map(_finished, definition.finished), *definition.waiting):
        text = _Text(program.variables, names)
        head = text.atom(relation, definition.head)
        yield text.finished(head, text.body(body))


def _finished(conjunct: Conjunct) -> Body:
    return Body((), conjunct)


def _of_heads(program: RuleProgram, names: Names) -> str:
    text = _Text(program.variables, names)
    heads = ", ".join(text.atom(head.relation, head.args) for head in program.heads)
    computed = (each for head in program.heads for each in head.literals)
    return text.finished(heads, text.body(Body((*program.body, *computed))))


class _Text:
    """Literals of one rule as text. `finished` names the variables: until then each is a mark."""

    def __init__(self, variables: Sequence[RuleVariable], names: Names):
        self._variables = variables
        self._names = names
        self._marks = Counter[int]()

    def finished(self, head: str, body: Sequence[str]) -> str:
        """The rule, with a name for each of its variables: the user's where there is one, and `_`
        for what occurs once.
        """
        shown = f"{head} :- {', '.join(body)}." if body else f"{head}."
        taken, number = set[str](), 0
        for variable in self._marks:
            name = self._variables[variable].name
            if self._variables[variable].is_made:
                number += 1
                name = f"_{number}" if self._marks[variable] > 1 else "_"
            while name != "_" and name in taken:
                name += "'"
            taken.add(name)
            shown = shown.replace(_mark(variable), name)
        return shown

    def body(self, body: Body) -> list[str]:
        """The literals of a body: atoms, negated atoms, equations, comparisons, nested ones."""
        conjunct, nested = body.sorted()
        return [
            *(self.literal(each) for each in conjunct.positive if isinstance(each, CheckedAtom)),
            *("!" + self.literal(each) for each in conjunct.negated),
            *(self.literal(each) for each in conjunct.positive if isinstance(each, Filter)),
            *(self.literal(each) for each in conjunct.filters),
            *(self.literal(each) for each in nested),
        ]

    def literal(self, literal: CheckedLiteral) -> str:
        """One literal, whatever is nested in it."""
        match literal:
            case CheckedAtom():
                return self.atom(literal.relation, literal.args)
            case Filter():
                return self.comparison(literal.operator, literal.left, literal.right)
            case FunctorCall():
                call = f"{literal.functor}({self._terms(literal.args)})"
                return (
                    call
                    if literal.result is None
                    else f"{self._term(Ref(literal.result))} = {call}"
                )
            case CheckedNegation(block=Block(literals=(CheckedAtom() as atom,))):
                return "!" + self.literal(atom)
            case CheckedNegation(block=block):
                return f"!( {self._block(block)} )"
            case CheckedDisjunction(branches=branches):
                return f"( {' ; '.join(map(self._block, branches))} )" if branches else "false"
            case CheckedAggregate():
                over = written_over([self._term(arg) for arg in literal.args])
                result = self._term(Ref(literal.result))
                return f"{result} = {literal.function}{over} : {{ {self._block(literal.block)} }}"
            case CheckedChoice():
                determining = self._terms(literal.determining)
                return f"choice(({determining}), ({self._terms(literal.determined)}))"

    def atom(self, relation: str, terms: Iterable[Term]) -> str:
        """`relation(terms)`."""
        return f"{self._names.get(relation, relation)}({self._terms(terms)})"

    def comparison(self, operator: str, left: Expression, right: Expression) -> str:
        """`left operator right`; an equation has the variable that it computes on its left."""
        if operator == "=" and not isinstance(left, Ref) and isinstance(right, Ref):
            left, right = right, left
        return f"{self._term(left)} {operator} {self._term(right)}"

    def _block(self, block: Block) -> str:
        return ", ".join(map(self.literal, block.literals))

    def _terms(self, terms: Iterable[Term]) -> str:
        return ", ".join(map(self._term, terms))

    def _term(self, term: Term, nested: bool = False) -> str:
        match term:
            case None:
                return "_"
            case Ref(variable):
                self._marks[variable] += 1
                return _mark(variable)
            case Value(value):
                return print_constant(value)  # type: ignore[arg-type]
            case CheckedHeadAggregate() | AggregateTerm():
                return f"{term.function}({self._terms(term.args)})"
            case Apply(operator=operator, args=(left, right)) if not operator.isalpha():
                shown = f"{self._term(left, True)} {operator} {self._term(right, True)}"
                return f"({shown})" if nested else shown
            case Apply():
                return f"{term.operator}({self._terms(term.args)})"


def _mark(variable: int) -> str:
    """A variable in a text that has no names for variables yet."""
    return f"\0{variable}\0"
