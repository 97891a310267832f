"""Aggregates drawn into a join: `sum d : { e(x, y), w(y, _, d) }` adds the `d` of each `y` up once,
not once for each `x`.

A join has as many assignments as there are ways to combine rows: millions of paths of two edges
among a hundred thousand edges. What an aggregate says of them can often be had without listing
them, since sums distribute over products, and least and greatest values over unions [Yan and
Larson, Eager Aggregation and Lazy Aggregation, 1995; Abo Khamis, Ngo and Rudra, FAQ, 2016]. So an
atom that one variable alone links to the rest, or none, gives way to a hidden aggregate of its rows
for each value of that variable, again and again:

    n = count : { e(x, y), e(y, z), e(z, u) } n = sum b : { e(x, y), two(y, b) }      two(y, sum a)
    :- e(y, z), one(z, a)      one(z, count) :- e(z, _)

Each of these rules reads one relation and looks the others up by values that it has: it takes time
in proportion to that relation, and a change of a row takes time in proportion to the rows that it
is joined with, one relation after the other. Sums of floats are left as they are, for a sum of
rounded sums is another one. A partial sum that does not fit is an error, even where others would
have cancelled it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from lftj.functions.aggregates import AGGREGATES
from lftj.program.arithmetic import comparison_may_fail, may_fail
from lftj.program.bindings import Variables, definitions, of_expressions, of_literal, of_literals
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate
from lftj.program.normal_form import Apply, Expression, Filter, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import HeadTerm, RuleProgram
from lftj.program.signatures import aggregate_type
from lftj.types import INT, Type
from lftj.types.sources import is_hidden

_TOGETHER = {name: each.together for name, each in AGGREGATES.items() if each.together}
"""Aggregate that combines the aggregates of parts into that of the whole."""
_MOST_ATOMS = 16  # of a body; finding the branches of longer ones takes the square of their length


class _Value(NamedTuple):
    """Aggregated value of an assignment: the product of `base` and `factors`, which are numbers of
    rows of branches; None for a count.
    """

    base: Expression | None
    factors: tuple[Ref, ...] = ()

    @property
    def expression(self) -> Expression | None:
        """The product."""
        every = (*self.factors,) if self.base is None else (self.base, *self.factors)
        return (
            reduce(lambda product, factor: Apply("*", (product, factor), INT), every)
            if every
            else None
        )


class _Branch(NamedTuple):
    """Literals about the variables of one atom, which has the link in common with the `rest` and
    nothing else; `own` are the others.
    """

    link: Variables  # one, or none
    own: Variables
    literals: Conjunct
    rest: Conjunct


def eager_aggregation(program: RuleProgram) -> RuleProgram:
    """Aggregates of branches of a join in place of the branches."""
    definition = program.finished
    if definition is None or not definition.draws or len(definition.finished) != 1:
        return program
    if not any(isinstance(term, CheckedHeadAggregate) for term in definition.head):
        return program
    draft, was = program.copy(), definition.finished[0]
    conjunct, head = EagerAggregation(draft).of(was, definition.head)
    if conjunct is was:
        return program
    draft.replace_top(head=head, finished=(conjunct,), aggregate=None, draws=False)
    return draft


class EagerAggregation:
    """Draws aggregates into conjunctions of one rule.

    Nothing is drawn over relations that depend on the rule. Nor over one of which the link is a
    key, as far as that is known.
    """

    def __init__(self, draft: RuleProgram):
        self._draft = draft
        self._variables = draft.variables
        self._known = draft.known
        self._links = draft.decided

    def of(
        self, conjunct: Conjunct, head: Sequence[HeadTerm]
    ) -> tuple[Conjunct, tuple[HeadTerm, ...]]:
        """The conjunction and the head that say the same of fewer assignments; as they were where
        nothing would be won.
        """
        terms = [term for term in head if isinstance(term, CheckedHeadAggregate)]
        unfit = not terms or not all(map(_is_exact, terms)) or len(conjunct.positive) > _MOST_ATOMS
        if unfit or any(may_fail(arg) for term in terms for arg in term.args):
            return conjunct, tuple(head)
        group = of_expressions(term for term in head if not isinstance(term, CheckedHeadAggregate))
        values = [_Value(term.args[0] if term.args else None) for term in terms]
        while (branch := self._branch(conjunct, group, terms, values)) is not None:
            conjunct, values = self._without(branch, terms, values)
        made = iter(map(_term, terms, values))
        return conjunct, tuple(
            next(made) if isinstance(term, CheckedHeadAggregate) else term for term in head
        )

    # ── branches ──────────────────────────────────────────────────────────────────────────────────
    def _branch(
        self,
        conjunct: Conjunct,
        group: Variables,
        terms: Sequence[CheckedHeadAggregate],
        values: Sequence[_Value],
    ) -> _Branch | None:
        """The first branch that can be cut off; None if there is none."""
        for atom in conjunct.positive:
            if not isinstance(atom, CheckedAtom) or is_hidden(atom.relation):
                continue
            reached = self._decided_by(atom, conjunct)
            said = (
                *map(of_literal, conjunct.literals),
                *(of_expressions([value.base]) for value in values),
            )
            link = reached & group.union(*(each for each in said if not each <= reached))
            own = reached - link
            if len(link) > 1 or own.isdisjoint(of_literal(atom)):
                continue
            parts = conjunct.split(lambda literal, own=own: of_literal(literal).isdisjoint(own))
            branch = _Branch(link, own, parts[False], parts.get(True, Conjunct()))
            multiplied = [
                term
                for term, value in zip(terms, values, strict=True)
                if not of_expressions([value.base]) & own
            ]
            if any(_TOGETHER[term.function] == "sum" and term.type != INT for term in multiplied):
                continue
            if self._is_worthwhile(
                atom, branch, counted=all(value == _Value(None) for value in values)
            ):
                return branch
        return None

    def _decided_by(self, atom: CheckedAtom, conjunct: Conjunct) -> Variables:
        """The variables that have one value for each row of the atom."""
        reached, size = of_literal(atom), -1
        while size != (size := len(reached)):
            for literal in conjunct.positive:
                if isinstance(literal, Filter):
                    reached |= {
                        variable
                        for variable, value in definitions(literal)
                        if of_expressions([value]) <= reached
                    }
                elif (
                    isinstance(literal, CheckedAtom)
                    and literal in self._links
                    and self._links[literal] <= reached
                ):
                    reached |= of_literal(literal)
        return reached

    def _is_worthwhile(self, atom: CheckedAtom, branch: _Branch, counted: bool) -> bool:
        """Test for a branch that can be evaluated apart, where a value of the link has several rows
        on either side.

        Where it has one row on one of them, there are no more assignments than rows on the other.
        Nothing is won then, and rules that range over the same assignments could no longer be
        maintained as one. `counted`: only a number is asked for, and nothing has been drawn in.
        """
        inside, rest = branch.literals, branch.rest
        read = [
            each.relation
            for each in (*inside.positive, *inside.negated)
            if isinstance(each, CheckedAtom)
        ]
        tests = [each for each in (*inside.positive, *inside.filters) if isinstance(each, Filter)]
        if any(name in self._draft.cyclic for name in read) or any(map(comparison_may_fail, tests)):
            return False
        atoms = [each for each in rest.positive if isinstance(each, CheckedAtom)]
        if of_literals(atoms) <= branch.link or _is_selective(rest):
            return False
        if counted and branch.link and len(atoms) == 1 and len(of_literals(inside.positive)) == 2:
            return False  # the last variable of a count is not listed anyway
        joined = [
            each for each in atoms if branch.link & of_literal(each) and each not in self._links
        ]
        return all(self._repeats(each, branch.link) for each in (atom, *joined))

    def _repeats(self, atom: CheckedAtom, link: Variables) -> bool:
        """Test for a link whose values are known to have several rows of the atom."""
        if self._known.keyed(atom, link):
            return False
        columns = (
            column
            for column, arg in enumerate(atom.args)
            if isinstance(arg, Ref) and arg.variable in link
        )
        return all(self._known.repeats(atom.relation, column) for column in columns)

    # ── what becomes of them ──────────────────────────────────────────────────────────────────────
    def _without(
        self, branch: _Branch, terms: Sequence[CheckedHeadAggregate], values: Sequence[_Value]
    ) -> tuple[Conjunct, list[_Value]]:
        """The rest with an atom of the branch's aggregates, and what is to be aggregated now."""
        columns: dict[CheckedHeadAggregate, Ref] = {}

        def result(function: str, value: Expression | None) -> Ref:
            type = aggregate_type(function, None if value is None else self._type(value))
            assert type is not None, "it was aggregated before"
            column = CheckedHeadAggregate(function, () if value is None else (value,), type)
            return columns.setdefault(column, self._draft.new_variable(type))

        now: list[_Value] = []
        for term, value in zip(terms, values, strict=True):
            here = tuple(factor for factor in value.factors if factor.variable in branch.own)
            others = tuple(factor for factor in value.factors if factor not in here)
            if of_expressions([value.base]) & branch.own:
                now.append(
                    _Value(
                        result(_TOGETHER[term.function], value._replace(factors=here).expression),
                        others,
                    )
                )
            elif _TOGETHER[term.function] != "sum":
                now.append(value)
            else:
                rows = result("sum" if here else "count", _Value(None, here).expression)
                now.append(_Value(value.base, (*others, rows)))
        kind = next((column.function for column in columns), "in")
        link = tuple(map(Ref, branch.link))
        name = self._draft.define_by(kind, (*link, *columns), branch.literals)
        atom = CheckedAtom(name, (*link, *columns.values()))
        self._links[atom] = branch.link
        return Conjunct(
            [*branch.rest.positive, atom], branch.rest.negated, branch.rest.filters
        ), now

    def _type(self, value: Expression) -> Type:
        return self._variables[value.variable].type if isinstance(value, Ref) else value.type


def _is_exact(term: CheckedHeadAggregate) -> bool:
    """Test for an aggregate with the same result in any order of aggregation."""
    function = _TOGETHER.get(term.function)
    return function is not None and (function != "sum" or term.type.name != "float")


def _term(term: CheckedHeadAggregate, value: _Value) -> CheckedHeadAggregate:
    expression = value.expression
    if expression is None:
        return term
    return CheckedHeadAggregate(_TOGETHER[term.function], (expression,), term.type)


def _is_selective(conjunct: Conjunct) -> bool:
    """Test for a conjunction that asks for given values: then few rows may have to be read, while a
    branch that is evaluated apart reads all.
    """
    for literal in conjunct.positive:
        sides = (
            literal.args
            if isinstance(literal, CheckedAtom)
            else (literal.left, literal.right)
            if isinstance(literal, Filter)
            else ()
        )
        if any(isinstance(side, Value) for side in sides):
            return True
    return False
