# SPDX-License-Identifier: Apache-2.0
"""Relations of a cycle that keep the least or greatest value of each group: shortest paths, widest
paths, least labels.

`min` and `max` are joins of a lattice, so a cycle may go through them where a better value never
takes back what a worse one derived. Everything that has such a value in it moves one way while the
cycle is computed: down from a `min`, up from a `max`. Sums, minima and products with a constant
pass the direction on; a comparison must become true rather than false; a head must expect the
direction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal

from lftj.functions import OPERATORS
from lftj.functions.aggregates import AGGREGATES
from lftj.program.hidden import explain_hidden, of_aggregate, of_question
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    Filter,
    FunctorRule,
    NormalRule,
    Ref,
    Value,
    type_of,
)
from lftj.scantree.frozen import frozen
from lftj.types.sources import is_hidden

FUNCTIONS = {name: each.direction for name, each in AGGREGATES.items() if each.direction}
"""The aggregates that a cycle may go through, with the direction in which their values move."""


@frozen(slots=True)
class Lattice:
    """Every rule of the relation has the aggregate `function` in column `column`; the other columns
    are the group.

    `riding`: but for so many at the end, in which a value brings along what is said with it.
    """

    column: int
    function: str
    riding: int = 0

    @property
    def direction(self) -> int:
        """-1 where values fall, 1 where they rise."""
        return FUNCTIONS[self.function]

    def group(self, arity: int) -> tuple[int, ...]:
        """The columns of the group, of so many in all."""
        return tuple(column for column in range(arity - self.riding) if column != self.column)


@frozen(slots=True)
class Misuse:
    """Misuse in `rule`: the value of `relation` called `name` ("": it has no name) stands in `use`.
    `remedy`: what to write instead.
    """

    rule: NormalRule
    relation: str
    name: str
    use: str
    remedy: str


def lattices(rules: Iterable[NormalRule | FunctorRule]) -> dict[str, Lattice]:
    """Find the relations of a recursive stratum with these rules that keep one value per group.
    O(rules).
    """
    found: dict[str, set[Lattice | None]] = {}
    for rule in rules:
        found.setdefault(rule.relation, set()).add(_lattice(rule))
    same = (
        (name, next(iter(kinds)))
        for name, kinds in found.items()
        if len(kinds) == 1 and not is_hidden(name)
    )
    return {name: lattice for name, lattice in same if lattice is not None}


def _lattice(rule: NormalRule | FunctorRule) -> Lattice | None:
    head = [] if isinstance(rule, FunctorRule) else rule.head
    calls = [
        (column, term.function)
        for column, term in enumerate(head)
        if isinstance(term, AggregateTerm)
    ]
    return Lattice(*calls[0]) if len(calls) == 1 and calls[0][1] in FUNCTIONS else None


def misuses(rules: Iterable[NormalRule | FunctorRule], members: Collection[str]) -> list[Misuse]:
    """The first misuse of each rule of a recursive stratum whose relations are `members`. Linear in
    the size of the rules.
    """
    known = lattices(rules)
    each = (
        next(_Uses(rule, known).wrong(), None)
        for rule in rules
        if isinstance(rule, NormalRule) and rule.relation in members
    )
    return [misuse for misuse in each if misuse is not None] if known else []


def least_of_absent(rules: Iterable[NormalRule | FunctorRule]) -> Iterator[NormalRule]:
    """Yield the rules for a `min` of values that may be NULL. O(rules)."""
    for rule in rules:
        if isinstance(rule, NormalRule) and (lattice := _lattice(rule)) and lattice.direction < 0:
            term = rule.head[lattice.column]
            assert isinstance(term, AggregateTerm)
            if type_of(term.args[0], rule.variables).optional:
                yield rule


class _UnfitError(Exception):
    """An operator is applied to a moving value in a way that moves no way at all."""


class _Uses:
    """The directions of one rule's variables: 0 for what is known before the cycle begins."""

    def __init__(self, rule: NormalRule, known: Mapping[str, Lattice]):
        self.rule = rule
        self.known = known
        self.assigned = {each.variable: each.expression for each in rule.assignments}
        self.bound: dict[int, int] = {}  # how often atoms have a variable
        self.directions: dict[int, int] = {}
        self.sources: dict[int, str] = {}
        for atom in rule.atoms:
            for column, term in enumerate(atom.args):
                if isinstance(term, Ref):
                    self.bound[term.variable] = self.bound.get(term.variable, 0) + 1
                    lattice = known.get(atom.relation)
                    if lattice is not None and lattice.column == column:
                        self.directions[term.variable] = lattice.direction
                        self.sources[term.variable] = atom.relation

    def wrong(self) -> Iterator[Misuse]:
        """Misuses in the rule, by the order of its parts."""
        yield from self._constants()
        try:
            for each in self.rule.assignments:
                moves = self.direction(each.expression)
                if each.variable in self.bound and (moves or self.directions.get(each.variable)):
                    yield self._misuse(
                        (Ref(each.variable), each.expression),
                        "an equation with another value",
                        _KEEP_ORDER,
                    )
        except _UnfitError as unfit:
            yield self._misuse(unfit.args[1], unfit.args[0], _instead(unfit.args[0]))
            return
        yield from self._joins()
        yield from self._tests()
        yield from self._head()

    # ── places ────────────────────────────────────────────────────────────────────────────────────
    def _constants(self) -> Iterator[Misuse]:
        for atom in self.rule.atoms:
            lattice = self.known.get(atom.relation)
            if lattice is not None and isinstance(atom.args[lattice.column], Value):
                yield Misuse(
                    self.rule, atom.relation, "", "an equation with a constant", _KEEP_ORDER
                )

    def _joins(self) -> Iterator[Misuse]:
        for variable, times in self.bound.items():
            if times > 1 and variable in self.sources:
                yield self._misuse((Ref(variable),), self._join(variable), _AFTERWARDS)
        for atom in self.rule.negated:
            if any(isinstance(term, Ref) and self.direction(term) for term in atom.args):
                yield self._misuse(
                    tuple(term for term in atom.args if term is not None), "a negation", _AFTERWARDS
                )

    def _join(self, variable: int) -> str:
        """The words for a join by this variable."""
        partners = [atom.relation for atom in self.rule.atoms if Ref(variable) in atom.args]
        if any(of_question(name) or of_aggregate(name) for name in partners):
            return "what an aggregate or a negation is asked for"
        return "a join with another column"

    def _tests(self) -> Iterator[Misuse]:
        for test in self.rule.filters:
            try:
                left, right = self.direction(test.left), self.direction(test.right)
            except _UnfitError as unfit:
                yield self._misuse(unfit.args[1], unfit.args[0], _instead(unfit.args[0]))
                continue
            if not _becomes_true(test, left, right):
                yield self._misuse(
                    (test.left, test.right),
                    f"a comparison by `{test.operator}` that a better value makes false",
                    _KEEP_ORDER,
                )

    def _head(self) -> Iterator[Misuse]:
        lattice = self.known.get(self.rule.relation)
        for column, term in enumerate(self.rule.head):
            if isinstance(term, Ref) and self.direction(term):
                place = (
                    f"`{self.rule.relation}`, which does not take the `{self._function(term)}` "
                    f"there"
                )
                hidden = is_hidden(self.rule.relation)
                use = (
                    f"column {column + 1} of "
                    f"{explain_hidden(self.rule.relation) if hidden else place}"
                )
                yield self._misuse((term,), use, _BRANCHES if hidden else _IN_HEADS)
            elif (
                isinstance(term, AggregateTerm)
                and lattice is not None
                and self.direction(term.args[0]) not in (0, lattice.direction)
            ):
                turned = (
                    ", turned round on the way"
                    if self._function(term.args[0]) == lattice.function
                    else ""
                )
                yield self._misuse(
                    term.args,
                    f"the `{lattice.function}` of `{self.rule.relation}`{turned}",
                    _OTHER_WAY,
                )

    # ── directions ────────────────────────────────────────────────────────────────────────────────
    def direction(self, expression: Expression) -> int:
        """Direction in which the value moves while the cycle is computed. Raises _UnfitError(use,
        expressions).
        """
        match expression:
            case Value():
                return 0
            case Ref(variable=variable):
                if variable not in self.directions:
                    self.directions[variable] = 0  # what goes round in a circle is bound by an atom
                    if variable not in self.bound and variable in self.assigned:
                        self.directions[variable] = self.direction(self.assigned[variable])
                return self.directions[variable]
        moves = [self.direction(arg) for arg in expression.args]
        if not any(moves):
            return 0
        ways = (
            {move * slope for move, slope in zip(moves, _slopes(expression), strict=True)} - {0}
            if _slopes(expression)
            else set()
        )
        if len(ways) != 1:
            raise _UnfitError(f"an argument of `{expression.operator}`", expression.args)
        return ways.pop()

    # ── words ─────────────────────────────────────────────────────────────────────────────────────
    def _misuse(self, expressions: Iterable[Expression], use: str, remedy: str) -> Misuse:
        """About the value in these expressions that moves."""
        origin = next(
            variable for variable in self._variables(expressions) if variable in self.sources
        )
        variable = self.rule.variables[origin]
        name = "" if variable.is_made else variable.name
        return Misuse(self.rule, self.sources[origin], name, use, remedy)

    def _function(self, term: Ref) -> str:
        origin = next(variable for variable in self._variables((term,)) if variable in self.sources)
        return self.known[self.sources[origin]].function

    def _variables(self, expressions: Iterable[Expression]) -> Iterator[int]:
        """The variables of expressions, and those that they are computed from."""
        waiting, seen = list(expressions)[::-1], set[int]()
        while waiting:
            match waiting.pop():
                case Ref(variable=variable) if variable not in seen:
                    seen.add(variable)
                    yield variable
                    waiting += [self.assigned[variable]] if variable in self.assigned else []
                case Apply(args=args):
                    waiting += args[::-1]


def _instead(use: str) -> str:
    """The remedy for an operator that keeps no order."""
    return f"{_OPERATORS}; {_PRODUCTS}" if use.endswith("`*`") else _OPERATORS


def _slopes(expression: Apply) -> tuple[int, ...]:
    """Factors by which the result moves with each argument; () for an operator that keeps no
    order.
    """
    operator = OPERATORS.get(expression.operator)
    if operator is not None and operator.alike:
        return (1,) * len(expression.args)
    if expression.operator in ("*", "/"):
        left, right = map(_sign, expression.args)
        if expression.operator == "*" and left:
            return (left, left)
        return (
            (right, right)
            if right and not (expression.operator == "/" and _zero(expression.args[1]))
            else ()
        )
    return () if operator is None else operator.slopes


def _sign(expression: Expression) -> int:
    """1 for a constant that is not negative, -1 for a negative one, 0 for anything else."""
    number = expression.value if isinstance(expression, Value) else None
    return 0 if not isinstance(number, int | float | Decimal) else 1 if number >= 0 else -1


def _zero(expression: Expression) -> bool:
    return isinstance(expression, Value) and not expression.value


def _becomes_true(test: Filter, left: int, right: int) -> bool:
    """Check that a test that holds is still true after its sides moved on."""
    if test.operator in ("<", "<="):
        return left <= 0 <= right
    if test.operator in (">", ">="):
        return right <= 0 <= left
    return left == right == 0


_FINISHED = "in a rule that the cycle does not read, so that it sees the finished relation"
_KEEP_ORDER = (
    f"compare a min by < or <= and a max by > or >= with a value from outside the cycle, or "
    f"test it {_FINISHED}"
)
_OPERATORS = (
    "the value may be copied, added to, multiplied or divided by a constant, and go into min(…) "
    "and max(…) with values from outside the "
    f"cycle; compute anything else {_FINISHED}"
)
_PRODUCTS = (
    "add logarithms, max(l + ln(r)), where factors are positive; or let an aggregate of your own "
    "add up, where no group depends on itself"
)
_AFTERWARDS = f"join with it {_FINISHED}"
_IN_HEADS = (
    f"aggregate it in that head too, in every rule of the relation, leave it out, or copy it "
    f"{_FINISHED}"
)
_BRANCHES = (
    f"write a rule for each branch of `( … ; … )`, and anything else with the value {_FINISHED}"
)
_OTHER_WAY = (
    f"take a min of a min and a max of a max, the other way round after negating or "
    f"subtracting it, or do it {_FINISHED}"
)
