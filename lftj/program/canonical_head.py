# SPDX-License-Identifier: Apache-2.0
"""Aggregated rules up to the names of their variables: which of them range over the same
assignments in the same groups.

A rule's *core* is what decides which assignments there are: atoms, comparisons, and the computed
variables that these need. What is computed for the head alone, such as the separator of `concat` or
the sum in `max(a + b)`, belongs to no core: it is a term over it. Two rules with one core and one
set of group terms can be followed as one, whatever they aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
from lftj.scantree.frozen import frozen
from lftj.types import Type


@frozen(slots=True)
class CanonicalTerm:
    """A value that the head takes from an assignment, over the core's variables. Equal terms have
    equal `text`s.
    """

    expression: Expression
    variable: RuleVariable
    text: str


@frozen(slots=True)
class CanonicalCall:
    """An aggregated head column. Equal calls have equal `text`s."""

    function: str
    args: tuple[CanonicalTerm, ...]
    type: Type
    text: str


@frozen(slots=True)
class CanonicalHead:
    """An aggregated rule. `body` is the same for all rules with this core, which has no head.

    `key` is the same for those with these groups too whose values come from the same atom: together
    they range over no more than each for itself, which sums of columns that have nothing to do with
    each other would not. `group` has the head's group columns, repeated ones included, `columns`
    all its columns in order.
    """

    body: str
    key: str
    core: NormalRule
    group: tuple[CanonicalTerm, ...]
    calls: tuple[CanonicalCall, ...]
    columns: tuple[CanonicalTerm | CanonicalCall, ...]


def canonical_head(rule: NormalRule) -> CanonicalHead:
    """The canonical form of a rule with aggregates. O(size of the rule)."""
    numbers, outputs = _core_numbers(rule)
    core = _core(rule, numbers, outputs)
    terms = [_column(term, rule, numbers, outputs) for term in rule.head]
    group = tuple(term for term in terms if isinstance(term, CanonicalTerm))
    calls = tuple(term for term in terms if isinstance(term, CanonicalCall))
    body = repr(
        (
            core.atoms,
            core.negated,
            core.assignments,
            core.filters,
            [variable.type for variable in core.variables],
            core.lead,
        )
    )
    key = repr((sorted({term.text for term in group}), _home(core, group, calls)))
    return CanonicalHead(body, f"{key} {body}", core, group, calls, tuple(terms))


def combined_rule(
    core: NormalRule, group: Iterable[CanonicalTerm], calls: Iterable[CanonicalCall]
) -> NormalRule:
    """One rule over a core with these group terms and calls: the core's variables first, then what
    is computed for the head.
    """
    variables, assignments = list(core.variables), list(core.assignments)
    known: dict[str, Ref] = {}

    def placed(term: CanonicalTerm) -> Ref:
        if isinstance(term.expression, Ref):
            return term.expression
        if term.text not in known:
            known[term.text] = Ref(len(variables))
            variables.append(term.variable)
            assignments.append(Assignment(known[term.text].variable, term.expression))
        return known[term.text]

    groups = [placed(term) for term in group]
    results = [
        AggregateTerm(call.function, tuple(map(placed, call.args)), call.type) for call in calls
    ]
    return replace(
        core, head=(*groups, *results), variables=tuple(variables), assignments=tuple(assignments)
    )


# ── the core ──────────────────────────────────────────────────────────────────────────────────────
def _core_numbers(rule: NormalRule) -> tuple[dict[int, int], dict[int, Expression]]:
    """The canonical number of each variable of the core, and what each of the others is computed
    from.
    """
    times: dict[int, int] = {}
    for assignment in rule.assignments:
        times[assignment.variable] = times.get(assignment.variable, 0) + 1
    computed = {
        each.variable: each.expression for each in rule.assignments if times[each.variable] == 1
    }
    numbers: dict[int, int] = {}

    def note(*found: object) -> None:
        for each in found:
            if isinstance(each, Ref) and each.variable not in numbers:
                numbers[each.variable] = len(numbers)
                note(computed.get(each.variable))
            elif isinstance(each, Apply):
                note(*each.args)

    for atom in (*sorted(rule.atoms, key=_atom_text), *sorted(rule.negated, key=_atom_text)):
        note(*atom.args)
    for assignment in rule.assignments:
        if times[assignment.variable] > 1:
            note(Ref(assignment.variable), assignment.expression)
    for test in rule.filters:
        note(test.left, test.right)
    if rule.lead is not None:
        note(Ref(rule.lead))
    asked = _asked_by_head(rule, computed)
    for variable in range(len(rule.variables)):
        if variable not in numbers and not (variable in computed and variable in asked):
            note(Ref(variable))  # what nobody asks for stays too: computing it may fail
    return numbers, {
        variable: expression for variable, expression in computed.items() if variable not in numbers
    }


def _asked_by_head(rule: NormalRule, computed: dict[int, Expression]) -> set[int]:
    """The variables that the head takes, and those that they are computed from."""
    asked: set[int] = set()
    waiting: list[Expression] = [
        ref
        for term in rule.head
        for ref in (term.args if isinstance(term, AggregateTerm) else (term,))
    ]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Apply):
            waiting += each.args
        elif isinstance(each, Ref) and each.variable not in asked:
            asked.add(each.variable)
            waiting += [computed[each.variable]] if each.variable in computed else []
    return asked


def _atom_text(atom: PositiveAtom | NegatedAtom) -> str:
    """Describe an atom without naming variables, as a key to sort atoms by."""
    first: dict[int, int] = {}
    args = [
        first.setdefault(arg.variable, len(first)) if isinstance(arg, Ref) else repr(arg)
        for arg in atom.args
    ]
    return repr((atom.relation, args))


def _core(rule: NormalRule, numbers: dict[int, int], outputs: dict[int, Expression]) -> NormalRule:
    def renamed(argument: Ref | Value) -> Ref | Value:
        return Ref(numbers[argument.variable]) if isinstance(argument, Ref) else argument

    def over_core(expression: Expression) -> Expression:
        return _over_core(expression, numbers, outputs)

    atoms = [
        PositiveAtom(a.relation, tuple(map(renamed, a.args)))
        for a in sorted(rule.atoms, key=_atom_text)
    ]
    negated = [
        NegatedAtom(a.relation, tuple(None if arg is None else renamed(arg) for arg in a.args))
        for a in sorted(rule.negated, key=_atom_text)
    ]
    computed = [
        Assignment(numbers[a.variable], over_core(a.expression))
        for a in rule.assignments
        if a.variable in numbers
    ]
    filters = [Filter(f.operator, over_core(f.left), over_core(f.right)) for f in rule.filters]
    variables = [rule.variables[variable] for variable in sorted(numbers, key=numbers.__getitem__)]
    return replace(
        rule,
        head=(),
        variables=tuple(variables),
        atoms=tuple(atoms),
        negated=tuple(negated),
        assignments=tuple(sorted(computed, key=repr)),
        filters=tuple(sorted(filters, key=repr)),
        lead=None if rule.lead is None else numbers[rule.lead],
    )


def _over_core(
    expression: Expression, numbers: dict[int, int], outputs: dict[int, Expression]
) -> Expression:
    """An expression over the core's variables alone."""
    if isinstance(expression, Ref):
        if expression.variable in numbers:
            return Ref(numbers[expression.variable])
        return _over_core(outputs[expression.variable], numbers, outputs)
    if isinstance(expression, Apply):
        return replace(
            expression, args=tuple(_over_core(arg, numbers, outputs) for arg in expression.args)
        )
    return expression


def _home(
    core: NormalRule, group: Iterable[CanonicalTerm], calls: Iterable[CanonicalCall]
) -> list[int]:
    """The variables among which those are that a head aggregates: those of the widest atom that has
    them all, or they alone.
    """
    grouping = {variable for term in group for variable in _variables(term.expression)}
    values = {
        variable for call in calls for arg in call.args for variable in _variables(arg.expression)
    } - grouping
    atoms = [{arg.variable for arg in atom.args if isinstance(arg, Ref)} for atom in core.atoms]
    return sorted(max((atom for atom in atoms if values <= atom), key=len, default=values))


def _variables(expression: Expression) -> set[int]:
    if isinstance(expression, Ref):
        return {expression.variable}
    return (
        {variable for arg in expression.args for variable in _variables(arg)}
        if isinstance(expression, Apply)
        else set()
    )


# ── the head ──────────────────────────────────────────────────────────────────────────────────────
def _column(
    term: Ref | AggregateTerm,
    rule: NormalRule,
    numbers: dict[int, int],
    outputs: dict[int, Expression],
) -> CanonicalTerm | CanonicalCall:
    if isinstance(term, AggregateTerm):
        args = tuple(_term(argument, rule, numbers, outputs) for argument in term.args)
        return CanonicalCall(
            term.function,
            args,
            term.type,
            repr((term.function, [arg.text for arg in args], term.type)),
        )
    return _term(term, rule, numbers, outputs)


def _term(
    ref: Ref, rule: NormalRule, numbers: dict[int, int], outputs: dict[int, Expression]
) -> CanonicalTerm:
    expression, variable = _over_core(ref, numbers, outputs), rule.variables[ref.variable]
    return CanonicalTerm(expression, variable, repr((expression, variable.type)))
