"""What becomes of each nested construct: negations, aggregates, disjunctions and string functors,
as hidden relations or alternatives.
"""

from __future__ import annotations

import decimal
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lftj.program.arithmetic import comparison_may_fail
from lftj.program.bindings import (
    Variables,
    bound_by,
    of_expressions,
    of_literal,
    of_literals,
    shared,
    slice_for,
)
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    CheckedRule,
    FunctorCall,
)
from lftj.program.conjunct import Conjunct, HeadTerm
from lftj.program.functors import STRING_FUNCTORS
from lftj.program.hidden import HiddenRelations
from lftj.program.normal_form import QUESTION, Expression, Filter, Ref, Value
from lftj.program.rewrites.computed_keys import with_computed_keys
from lftj.program.rewrites.eager_aggregation import EagerAggregation
from lftj.program.rewrites.extreme_negation import as_extreme
from lftj.program.rewrites.lowering import (
    FALSE,
    PARTIAL,
    Agenda,
    Alternatives,
    lists_values,
    opposite,
)
from lftj.program.rewrites.max_as_min import Mirrored, mirror
from lftj.program.statistics_hints import NOTHING, Known
from lftj.types import INT, Type

Literals = frozenset[CheckedLiteral]
NO_LITERALS: Literals = frozenset()


class Lowering(Agenda):
    """Expands the constructs of one rule."""

    def __init__(
        self,
        rule: CheckedRule,
        hidden: HiddenRelations,
        known: Known = NOTHING,
        cycle: Collection[str] = (),
    ):
        super().__init__(rule, hidden, cycle)
        self.known = known
        self._asked: dict[
            CheckedLiteral, Literals
        ] = {}  # by the atoms of functors: what holds wherever they do, as it was asked before

    def expand(self, literal: CheckedLiteral, conjunct: Conjunct, single: bool) -> Alternatives:
        """Plainer literals in place of `literal`; see the base class."""
        match literal:
            case FunctorCall():
                return [(self._functor(literal, conjunct),)]
            case CheckedNegation():
                return self._negation(literal, conjunct, single)
            case CheckedAggregate():
                return self._aggregate(literal, conjunct, single)
            case CheckedDisjunction():
                if (single and len(literal.branches) > 1) or (
                    lists_values(literal) and _reads_relations(conjunct)
                ):
                    return [(self._united(literal, conjunct),)]
                return [branch.literals for branch in literal.branches]
        raise AssertionError(f"{literal} is not nested")

    def finished(self, conjunct: Conjunct) -> Conjunct:
        """See the base class."""
        return with_computed_keys(
            conjunct, self.hidden, self.variables, self.new_variable, self.cyclic
        )

    def drawn_in(
        self, conjunct: Conjunct, head: Sequence[HeadTerm]
    ) -> tuple[Conjunct, tuple[HeadTerm, ...]]:
        """The body and the head of a rule with its aggregates drawn into the body
        (`eager_aggregation`).
        """
        return EagerAggregation(
            self.hidden, self.variables, self.new_variable, self.cyclic, self.known
        ).of(conjunct, head)

    # ── what an inner body needs of the one around it ─────────────────────────────────────────────
    def _imported(
        self, block: Block, variables: Variables, conjunct: Conjunct
    ) -> list[CheckedLiteral]:
        """Literals of the conjunction for those of `variables` that the block does not
        bind itself.
        """
        known, inside = variables & conjunct.bound(), bound_by(block.literals)
        missing = known - inside
        return slice_for(missing, conjunct.positive, self.cyclic, known & inside) if missing else []

    def _projected(
        self, literals: list[CheckedLiteral], wanted: Variables, conjunct: Conjunct
    ) -> list[CheckedLiteral]:
        """The same, such that no other variable multiplies assignments: a hidden relation of the
        wanted variables, if there are others. With the comparisons of the conjunction between them.
        """
        tests = _tests(conjunct, bound_by(literals))
        if of_literals(literals) <= wanted:
            return [*literals, *tests]
        kept = refs(of_literals(literals) & wanted)
        name = self.hidden.define("in", kept, [Conjunct(literals, [], tests)], self.variables)
        return [] if name is None else [CheckedAtom(name, kept)]

    # ── constructs ────────────────────────────────────────────────────────────────────────────────
    def _negation(self, literal: CheckedNegation, conjunct: Conjunct, single: bool) -> Alternatives:
        block, columns = literal.block, refs(shared(literal))
        decided = _as_conditions(block)
        if decided is not None:
            return [decided]
        extreme = as_extreme(literal, conjunct, self.variables, self.cyclic)
        if extreme is not None and not self._asks_for_few(extreme, conjunct):
            return self._aggregate(extreme, conjunct, single)
        body = [*self._imported(block, shared(literal), conjunct), *block.literals]
        body += _tests(conjunct, bound_by(body))
        name = self.hidden.define("not", columns, self.lower(body, single=False), self.variables)
        return [() if name is None else (CheckedNegation(Block((CheckedAtom(name, columns),))),)]

    def _asks_for_few(self, extreme: CheckedAggregate, conjunct: Conjunct) -> bool:
        """Whether this is a question, whose few values a negation would be asked about, and the
        aggregate would be one of all groups.
        """
        return QUESTION in self.heads and not self._imported(
            extreme.block, shared(extreme), conjunct
        )

    def _united(self, literal: CheckedDisjunction, conjunct: Conjunct) -> CheckedLiteral:
        """The disjunction as one atom, over the variables that it shares with the body
        around it.
        """
        variables, found = shared(literal), []
        for branch in literal.branches:
            found += self.lower(
                [*self._imported(branch, variables, conjunct), *branch.literals], single=False
            )
        name = self.hidden.define("or", refs(variables), found, self.variables)
        return FALSE if name is None else CheckedAtom(name, refs(variables))

    def _aggregate(
        self, literal: CheckedAggregate, conjunct: Conjunct, single: bool
    ) -> Alternatives:
        """The hidden aggregate grouped by the shared variables; for count and sum also the empty
        group.
        """
        block, group = literal.block, shared(literal)
        body = [
            *self._projected(self._imported(block, group, conjunct), group, conjunct),
            *block.literals,
        ]
        term = CheckedHeadAggregate(
            literal.function, () if literal.target is None else (literal.target,), literal.type
        )
        kind = "not" if literal.negation else literal.function
        lowered = self.lower(body, single=True)
        if literal.function == "max" and lowered:
            below = Mirrored(self.hidden, self.variables, self.new_variable).of(
                lowered[0], literal.target, group
            )
            if below is not None:
                return [self._least(kind, literal, *below)]
        head: tuple[HeadTerm, ...] = (*refs(group), term)
        if lowered:
            lowered[0], head = self.drawn_in(lowered[0], head)
        name = self.hidden.define(kind, head, lowered, self.variables)
        found: Alternatives = []
        if name is not None:
            found.append((CheckedAtom(name, (*refs(group), Ref(literal.result))),))
        if literal.function in ("count", "sum"):
            empty: list[CheckedLiteral] = [Filter("=", Ref(literal.result), zero(literal.type))]
            if name is not None:
                empty.append(CheckedNegation(Block((CheckedAtom(name, (*refs(group), None)),))))
            found.append(tuple(empty))
        if single and len(found) > 1:
            # Of the empty group, equations may be all that binds the shared variables: `x = sum y :
            # { e(x, y) }` is asked for x = 0.
            said = (
                [] if group <= conjunct.bound() else _equations(conjunct, {*group, literal.result})
            )
            return [(CheckedDisjunction(tuple(Block((*branch, *said)) for branch in found)),)]
        return found

    def _least(
        self, kind: str, literal: CheckedAggregate, body: Conjunct, turned: Ref
    ) -> tuple[CheckedLiteral, ...]:
        """A maximum as the mirrored least value of a mirrored variable."""
        group = refs(shared(literal))
        name = self.hidden.define(
            kind, (*group, CheckedHeadAggregate("min", (turned,), INT)), [body], self.variables
        )
        assert name is not None, "one conjunction makes one rule"
        least = self.new_variable(INT)
        return CheckedAtom(name, (*group, least)), Filter(
            "=", Ref(literal.result), mirror(least, literal.type)
        )

    def _functor(self, call: FunctorCall, conjunct: Conjunct) -> CheckedAtom:
        """The hidden relation of the functor over the arguments that occur, as an atom that binds
        its result.
        """
        wanted = of_expressions(call.args)
        body = _all_but(self.heads, conjunct, wanted) if call.functor in PARTIAL else None
        if body is None:
            body = self._with_tests(slice_for(wanted, conjunct.positive, self.cyclic), conjunct)
        domain = self.hidden.define("in", call.args, [body], self.variables)
        assert domain is not None, "one conjunction makes one rule"
        name = self.hidden.define_functor(call.functor, domain, call.types, call.result_type)
        if any(
            isinstance(each, CheckedAtom) and each.relation in self.cyclic for each in body.positive
        ):
            self.cyclic.add(name)
        atom = CheckedAtom(
            name, call.args if call.result is None else (*call.args, Ref(call.result))
        )
        columns = of_literal(atom)
        self._asked[atom] = frozenset(
            each for each in (*body.positive, *body.filters) if of_literal(each) <= columns
        )
        return atom

    def _with_tests(self, literals: list[CheckedLiteral], conjunct: Conjunct) -> Conjunct:
        """These literals with the predicates and comparisons of what they bind, so that a functor
        is not asked for what these reject.

        Not with other atoms: their relations may come to depend on the rule's heads, and the
        functor would stand in that cycle.
        """
        bound = bound_by(literals)
        known = NO_LITERALS.union(*(self._asked.get(each, NO_LITERALS) for each in literals))

        def tests(literal: CheckedLiteral) -> bool:
            if isinstance(literal, CheckedAtom):
                return (
                    literal in self._asked
                    and literal.relation not in self.cyclic
                    and of_literal(literal) <= bound
                )
            return (
                isinstance(literal, Filter)
                and not comparison_may_fail(literal)
                and of_literal(literal) <= bound
            )

        positive = [
            each
            for each in conjunct.positive
            if each in literals or (tests(each) and each not in known)
        ]
        return Conjunct(
            positive, [], [each for each in _tests(conjunct, bound) if each not in known]
        )


def _as_conditions(block: Block) -> tuple[CheckedLiteral, ...] | None:
    """A negation that reads no relation, as conditions, which may stand in a cycle: what it
    computes, if that always has one value, and the opposite of its one test.
    """
    *computed, test = block.literals
    results = {
        each.result
        for each in computed
        if isinstance(each, FunctorCall) and _has_one_value(each.functor)
    }
    if len(results) < len(computed) or not results >= block.local:
        return None
    match test:
        case FunctorCall(result=None):
            return (*computed, replace(test, functor=f"!{test.functor}"))
        case Filter():
            return (*computed, opposite(test))
    return None


def _equations(conjunct: Conjunct, variables: Collection[int]) -> list[Filter]:
    """The equations of the conjunction that the values of these variables decide, or give others
    by.
    """
    equations = [each for each in conjunct.positive if isinstance(each, Filter)]
    known = bound_by(equations, frozenset(variables))
    return [each for each in equations if of_literal(each) <= known]


def _reads_relations(conjunct: Conjunct) -> bool:
    return any(isinstance(each, CheckedAtom) for each in conjunct.positive)


def _has_one_value(functor: str) -> bool:
    return functor not in PARTIAL and not STRING_FUNCTORS[functor].many


def _tests(conjunct: Conjunct, bound: Variables) -> list[Filter]:
    """The comparisons of the body around that an inner one may make too: what they reject nobody
    asks for.

    Without them `!( e(s), t < s, s < u )` would be asked of all pairs of t and u, and not of those
    with t < u alone. Not the ones with arithmetic that may fail: where the inner body would not
    have held, it would not have mattered.
    """
    return [
        each
        for each in conjunct.filters
        if of_literal(each) <= bound and not comparison_may_fail(each)
    ]


def _all_but(heads: Collection[str], conjunct: Conjunct, wanted: Variables) -> Conjunct | None:
    """The conjunction without atoms of `heads`, which would close a cycle; None if these are what
    binds the `wanted` variables.
    """
    positive = [
        each
        for each in conjunct.positive
        if not (isinstance(each, CheckedAtom) and each.relation in heads)
    ]
    bound = bound_by(positive)
    if not wanted <= bound:
        return None
    positive = [each for each in positive if of_literal(each) <= bound]
    negated = [
        each
        for each in conjunct.negated
        if of_literal(each) <= bound and each.relation not in heads
    ]
    return Conjunct(
        positive, negated, [each for each in conjunct.filters if of_literal(each) <= bound]
    )


def refs(variables: Iterable[int]) -> tuple[Expression, ...]:
    """The variables as expressions, in order."""
    return tuple(Ref(variable) for variable in sorted(variables))


def zero(type: Type) -> Value:
    """What count and sum are for no assignments."""
    if type.name == "float":
        return Value(0.0, type)
    return Value(decimal.Decimal(0) if type.name == "decimal" else 0, type)
