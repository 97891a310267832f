# SPDX-License-Identifier: Apache-2.0
"""A rule of the user on its way to normal form: the program that passes rewrite.

A `RuleProgram` holds *definitions*, one for each relation that the rule defines: those of its heads
and hidden ones. A pass may define a hidden relation and read it at once under a placeholder. The
definition that was opened last is rewritten first, so a hidden relation is in normal form, and has
its name, before the body that reads it is gone on with. Two hidden relations with equal rules get
one name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from lftj.errors import DeclarationError, Span
from lftj.functions import functor_named
from lftj.program.arithmetic import may_have_no_quotient
from lftj.program.bindings import Variables, bound_by, of_expressions, relations_of, shared
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    CheckedRule,
    FunctorCall,
)
from lftj.program.hidden import UNITED, kind_of
from lftj.program.normal_form import (
    Apply,
    Expression,
    Filter,
    FunctorRule,
    NormalRule,
    Ref,
    RelationSchema,
    RuleVariable,
)
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.statistics_hints import Known
from lftj.scantree.frozen import frozen, record
from lftj.types import Type
from lftj.types.sources import HiddenName

MOST_ALTERNATIVES = 4096
"""Combinations of disjunction branches that one rule may have."""

_FEW = 8
"""Combinations of branches up to which a body is made of each. Beyond, disjunctions are hidden
relations, whose bodies are as many as their branches together.
"""

HeadTerm = Expression | CheckedHeadAggregate
Domains = tuple[tuple[int, ...], ...]
"""Choice domains, as a RelationSchema has them."""
Literals = tuple[CheckedLiteral, ...]
FALSE = CheckedDisjunction(())


def aggregates_in(head: Iterable[HeadTerm]) -> list[CheckedHeadAggregate]:
    """The aggregates of a head."""
    return [term for term in head if isinstance(term, CheckedHeadAggregate)]


def values_in(head: Iterable[HeadTerm]) -> list[Expression]:
    """The expressions of a head: its columns, and what its aggregates are of."""
    return [
        each
        for term in head
        for each in (term.args if isinstance(term, CheckedHeadAggregate) else (term,))
    ]


@frozen(slots=True)
class Body:
    """One conjunction of a definition: its plain literals sorted, and `pending` ones to look at."""

    pending: Literals
    conjunct: Conjunct = field(default_factory=Conjunct)

    @property
    def is_plain(self) -> bool:
        """True when nothing is left to rewrite."""
        return all(map(is_plain, self.pending))

    def sorted(self) -> tuple[Conjunct, list[CheckedLiteral]]:
        """All plain literals as one conjunction, and the nested ones."""
        conjunct, nested = self.conjunct.copy(), list[CheckedLiteral]()
        for literal in self.pending:
            match literal:
                case CheckedDisjunction() | CheckedAggregate() | FunctorCall():
                    nested.append(literal)
                case CheckedNegation(
                    block=Block(literals=(CheckedAtom() as atom,), local=local)
                ) if not local:
                    conjunct.negated.append(atom)
                case Filter() if literal.operator != "=":
                    conjunct.filters.append(literal)
                case CheckedAtom() | Filter():
                    conjunct.positive.append(literal)
                case other:
                    nested.append(other)
        return conjunct, nested


@frozen(slots=True)
class Definition:
    """A relation that the rule defines: one rule for each body.

    `relation` is the user's, or a placeholder, where `kind` tells what it stands for. `waiting`:
    bodies with something to rewrite; `finished`: the others. `single`: one conjunction is wanted,
    since the head counts assignments. `aggregate`: the body aggregate that it computes.
    `eliminates`: variables may be eliminated; `whole`: independent parts were not looked
    for yet. `asked_by`: the relation whose rows it has instead of rules (`RelationSchema`).
    """

    head: tuple[HeadTerm, ...]
    relation: str = ""
    kind: str = ""
    waiting: tuple[Body, ...] = ()
    finished: tuple[Conjunct, ...] = ()
    single: bool = False
    choice: Domains = ()
    functor: FunctorRule | None = None
    aggregate: CheckedAggregate | None = None
    eliminates: bool = True
    whole: bool = True
    asked_by: str = ""

    @property
    def joins(self) -> bool:
        """Test for rows that its bodies alone decide, which neither a functor computes, nor a
        choice takes, nor another relation has.
        """
        return self.functor is None and not self.choice and not self.asked_by

    def advanced(self) -> Definition:
        """Move the bodies that nothing is left to rewrite in to the finished ones."""
        waiting, finished = self.waiting, list[Conjunct]()
        while waiting and waiting[0].is_plain:
            finished.append(waiting[0].sorted()[0])
            waiting = waiting[1:]
        if not finished:
            return self
        return replace(self, waiting=waiting, finished=(*self.finished, *finished))


class Current(NamedTuple):
    """The body that is rewritten now: its plain literals, and the nested ones. `multiplies`: its
    disjunctions would make many bodies of it.
    """

    definition: Definition
    body: Body
    conjunct: Conjunct
    nested: list[CheckedLiteral]
    multiplies: bool

    def next(self) -> CheckedLiteral:
        """The literal to rewrite now.

        First come disjunctions that become part of the body, so that what comes after sees all of
        its comparisons. Then what has its inputs bound: predicates before others, so that nothing
        is computed for what they reject, and functors that fail last.
        """
        for literal in self.nested:
            if isinstance(literal, CheckedDisjunction) and (
                len(literal.branches) <= 1 or not (self.definition.single or self.multiplies)
            ):
                return literal
        bound = self.conjunct.bound()
        ready = [literal for literal in self.nested if _is_ready(literal, bound)]
        assert ready, "the checks admitted a rule with unbound variables"
        return min(ready, key=_turn)


@record
class RuleProgram:
    """The definitions of one rule. A pass changes a copy, never the program that it is given.

    `heads` and `body` are those of the rule while they are no definitions. `cyclic`: relations that
    a hidden one had better not read, the heads and what depends on them; `avoid`: those that no
    part of a body is taken out with. `asked`: for the atoms of functors what holds wherever they
    do. `depth`: how many definitions were open before the pass that is at work. `names`: of
    placeholders; `counts`: of names by kind.
    """

    source: int
    span: Span | None
    known: Known
    taken: Collection[str]
    avoid: frozenset[str]
    targets: frozenset[str]
    cyclic: set[str]
    variables: list[RuleVariable]
    heads: tuple[CheckedHead, ...]
    body: Literals
    open: list[Definition] = field(default_factory=list)
    rules: list[NormalRule | FunctorRule] = field(default_factory=list)
    hidden_rules: list[NormalRule | FunctorRule] = field(default_factory=list)
    schemas: list[RelationSchema] = field(default_factory=list)
    depth: int = 0
    names: dict[str, str | None] = field(default_factory=dict)
    asked: dict[CheckedLiteral, frozenset[CheckedLiteral]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    known_rules: dict[tuple[object, ...], str] = field(default_factory=dict)

    @staticmethod
    def of(
        rule: CheckedRule,
        source: int,
        known: Known,
        cycle: Collection[str] = (),
        taken: Collection[str] = (),
    ) -> RuleProgram:
        """The rule as it was checked. See `pipeline.normalize` for the arguments."""
        targets = frozenset(head.relation for head in rule.heads)
        choosing = [name for name in targets if known.chooses(name)]
        return RuleProgram(
            source,
            rule.rule.span,
            known,
            taken,
            frozenset((*cycle, *choosing)),
            targets,
            {*targets, *cycle},
            list(rule.variables),
            rule.heads,
            rule.body.literals,
        )

    def copy(self) -> RuleProgram:
        """One that can be changed."""
        return replace(
            self,
            depth=len(self.open),
            cyclic=self.cyclic.copy(),
            variables=self.variables.copy(),
            open=[*self.open[:-1], self.top] if self.top is not None else [],
            rules=self.rules.copy(),
            hidden_rules=self.hidden_rules.copy(),
            schemas=self.schemas.copy(),
            names=self.names.copy(),
            counts=self.counts.copy(),
            asked=self.asked.copy(),
            known_rules=self.known_rules.copy(),
        )

    @property
    def is_done(self) -> bool:
        """Every definition is in normal form."""
        return not self.open and not self.heads

    # ── what is rewritten now ─────────────────────────────────────────────────────────────────────
    @cached_property
    def top(self) -> Definition | None:
        """The definition that is worked at: the one that was opened last."""
        return self.open[-1].advanced() if self.open else None

    @cached_property
    def current(self) -> Current | None:
        """The body to rewrite; None where the definition that was opened last has none."""
        definition = self.top
        if definition is None or not definition.waiting:
            return None
        conjunct, nested = definition.waiting[0].sorted()
        literals = (*nested, *conjunct.positive)
        multiplies = _combinations(literals) > _FEW and not relations_of(literals) & self.cyclic
        return Current(definition, definition.waiting[0], conjunct, nested, multiplies)

    @cached_property
    def next(self) -> CheckedLiteral | None:
        """The nested literal to rewrite, if there is one."""
        return self.current.next() if self.current is not None and self.current.nested else None

    @property
    def finished(self) -> Definition | None:
        """The definition that was opened last, where all of its bodies are plain conjunctions."""
        return None if self.top is None or self.top.waiting else self.top

    # ── changes, to a copy ────────────────────────────────────────────────────────────────────────
    def replace_top(self, **fields: Any) -> None:
        """Change fields of the definition that is worked at."""
        self.open[self.depth - 1] = replace(self.open[self.depth - 1], **fields)

    def replace_body(self, bodies: Iterable[Body]) -> None:
        """Put others in place of the current body. Raises DeclarationError (E166) for too many."""
        top = self.open[self.depth - 1]
        top = replace(top, waiting=(*bodies, *top.waiting[1:]))
        if len(top.waiting) + len(top.finished) > MOST_ALTERNATIVES:
            hint = "move some of the disjunctions into relations of their own"
            message = (
                f"the disjunctions of this rule have more than {MOST_ALTERNATIVES} combinations"
            )
            raise DeclarationError(message, code="E166", span=self.span, hint=hint)
        self.open[self.depth - 1] = top

    def replace_literal(self, current: Current, alternatives: Iterable[Literals]) -> None:
        """Put alternatives in place of the current body's next literal."""
        literal = current.next()
        rest = [each for each in current.nested if each is not literal]
        self.replace_body(Body((*each, *rest), current.conjunct) for each in alternatives)

    def replace_reader(self, relation: str, reading: Callable[[CheckedAtom], Literals]) -> None:
        """Put other literals in place of the atom that reads the definition opened last, in the
        body that this was made from.
        """
        place = self.depth - 2
        top = self.open[place]
        pending = [
            made
            for each in top.waiting[0].pending
            for made in (
                reading(each)
                if isinstance(each, CheckedAtom) and each.relation == relation
                else (each,)
            )
        ]
        body = replace(top.waiting[0], pending=tuple(pending))
        self.open[place] = replace(top, waiting=(body, *top.waiting[1:]))

    def define(self, kind: str, definition: Definition) -> str:
        """Open the definition of a hidden relation; returns its placeholder. Those that one pass
        opens come to their end in this order.
        """
        name = HiddenName(self.source, kind, -1 - len(self.names))
        self.names[name] = name
        self.open.insert(self.depth, replace(definition, relation=name, kind=kind))
        return name

    def define_by(self, kind: str, head: Sequence[HeadTerm], conjunct: Conjunct) -> str:
        """The same for the hidden relation `kind(head) :- conjunct`."""
        return self.define(kind, Definition(tuple(head), finished=(conjunct,)))

    def new_variable(self, type: Type) -> Ref:
        """One more variable."""
        self.variables.append(RuleVariable("_", type))
        return Ref(len(self.variables) - 1)


class Copied:
    """A program that is copied when it is first to be changed."""

    def __init__(self, program: RuleProgram):
        self.program = program
        self._draft: RuleProgram | None = None

    @property
    def draft(self) -> RuleProgram:
        """The copy."""
        if self._draft is None:
            self._draft = self.program.copy()
        return self._draft


def _combinations(literals: Iterable[CheckedLiteral]) -> int:
    """The bodies that disjunctions would make of one; those that are hidden relations by now have
    been two each.
    """
    found = 1
    for each in literals:
        if isinstance(each, CheckedDisjunction):
            found *= sum(_combinations(branch.literals) for branch in each.branches)
        elif isinstance(each, CheckedAtom) and kind_of(each.relation) == UNITED:
            found *= 2
    return found


def _turn(literal: CheckedLiteral) -> int:
    if isinstance(literal, FunctorCall) and literal.result is None:
        return 0
    return 2 if fails(literal) else 1


def fails(literal: CheckedLiteral) -> bool:
    """Test for a functor that has no value for some arguments, or an inner body with such a one."""
    match literal:
        case FunctorCall(functor, result=int()):
            return functor_named(functor).partial
        case CheckedAggregate(args=args, block=block):
            return any(map(may_have_no_quotient, args)) or any(map(_fails_inside, block.literals))
        case CheckedNegation(block):
            return any(map(_fails_inside, block.literals))
    return False


def _fails_inside(literal: CheckedLiteral) -> bool:
    match literal:
        case Filter():
            return may_have_no_quotient(literal.left) or may_have_no_quotient(literal.right)
        case CheckedDisjunction(branches):
            return any(_fails_inside(each) for branch in branches for each in branch.literals)
    return fails(literal)


def _is_ready(literal: CheckedLiteral, bound: Variables) -> bool:
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


def is_plain(literal: CheckedLiteral) -> bool:
    """True for what a conjunction may hold: an atom of variables and constants, negated or not, or
    a comparison.
    """
    match literal:
        case CheckedNegation(block=Block(literals=(CheckedAtom() as atom,), local=local)):
            return not local and is_plain(atom)
        case CheckedAtom(args=args):
            return not any(isinstance(arg, Apply) for arg in args)
    return isinstance(literal, Filter)
