# SPDX-License-Identifier: Apache-2.0
"""NULL in rules: what is said of it becomes tests of codes, which all later passes take for any
other comparison.

NULL is the least code of an optional column. A variable in two places that constrain it (arguments
of positive atoms, sides of `=`) is never NULL, and no comparison holds of NULL. So `v > NULL` is
added where a variable that may be NULL stands in two such places, or is compared. What is left may
be NULL, and its type is optional. A body inside another one has tests of its own: `!( s(y) )` holds
where y is NULL, since no row of `s` is equal to it then. [Decision 117]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lftj.errors import LftjError, TypeClashError, ValueRangeError
from lftj.functions.aggregates import COUNTING, EXTREMES
from lftj.functions.nulls import NO_NULL
from lftj.program.bindings import NONE, Variables, bound_by, of_expressions
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    CheckedRule,
    FunctorCall,
)
from lftj.program.checks.null_places import Around, Places, may_have_code, others_of
from lftj.program.checks.null_terms import (
    Terms,
    absent_test,
    every_literal,
    gives_null,
    may_be_null,
    there,
)
from lftj.program.checks.null_tests import BodyTests, of_null
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable, Value, type_of
from lftj.program.schema import UNKNOWN, Catalog
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.conditionals import is_made
from lftj.types import INT64_MIN, Type, code_of

_FALSE = CheckedDisjunction(())
_REMEDY = "leave NULL out with !is_null(…), give a value with coalesce(…, …)"


def with_null_tests(rule: CheckedRule, catalog: Catalog) -> tuple[CheckedRule, list[LftjError]]:
    """The rule with tests of codes for what it says of NULL, and optional types of what may be
    NULL; or E134 for a column that does not take that. O(size of the rule · depth).
    """
    if not _concerns_null(
        (*rule.body.literals, *(h for each in rule.heads for h in each.literals)),
        rule.heads,
        catalog,
    ):
        return rule, []
    return _Rule(rule, catalog).checked()


def _concerns_null(
    literals: Iterable[CheckedLiteral], heads: Iterable[CheckedHead], catalog: Catalog
) -> bool:
    waiting, names = list(literals), {head.relation for head in heads}
    while waiting:
        match waiting.pop():
            case CheckedAtom(relation=relation):
                names.add(relation)
            case Filter() as test if absent_test(test) is not None:
                return True
            case FunctorCall() as call if gives_null(call, ()):
                return True
            case CheckedNegation(block=block) | CheckedAggregate(block=block):
                waiting += block.literals
            case CheckedDisjunction(branches=branches):
                waiting += [each for branch in branches for each in branch.literals]
    known = [catalog.relations[name] for name in names if name in catalog.relations]
    return any(type.optional for schema in known for _, type in schema.columns)


@frozen(slots=True)
class _Read:
    """A body with its tests, and what is known once it holds. `absent`: variables that it binds,
    and that may be NULL.
    """

    literals: tuple[CheckedLiteral, ...]
    around: Around
    absent: Variables


class _Rule:
    """One rule."""

    def __init__(self, rule: CheckedRule, catalog: Catalog):
        self._rule, self._catalog = rule, catalog
        self._variables = list(rule.variables)
        self._absent: set[int] = set()
        self._lifting: set[int] = set()
        self._errors: list[LftjError] = []

    def checked(self) -> tuple[CheckedRule, list[LftjError]]:
        """The rule with tests, or the problems with it."""
        body = self._read(self._rule.body.literals, Around())
        heads = [
            (head, self._read(head.literals, body.around, body.absent)) for head in self._rule.heads
        ]
        self._variables = [
            replace(each, type=each.type.or_null) if number in self._absent else each
            for number, each in enumerate(self._variables)
        ]
        self._terms = Terms(self._variables, self._lifted(body, [read for _, read in heads]))
        made = [
            self._head(head, read, source.args)
            for (head, read), source in zip(heads, self._rule.rule.heads, strict=True)
        ]
        if self._errors:
            return self._rule, self._errors
        literals = self._terms.literals(body.literals)
        rule = replace(
            self._rule,
            variables=tuple(self._variables),
            heads=tuple(made),
            body=replace(self._rule.body, literals=literals),
        )
        return rule, []

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────
    def _read(
        self,
        literals: Sequence[CheckedLiteral],
        around: Around,
        absent: Variables = NONE,
        final: bool = True,
    ) -> _Read:
        """A body with its tests. `absent`: variables of the same body that may be NULL already;
        `final`: what is found out is noted.
        """
        literals = [made for each in literals for made in self._split(each)]
        carried = self._carried(literals, around)
        places = Places(literals, self._catalog, carried)
        bound = bound_by(literals, around.bound)
        body = BodyTests(literals, carried, places, around, absent, self._inside)
        tests, null = body.found()
        guarded = of_expressions(each for each in tests if isinstance(each, Ref))
        own = (bound - around.bound) | absent
        absent = own & null - guarded
        valued = around.valued | guarded | (own - absent)
        typed = {each for each in own - absent if not may_have_code(self._type(Ref(each)))}
        here = Around(bound, valued, around.safe | guarded | typed | places.safe)
        made: list[CheckedLiteral] = [there(each, self._type(each)) for each in tests]
        for place, literal in enumerate(literals):
            others = others_of(literals, place, around)
            inside = replace(here, bound=bound_by(others, around.bound))
            made += self._literal(literal, inside, here, null - guarded, final)
        if final:
            self._absent |= absent
            self._lifting |= own & (null | places.optional)
        return _Read(tuple(made), here, absent)

    def _split(self, literal: CheckedLiteral) -> Iterator[CheckedLiteral]:
        """The literal, in which no computed value stands in an optional column, and `!is_null(x)`
        is one test.
        """
        match literal:
            case CheckedNegation(Block((Filter() as test,))) if absent_test(test) is not None:
                yield Filter("!=", test.left, test.right)
            case CheckedAtom(relation, args):
                made: list[Expression | None] = []
                columns = self._catalog.relations[relation].columns
                for arg, (_, type) in zip(args, columns, strict=True):
                    if isinstance(arg, Apply) and type.optional:
                        self._variables.append(RuleVariable("_", arg.type))
                        yield Filter("=", Ref(len(self._variables) - 1), arg)
                        arg = Ref(len(self._variables) - 1)
                    elif isinstance(arg, Value) and type.optional:
                        self._constant(arg, type)
                    made.append(arg)
                yield CheckedAtom(relation, tuple(made))
            case _:
                yield literal

    def _inside(self, literals: Sequence[CheckedLiteral], around: Around) -> _Read:
        """An inner body, of which nothing is noted yet."""
        return self._read(literals, around, final=False)

    def _carried(self, literals: Sequence[CheckedLiteral], around: Around) -> dict[Filter, int]:
        """The equations that carry a value, NULL or not, to a variable that nothing around binds:
        those of a conditional, and of the result of an aggregate.
        """
        found: dict[Filter, int] = {}
        results = {each.result for each in literals if isinstance(each, CheckedAggregate)}
        for literal in literals:
            match literal:
                case Filter("=", Ref(variable)) if is_made(self._variables[variable].name):
                    found[literal] = variable
                case Filter("=", Ref(one), Ref(other)) if (one in results) != (other in results):
                    variable = other if one in results else one
                    if variable not in around.bound:
                        found[literal] = variable
        return found

    # ── literals ──────────────────────────────────────────────────────────────────────────────────
    def _literal(
        self,
        literal: CheckedLiteral,
        others: Around,
        here: Around,
        null: Variables,
        final: bool,
    ) -> Iterator[CheckedLiteral]:
        term = absent_test(literal)
        match literal:
            case Filter("!=", _, Value(value=None)):
                pass  # said by the tests of the body
            case Filter() if term is not None:
                yield literal  # which binds the variable, even where it cannot be
                if not may_be_null(term, null):
                    yield _FALSE
            case CheckedNegation(block):
                yield from self._negation(block, here, final)
            case CheckedDisjunction(branches):
                yield CheckedDisjunction(tuple(self._block(b, others, final) for b in branches))
            case CheckedAggregate():
                yield self._aggregate(literal, others, final)
            case CheckedChoice(determining, determined):
                for each in (*determining, *determined):
                    if each.variable in null and final:
                        self._refuse(f"`{self._name(each)}` may be NULL, and is chosen by")
                yield literal
            case _:
                yield literal

    def _block(self, block: Block, around: Around, final: bool) -> Block:
        first = len(self._variables)
        read = self._read(block.literals, around, final=final)
        return Block(read.literals, block.local | frozenset(range(first, len(self._variables))))

    def _negation(self, block: Block, here: Around, final: bool) -> Iterator[CheckedLiteral]:
        """A negated body; of one test the branches in which it fails, so that it reads nothing."""
        made = self._block(block, here, final)
        if len(made.literals) > 1:
            made = self._named(made)
        *tests, last = made.literals or (_FALSE,)
        if made.local or not tests or not all(isinstance(each, Filter) for each in tests):
            yield CheckedNegation(made)
            return
        plain = [each for each in tests if isinstance(each, Filter)]
        match last:
            case Filter():
                failing: CheckedLiteral = last.opposite
            case FunctorCall(result=None):
                failing = CheckedNegation(Block((last,)))
            case _:
                yield CheckedNegation(made)
                return
        branches = [Block((each.opposite,)) for each in plain]
        yield CheckedDisjunction((*branches, Block((*plain, failing))))

    def _named(self, block: Block) -> Block:
        """A negated body in which columns that an atom says nothing of have variables: only an atom
        by itself is negated without them.
        """
        first = len(self._variables)
        literals: list[CheckedLiteral] = []
        for literal in block.literals:
            if isinstance(literal, CheckedAtom) and None in literal.args:
                args = list(literal.args)
                columns = self._catalog.relations[literal.relation].columns
                for place, (_, type) in enumerate(columns):
                    if args[place] is None:
                        args[place] = Ref(len(self._variables))
                        self._variables.append(RuleVariable("_", type))
                literal = replace(literal, args=tuple(args))
            literals.append(literal)
        made = range(first, len(self._variables))
        return Block(tuple(literals), block.local | frozenset(made))

    def _aggregate(
        self, literal: CheckedAggregate, others: Around, final: bool
    ) -> CheckedAggregate:
        first = len(self._variables)
        read = self._read(literal.block.literals, others, final=final)
        local = literal.block.local | frozenset(range(first, len(self._variables)))
        type = literal.type.or_null if of_null(literal, read.around) else literal.type
        return replace(literal, block=Block(read.literals, local), type=type)

    def _lifted(self, body: _Read, heads: Sequence[_Read]) -> Variables:
        """The variables that may have the code of NULL before all tests are made, with what is
        computed of them.
        """
        literals = list(every_literal((*body.literals, *(e for h in heads for e in h.literals))))
        found, size = set(self._lifting), -1
        while size != (size := len(found)):
            for literal in literals:
                match literal:
                    case Filter("=", left, right):
                        sides = ((left, right), (right, left))
                        found.update(
                            one.variable
                            for one, other in sides
                            if isinstance(one, Ref) and isinstance(other, Apply)
                            if may_be_null(other, found)
                        )
                    case FunctorCall(result=int() as result) if gives_null(literal, found):
                        found.add(result)
        return frozenset(found)

    # ── heads ─────────────────────────────────────────────────────────────────────────────────────
    def _head(self, head: CheckedHead, read: _Read, written: Sequence[tree.Term]) -> CheckedHead:
        columns = self._catalog.relations[head.relation].columns
        args: list[Expression | CheckedHeadAggregate] = []
        for place, (arg, (name, type)) in enumerate(zip(head.args, columns, strict=True)):
            known = len(self._errors)
            args.append(self._column(head.relation, name, type, arg, read))
            for error in self._errors[known:]:
                error.span = written[place].span
        return replace(head, args=tuple(args), literals=self._terms.literals(read.literals))

    def _column(
        self,
        relation: str,
        name: str,
        type: Type,
        arg: Expression | CheckedHeadAggregate,
        read: _Read,
    ) -> Expression | CheckedHeadAggregate:
        if isinstance(arg, CheckedHeadAggregate):
            args = tuple(self._terms.lifted(each) for each in arg.args)
            optional = any(may_be_null(each, self._absent) for each in arg.args)
            given = arg.type.or_null if optional and arg.function not in COUNTING else arg.type
            if type.optional and not optional and may_have_code(given):
                if arg.function in EXTREMES:
                    args = (self._without_code(args[0], read),)
                elif arg.function not in COUNTING:
                    given = given.or_null
            made: Expression | CheckedHeadAggregate = replace(arg, args=args, type=given)
        else:
            made = self._terms.lifted(arg)
            given = self._type(made).required
            given = given.or_null if may_be_null(arg, self._absent) else given
        if given.optional and not type.optional and type != UNKNOWN:
            self._refuse(
                f"column `{name}` of `{relation}` is {type}, and may be NULL here",
                hint=f"{_REMEDY}, or declare the column {type}?",
            )
        if given.optional or not type.optional or isinstance(made, CheckedHeadAggregate):
            return made
        if isinstance(made, Value):
            self._constant(made, type)
            return made
        return self._without_code(made, read)

    def _without_code(self, term: Expression, read: _Read) -> Expression:
        """A term without NULL for an optional column: it fails where its value has that code."""
        type = self._type(term)
        safe = isinstance(term, Ref) and term.variable in read.around.safe
        return term if safe or not may_have_code(type) else Apply(NO_NULL, (term,), type)

    # ── parts of these ────────────────────────────────────────────────────────────────────────────
    def _type(self, term: Expression) -> Type:
        return type_of(term, self._variables)

    def _name(self, ref: Ref) -> str:
        return self._variables[ref.variable].name

    def _constant(self, value: Value, type: Type) -> None:
        """Refuse the integer that stands for NULL."""
        if value.value == INT64_MIN and may_have_code(type.required):
            try:
                code_of(type, value.value)
            except ValueRangeError as error:
                self._errors.append(error)

    def _refuse(self, message: str, hint: str = _REMEDY) -> None:
        self._errors.append(TypeClashError(message, code="E134", hint=hint))
