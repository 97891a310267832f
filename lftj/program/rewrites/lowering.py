"""A body with nested constructs to conjunctions without: an agenda of conjunctions that still have
something to expand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lftj.errors import DeclarationError
from lftj.program.bindings import Variables, bound_by, of_expressions, shared
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    CheckedRule,
    FunctorCall,
)
from lftj.program.conjunct import Conjunct
from lftj.program.hidden import HiddenRelations
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable, Value
from lftj.types import Type

MOST_ALTERNATIVES = 4096
"""Combinations of disjunction branches that one rule may have."""

PARTIAL = ("to_number", "to_unsigned", "to_float")
"""Functors that fail on some arguments: whatever else the body says about these is asked first."""

_LIST = 4
"""Values from which on a list is joined with. A commit of one row asks a rule for a constant in
half the time that it takes for a join.
"""

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
FALSE = CheckedDisjunction(())
Alternatives = list[tuple[CheckedLiteral, ...]]


class Agenda:
    """Lowers bodies of one rule. `variables` grows; `heads` are the rule's own relations; hidden
    relations go to `hidden`.
    """

    def __init__(self, rule: CheckedRule, hidden: HiddenRelations, cycle: Collection[str] = ()):
        self.variables: list[RuleVariable] = list(rule.variables)
        self.heads = {head.relation for head in rule.heads}
        self.cyclic = {*self.heads, *cycle}
        """Relations that a hidden one had better not read: the heads and relations that depend on
        them.
        """
        self.hidden = hidden
        self._span = rule.rule.span

    def expand(self, literal: CheckedLiteral, conjunct: Conjunct, single: bool) -> Alternatives:
        """Plainer literals in place of a nested one, which `conjunct` binds what it needs; several
        alternatives only if not `single`.
        """
        raise NotImplementedError

    def finished(self, conjunct: Conjunct) -> Conjunct:
        """A conjunction without nested constructs, as it is best joined."""
        return conjunct

    def lower(self, literals: Sequence[CheckedLiteral], single: bool) -> list[Conjunct]:
        """The conjunctions that together say what `literals` say; at most one if `single`. Raises
        DeclarationError (E166).
        """
        done: list[Conjunct] = []
        agenda = [(Conjunct(), list(literals))]
        while agenda:
            conjunct, waiting = agenda.pop()
            nested = self._absorb(conjunct, waiting)
            if nested is None:
                continue
            if not nested:
                done.append(self.finished(conjunct))
            else:
                chosen = self._next(nested, conjunct, single)
                rest = [literal for literal in nested if literal is not chosen]
                alternatives = self.expand(chosen, conjunct, single)
                agenda += [
                    (conjunct.copy(), [*alternative, *rest])
                    for alternative in reversed(alternatives)
                ]
            if len(agenda) + len(done) > MOST_ALTERNATIVES:
                hint = "move some of the disjunctions into relations of their own"
                message = (
                    f"the disjunctions of this rule have more than {MOST_ALTERNATIVES} combinations"
                )
                raise DeclarationError(message, code="E166", span=self._span, hint=hint)
        return done

    def new_variable(self, type: Type) -> Ref:
        """One more variable."""
        self.variables.append(RuleVariable("_", type))
        return Ref(len(self.variables) - 1)

    # ── plain literals ────────────────────────────────────────────────────────────────────────────
    def _absorb(
        self, conjunct: Conjunct, literals: Sequence[CheckedLiteral]
    ) -> list[CheckedLiteral] | None:
        """Take the plain literals into the conjunction; the nested ones are left. None when one of
        them is false.
        """
        nested: list[CheckedLiteral] = []
        for literal in literals:
            match plain(literal):
                case CheckedDisjunction(branches=()):
                    return None
                case None:
                    continue
                case CheckedAtom() as atom:
                    conjunct.positive.append(self._without_expressions(atom, conjunct))
                case Filter(operator="=") as equation:
                    conjunct.positive.append(equation)
                case Filter() as test:
                    conjunct.filters.append(test)
                case CheckedNegation(
                    block=Block(literals=(CheckedAtom() as atom,), local=local)
                ) if not local:
                    conjunct.negated.append(self._without_expressions(atom, conjunct))
                case other:
                    nested.append(other)
        return nested

    def _without_expressions(self, atom: CheckedAtom, conjunct: Conjunct) -> CheckedAtom:
        """The atom with a new variable, and an equation, in place of each argument that
        computes.
        """
        args: list[Expression | None] = []
        for arg in atom.args:
            if isinstance(arg, Apply):
                made = self.new_variable(arg.type)
                conjunct.positive.append(Filter("=", made, arg))
                arg = made
            args.append(arg)
        return CheckedAtom(atom.relation, tuple(args))

    # ── order ─────────────────────────────────────────────────────────────────────────────────────
    def _next(
        self, nested: list[CheckedLiteral], conjunct: Conjunct, single: bool
    ) -> CheckedLiteral:
        """The literal to expand now: disjunctions that become part of the body first, so that what
        comes after sees all of its comparisons, then what has its inputs bound: of these predicates
        first, so that nothing is computed for what they reject, and functors that fail last.
        """
        for literal in nested:
            if isinstance(literal, CheckedDisjunction) and (
                not single or len(literal.branches) == 1
            ):
                return literal
        bound = conjunct.bound()
        ready = [literal for literal in nested if is_ready(literal, bound)]
        assert ready, "the checks admitted a rule with unbound variables"
        return min(ready, key=_turn)


def _turn(literal: CheckedLiteral) -> int:
    if not isinstance(literal, FunctorCall):
        return 1
    return 0 if literal.result is None else 2 if literal.functor in PARTIAL else 1


def is_ready(literal: CheckedLiteral, bound: Variables) -> bool:
    """True when everything that the literal does not bind itself is among the `bound` variables."""
    match literal:
        case FunctorCall():
            return of_expressions(literal.args) <= bound
        case CheckedNegation() | CheckedAggregate():
            return shared(literal) <= bound_by(literal.block.literals, bound)
        case CheckedDisjunction():
            columns = shared(literal)
            return all(columns <= bound_by(branch.literals, bound) for branch in literal.branches)
    return True


def lists_values(literal: CheckedDisjunction) -> bool:
    """Whether this is a list of values, `(x = 1 ; x = 2 ; …)`: they are joined with, for
    alternatives would each read the rest anew.
    """
    given = [[_is_given(each) for each in branch.literals] for branch in literal.branches]
    return len(given) >= _LIST and all(set(variables) == shared(literal) for variables in given)


def _is_given(literal: CheckedLiteral) -> int | None:
    """The variable that this makes equal to a constant."""
    match literal:
        case Filter(operator="=", left=Ref(variable), right=Value()):
            return variable
    return None


def plain(literal: CheckedLiteral) -> CheckedLiteral | None:
    """A nested literal in a plainer form where it has one; None when it always holds, FALSE when it
    never does.
    """
    if not isinstance(literal, CheckedNegation):
        return literal
    match literal.block.literals:
        case ():
            return FALSE
        case (CheckedDisjunction(branches=()),):
            return None
        case (Filter() as test,) if not literal.block.local:
            return opposite(test)
        case (CheckedAtom() as atom,):
            args = _local_as_wildcards(atom.args, literal.block.local)
            return (
                literal
                if args is None
                else CheckedNegation(Block((CheckedAtom(atom.relation, args),)))
            )
    return literal


def opposite(test: Filter) -> Filter:
    """The comparison that holds where `test` does not."""
    return Filter(_OPPOSITE[test.operator], test.left, test.right)


def _local_as_wildcards(
    args: tuple[Expression | None, ...], local: frozenset[int]
) -> tuple[Expression | None, ...] | None:
    """The arguments of a negated atom with `_` for variables of its own; None when one of these
    occurs twice or in an expression.
    """
    seen: set[int] = set()
    made: list[Expression | None] = []
    for arg in args:
        own = of_expressions([arg]) & local
        if own & seen or (own and not isinstance(arg, Ref)):
            return None
        seen |= own
        made.append(None if own else arg)
    return tuple(made)
