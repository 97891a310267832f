# SPDX-License-Identifier: Apache-2.0
"""The assignments of a checked body with some of its variables given.

A body becomes as many conjunctions as its disjunctions have branches. Each is gone through in
steps: a search binds what atoms and equations bind, and then functors, nested negations and
aggregates are decided for each assignment, whose results may be what another search begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from lftj.errors import ValueRangeError, ValueTypeError
from lftj.explain.derivations.conjunction_search import Rows, Search
from lftj.explain.derivations.conjunction_steps import (
    AggregateStep,
    FunctorStep,
    NegationStep,
    SearchStep,
)
from lftj.explain.derivations.version import Version
from lftj.explain.derivations.ways import Branches, Step, Way
from lftj.program import (
    Apply,
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    Filter,
    FunctorCall,
    Ref,
    RuleVariable,
    bound_by,
    of_expressions,
    of_literal,
    shared,
)
from lftj.program.rewrites import Conjunct

Branch = tuple[Branches, list[CheckedLiteral]]
"""A conjunction, with the branches that it takes."""
Holds = Callable[[Sequence[CheckedLiteral]], bool]
"""A test of whether a conjunction has an assignment."""
_FEW = 8
"""Conjunctions up to which each is searched."""


def alternatives(
    literals: Sequence[CheckedLiteral],
) -> Iterator[Branch]:
    """The conjunctions that a body stands for, each with the branches that it takes."""
    yield from _combined(list(map(_ways, literals)))


def are_many(literals: Sequence[CheckedLiteral]) -> bool:
    """Test for a body that stands for more conjunctions than are searched one by one."""
    return prod(len(_ways(literal)) for literal in literals) > _FEW


def likely_alternatives(
    literals: Sequence[CheckedLiteral], holds: Holds, *, failing: bool = False
) -> Iterator[Branch]:
    """The same; where there would be many, of branches that hold with what else is known to. Where
    none of a disjunction does, that is all; with `failing`, the ways through the first such one.
    """
    ways = list(map(_ways, literals))
    if are_many(literals):
        known = [literal for (_, some), *others in ways if not others for literal in some]
        lost = False
        for place, some in enumerate(ways):
            if len(some) > 1:
                ways[place] = [each for each in some if holds([*known, *each[1]])]
                if not ways[place] and failing:
                    ways[place] = some[:1] if lost else some
                    lost = True
                elif len(ways[place]) == 1:
                    known += ways[place][0][1]
    yield from _combined(ways)


def _combined(ways: Sequence[Sequence[Branch]]) -> Iterator[Branch]:
    for chosen in product(*ways):
        branches = tuple(branch for taken, _ in chosen for branch in taken)
        yield branches, [each for _, some in chosen for each in some]


def _is_closed(literals: Sequence[CheckedLiteral], given: Collection[int]) -> bool:
    """Test that nothing but the given variables is asked of other literals."""
    asked = (
        shared(each)
        if isinstance(each, CheckedNegation | CheckedAggregate | CheckedDisjunction)
        else of_literal(each)
        for each in literals
    )
    return frozenset[int]().union(*asked) <= bound_by(literals, frozenset(given))


def _ways(literal: CheckedLiteral) -> list[Branch]:
    if not isinstance(literal, CheckedDisjunction):
        return [((), [literal])]
    return [
        ((number, *taken), some)
        for number, branch in enumerate(literal.branches)
        for taken, some in alternatives(branch.literals)
    ]


class Conjunction(Way):
    """One way to satisfy a body, made of its literals: what binds comes before what needs it."""

    def __init__(
        self,
        literals: Iterable[CheckedLiteral],
        variables: list[RuleVariable],
        given: tuple[int, ...],
        branches: Branches = (),
    ):
        """`variables` grows by those of computed arguments."""
        plain = [each for literal in literals for each in _plain(literal, variables)]
        super().__init__(plain, variables, given, branches)
        waiting = list(dict.fromkeys(map(_as_test, plain)))
        while waiting:
            left = self._decide(self._search(waiting))
            assert len(left) < len(waiting), f"nothing binds the variables of {left}"
            waiting = left

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────
    def _search(self, waiting: list[CheckedLiteral]) -> list[CheckedLiteral]:
        """Search what does not wait for a result that is not known yet; the literals left."""
        reach = self._reach(waiting)
        found = [each for each in waiting if _is_plain(each) and of_literal(each) <= reach]
        conjunct = Conjunct()
        for each in found:
            if isinstance(each, CheckedNegation):
                (atom,) = each.block.literals
                assert isinstance(atom, CheckedAtom)
                conjunct.negated.append(atom)
            elif isinstance(each, Filter) and each.operator != "=":
                conjunct.filters.append(each)
            else:
                conjunct.positive.append(each)
        if found:
            search = Search(conjunct, self.variables, self.bound)
            self._steps.append(SearchStep(search))
            self.bound = search.bound
        return [each for each in waiting if each not in found]

    def _reach(self, waiting: list[CheckedLiteral]) -> frozenset[int]:
        """The variables that the next search binds. It leaves atoms that a result will be looked up
        in for later, if the functor or aggregate has its arguments without them.
        """
        plain = [each for each in waiting if _is_plain(each)]
        calls = [each for each in waiting if not _is_plain(each)]
        unknown = {getattr(each, "result", None) for each in calls} - {None, *self.bound}
        equations = [each for each in plain if isinstance(each, Filter) and each.operator == "="]
        for each in [each for each in equations if of_literal(each) & unknown]:
            unknown |= of_literal(each) - set(self.bound)
        atoms = [each for each in plain if isinstance(each, CheckedAtom)]
        apart = [each for each in atoms if not of_literal(each) & unknown]
        reach = frozenset[int]()
        for some in (apart, atoms):
            reach = bound_by([*some, *equations], frozenset(self.bound))
            if any(inputs_of(call) <= reach for call in calls):
                break
        return reach

    def _decide(self, waiting: list[CheckedLiteral]) -> list[CheckedLiteral]:
        """Decide what can be decided of the variables bound so far; the literals left."""
        left: list[CheckedLiteral] = []
        for each in waiting:
            if _is_plain(each) or not inputs_of(each) <= set(self.bound):
                left.append(each)
                continue
            self._steps.append(self._inner(each))
            result = getattr(each, "result", None)
            if result is not None and result not in self.bound:
                self.bound = (*self.bound, result)
        return left

    def _inner(self, literal: CheckedLiteral) -> Step:
        match literal:
            case FunctorCall():
                return FunctorStep(literal, self.bound)
            case CheckedNegation(block=block):
                return NegationStep(self.inside(block), self.bound)
            case CheckedAggregate():
                return AggregateStep(literal, self.of_aggregate(literal), self.bound)
        raise AssertionError(f"{literal} is no inner body")

    def inside(self, block: Block, also: Sequence[CheckedLiteral] = ()) -> list[Conjunction]:
        """The ways to satisfy an inner body whose outer variables are bound."""
        literals = [*block.literals, *also]
        own = frozenset().union(*map(of_literal, literals)) - block.local
        given = tuple(variable for variable in self.bound if variable in own)
        return [
            Conjunction(some, self.variables, given, branches)
            for branches, some in alternatives(literals)
        ]

    def of_aggregate(self, literal: CheckedAggregate) -> list[Conjunction]:
        """See `Way`."""
        return self.inside(literal.block)


def satisfiable(
    variables: list[RuleVariable],
    given: tuple[int, ...],
    ties: Sequence[CheckedLiteral],
    version: Version,
    rows: Rows,
) -> Holds:
    """A test of whether a conjunction has an assignment, with more literals and rows of given
    values. One that needs what others bind, or fails to have a value, may have one.
    """

    def holds(some: Sequence[CheckedLiteral]) -> bool:
        literals = [*some, *ties]
        if not _is_closed(literals, given):
            return True
        try:
            found = Conjunction(literals, variables, given).run(version, rows)
            return any(piece.shape[1] for piece in found)
        except (ValueRangeError, ValueTypeError):
            return True

    return holds


def _as_test(literal: CheckedLiteral) -> CheckedLiteral:
    """The negation of one comparison as the opposite one: what it rejects must not be computed
    with before.
    """
    match literal:
        case CheckedNegation(Block((Filter() as test,), local)) if not local:
            return test.opposite
    return literal


def _is_plain(literal: CheckedLiteral) -> bool:
    """True for what a search can do."""
    if isinstance(literal, CheckedNegation):
        inner = literal.block.literals
        return not literal.block.local and len(inner) == 1 and isinstance(inner[0], CheckedAtom)
    return isinstance(literal, CheckedAtom | Filter)


def inputs_of(literal: CheckedLiteral) -> frozenset[int]:
    """The variables that must be bound before a literal is decided."""
    match literal:
        case FunctorCall():
            return of_expressions(literal.args)
        case CheckedNegation():
            return of_literal(literal) - literal.block.local
        case CheckedAggregate():
            return of_literal(literal) - literal.block.local - {literal.result}
    return frozenset()


def _plain(literal: CheckedLiteral, variables: list[RuleVariable]) -> Iterator[CheckedLiteral]:
    """The literal with variables for computed arguments, and equations for these."""
    match literal:
        case CheckedAtom():
            yield from _with_equations(literal, variables)
        case CheckedNegation(block=Block(literals=(CheckedAtom() as atom,), local=local)) if (
            not local
        ):
            *equations, made = _with_equations(atom, variables)
            yield from equations
            yield CheckedNegation(Block((made,)))
        case FunctorCall() if any(isinstance(arg, Apply) for arg in literal.args):
            *equations, made = _with_equations(CheckedAtom("", literal.args), variables)
            yield from equations
            assert isinstance(made, CheckedAtom)
            yield replace(literal, args=made.args)
        case CheckedChoice():
            raise AssertionError("choices are read as relations")
        case _:
            yield literal


def _with_equations(atom: CheckedAtom, variables: list[RuleVariable]) -> Iterator[CheckedLiteral]:
    args = list(atom.args)
    for place, arg in enumerate(args):
        if isinstance(arg, Apply):
            variables.append(RuleVariable("_", arg.type))
            args[place] = Ref(len(variables) - 1)
            yield Filter("=", Ref(len(variables) - 1), arg)
    yield CheckedAtom(atom.relation, tuple(args))
