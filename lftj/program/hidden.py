"""The hidden relations of one user's rule: their names, schemas and rules. Two that would have the
same rules are one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from lftj.errors import DeclarationError, Span
from lftj.program.checked import CheckedAtom
from lftj.program.conjunct import Conjunct, HeadTerm, RuleMaker
from lftj.program.independent_parts import IndependentParts
from lftj.program.normal_form import (
    AggregateTerm,
    Expression,
    Filter,
    FunctorRule,
    NormalRule,
    Ref,
    RelationSchema,
    RuleVariable,
)
from lftj.program.schema import MOST_COLUMNS
from lftj.program.statistics_hints import NOTHING, Known
from lftj.types import Type

Domains = tuple[tuple[int, ...], ...]
"""Choice domains, as a RelationSchema has them."""


class HiddenRelations:
    """Makes hidden relations `rule7#not1`, `rule7#count1`, …, but for names that are `taken`;
    `schemas` and `rules` are what was made.
    """

    def __init__(
        self,
        source: int,
        span: Span | None,
        known: Known = NOTHING,
        avoid: Collection[str] = (),
        taken: Collection[str] = (),
    ):
        """`avoid`: relations that no part of a body is taken out with (`independent_parts`)."""
        self.source = source
        self._taken = taken
        self._known_relations, self._avoid = known, avoid
        self.schemas: list[RelationSchema] = []
        self.rules: list[NormalRule | FunctorRule] = []
        self._span = span
        self._known: dict[tuple[object, ...], str] = {}
        self._made: dict[str, int] = {}

    def define(
        self,
        kind: str,
        head: Sequence[HeadTerm],
        conjuncts: Sequence[Conjunct],
        variables: Sequence[RuleVariable],
        choice: Domains = (),
    ) -> str | None:
        """The relation `kind(head) :- conjuncts`, one rule for each; None when there are none, so
        that it is empty for ever.
        """
        rules = list(dict.fromkeys(self.rule(each, "", head, variables) for each in conjuncts))
        if not rules:
            return None
        return self._relation(
            kind,
            rules,
            [_column(place, term, rules[0]) for place, term in enumerate(rules[0].head)],
            choice,
        )

    def rule(
        self,
        conjunct: Conjunct,
        relation: str,
        head: Sequence[HeadTerm],
        variables: Sequence[RuleVariable],
    ) -> NormalRule:
        """The rule `relation(head) :- conjunct`, of which independent parts are hidden
        relations.
        """

        def part(columns: Sequence[Ref], literals: Conjunct) -> CheckedAtom:
            name = self.define(PART, columns, [literals], variables)
            assert name is not None, "one conjunction makes one rule"
            return CheckedAtom(name, tuple(columns))

        parts = IndependentParts(part, self._known_relations, self._avoid)
        return RuleMaker(parts.of(conjunct, head), variables).make(
            self.source, relation, head, self._span
        )

    def define_computed(
        self,
        atom: CheckedAtom,
        head: Sequence[HeadTerm],
        made: Ref,
        value: Expression,
        variables: Sequence[RuleVariable],
    ) -> str:
        """The relation `in(head) :- atom, made = value`, for another atom to be joined with what is
        computed from this one.
        """
        name = self.define("in", head, [Conjunct([atom, Filter("=", made, value)])], variables)
        assert name is not None, "one conjunction makes one rule"
        return name

    def define_functor(
        self, functor: str, domain: str, types: tuple[Type, ...], result: Type | None
    ) -> str:
        """The relation of the rows of `domain` with the functor's result, or of those where a
        predicate holds.
        """
        rule = FunctorRule(self.source, "", domain, functor, types, result, self._span)
        columns = [
            (f"_{number}", type)
            for number, type in enumerate((*types, result) if result is not None else types)
        ]
        return self._relation(functor, [rule], columns)

    def _relation(
        self,
        kind: str,
        rules: Sequence[NormalRule | FunctorRule],
        columns: Sequence[tuple[str, Type]],
        choice: Domains = (),
    ) -> str:
        known = (kind, choice, *rules)
        if known not in self._known:
            name = self._new_name(kind)
            if len(columns) > MOST_COLUMNS:
                raise _too_wide(name, len(columns), self._span)
            self._known[known] = name
            self.schemas.append(RelationSchema(name, tuple(columns), choice=choice))
            self.rules += [replace(rule, relation=name) for rule in rules]
        return self._known[known]

    def _new_name(self, kind: str) -> str:
        while True:
            self._made[kind] = self._made.get(kind, 0) + 1
            if (name := f"rule{self.source}#{kind}{self._made[kind]}") not in self._taken:
                return name


def _column(place: int, term: Ref | AggregateTerm, rule: NormalRule) -> tuple[str, Type]:
    """Name and type of the column that a head term fills: its variable's name where that is the
    user's and new, else its place.
    """
    if isinstance(term, AggregateTerm):
        return f"_{place}", term.type
    variable = rule.variables[term.variable]
    repeated = term in rule.head[:place] or variable.name.startswith("_")
    return f"_{place}" if repeated else variable.name, variable.type


def _too_wide(name: str, columns: int, span: Span | None) -> DeclarationError:
    what = "what a functor or an aggregate is given" if only_input(name) else explain_hidden(name)
    message = (
        f"{what} takes {columns} values from the rest of its rule; {MOST_COLUMNS} is the most "
        f"there may be"
    )
    hint = "derive what it needs in a rule of its own, with a head of fewer variables"
    return DeclarationError(message, code="E168", span=span, hint=hint)


PART = "part"
AGGREGATES = ("count", "sum", "min", "max", "mean")


def of_aggregate(name: str) -> bool:
    """True for the hidden relation of a body aggregate."""
    return _kind(name) in AGGREGATES


def of_part(name: str) -> bool:
    """True for the hidden relation of a part of a body."""
    return _kind(name) == PART


def of_negation(name: str) -> bool:
    """True for the hidden relation of a nested negation."""
    return _kind(name) == "not"


def only_input(name: str) -> bool:
    """True for the hidden relation of a part of a body, or of the values given to a functor or an
    aggregate, which no user has in mind.
    """
    return _kind(name) in ("in", PART)


def explain_hidden(name: str) -> str:
    """What a hidden relation stands for, in the words of the rule it comes from."""
    kind = _kind(name)
    words = {"not": "`!( … )`", "or": "`( … ; … )`", "choice": "`choice(…)`"}
    if kind in AGGREGATES:
        return f"the aggregate `{kind}`"
    return words.get(kind, f"the functor `{kind}`")


def _kind(name: str) -> str:
    """What a hidden relation was defined as; "" for one that is not hidden."""
    return name.partition("#")[2].rstrip("0123456789")
