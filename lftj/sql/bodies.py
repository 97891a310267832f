# SPDX-License-Identifier: Apache-2.0
"""Bodies as FROM and WHERE: conjunctions of what a rule's checks left of it.

Atoms are tables, and bind variables to columns. Equations and functors bind further ones to
expressions. A negation is NOT EXISTS, a body aggregate a query of its own, a disjunction that binds
variables a UNION in FROM. Rows of a table are distinct, and every column of an atom is a variable
or tested: so what a conjunction finds are distinct assignments.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from lftj.functions import functor_named
from lftj.program import (
    Apply,
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    Expression,
    Filter,
    FunctorCall,
    Ref,
    may_fail,
)
from lftj.scantree import record
from lftj.sql.body_aggregates import BodyAggregate
from lftj.sql.dialects import cannot_say, conjunction
from lftj.sql.expressions import Terms

Tables = Callable[[CheckedAtom], str]
"""The table that an atom reads."""
ColumnNames = Callable[[str], tuple[str, ...]]
"""The columns of a relation, as they are written."""


class _Column(NamedTuple):
    """A column of a table, and the term that it has to equal."""

    place: str
    term: Expression


_RANGES = ("range", "unsigned_range")
_ALIAS = re.compile(r"\bt[0-9]+(?=\.)")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'")


def variables_of(term: Expression | None) -> frozenset[int]:
    """The variables of a term."""
    match term:
        case Ref(variable=variable):
            return frozenset({variable})
        case Apply(args=args):
            return frozenset().union(*map(variables_of, args))
    return frozenset()


def mentioned(literal: CheckedLiteral | _Column) -> frozenset[int]:
    """The variables in a literal that are not local to a part of it."""
    match literal:
        case _Column(term=term):
            return variables_of(term)
        case CheckedAtom(args=args):
            return frozenset().union(*map(variables_of, args))
        case Filter(left=left, right=right):
            return variables_of(left) | variables_of(right)
        case FunctorCall(args=args, result=result):
            made = frozenset[int]() if result is None else frozenset({result})
            return made.union(*map(variables_of, args))
        case CheckedNegation(block=block):
            return _of_block(block)
        case CheckedDisjunction(branches=branches):
            return frozenset().union(*map(_of_block, branches))
        case CheckedAggregate(args=args, block=block, result=result):
            inside = _of_all(block).union(*map(variables_of, args)) - block.local
            return inside | {result}
        case CheckedChoice(determining=determining, determined=determined):
            return frozenset(each.variable for each in (*determining, *determined))


def _of_all(block: Block) -> frozenset[int]:
    return frozenset().union(*map(mentioned, block.literals))


def _of_block(block: Block) -> frozenset[int]:
    return _of_all(block) - block.local


def reads(literals: Iterable[CheckedLiteral]) -> Iterator[tuple[CheckedAtom, bool]]:
    """The atoms at any depth, each with whether it stands in a negation or an aggregate."""
    for literal in literals:
        match literal:
            case CheckedAtom():
                yield literal, False
            case CheckedNegation(block=block) | CheckedAggregate(block=block):
                yield from ((atom, True) for atom, _ in reads(block.literals))
            case CheckedDisjunction(branches=branches):
                for branch in branches:
                    yield from reads(branch.literals)


@record
class Query:
    """FROM and WHERE of a conjunction; `names` has the SQL of each variable that is bound, `outer`
    the variables that the queries around this one bind, `around` the aliases of these queries that
    lie more than one level further out.
    """

    terms: Terms
    tables: Tables
    columns: ColumnNames
    aliases: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    names: dict[int, str] = field(default_factory=dict[int, str])
    outer: set[int] = field(default_factory=set[int])
    around: frozenset[str] = frozenset()
    parent: frozenset[str] = frozenset()
    sources: list[str] = field(default_factory=list[str])
    tests: list[str] = field(default_factory=list[str])
    own: list[str] = field(default_factory=list[str])
    guarded: bool = False
    """True where nothing is computed that may fail before the tests hold: of one branch."""

    def inner(self) -> Query:
        """A query inside this one, which sees what is bound here."""
        return Query(
            self.terms,
            self.tables,
            self.columns,
            self.aliases,
            names=dict(self.names),
            outer=set(self.names),
            around=self.around | self.parent,
            parent=frozenset(self.own),
        )

    def _alias(self) -> str:
        """A name for a table of this query."""
        self.own.append(f"t{next(self.aliases)}")
        return self.own[-1]

    # ── literals ──────────────────────────────────────────────────────────────────────────────────
    def add(self, literals: Iterable[CheckedLiteral]) -> Query:
        """Add a conjunction. Raises SqlError (E370)."""
        waiting: list[CheckedLiteral | _Column] = []
        for literal in literals:
            waiting += self._table(literal) if isinstance(literal, CheckedAtom) else [literal]
        while waiting:
            ready = next((each for each in waiting if self._ready(each, waiting)), None)
            if ready is None:
                raise cannot_say("an order of literals that binds every variable", self._dialect)
            waiting.remove(ready)
            self._add(ready)
        return self

    @property
    def _dialect(self) -> str:
        return self.terms.dialect.name

    def _table(self, atom: CheckedAtom) -> list[_Column]:
        """Put an atom into FROM; the columns that are to be tested."""
        alias = self._alias()
        self.sources.append(f"{self.tables(atom)} AS {alias}")
        tested: list[_Column] = []
        # A relation without columns has one for its row, which no argument stands for.
        for column, term in zip(self.columns(atom.relation), atom.args, strict=False):
            place = f"{alias}.{column}"
            if isinstance(term, Ref) and term.variable not in self.names:
                self.names[term.variable] = place
            elif term is not None:
                tested.append(_Column(place, term))
        return tested

    def _ready(
        self, literal: CheckedLiteral | _Column, waiting: list[CheckedLiteral | _Column]
    ) -> bool:
        unbound = mentioned(literal) - self.names.keys()
        match literal:
            case Filter():
                return not unbound or self._target(literal) is not None
            case FunctorCall(result=result):
                return unbound <= {result}
            case CheckedAggregate(result=result):
                return unbound <= {result}
            case CheckedDisjunction(branches=branches):
                if not unbound:
                    return True
                others = frozenset().union(
                    *(mentioned(each) for each in waiting if each is not literal)
                )
                simple = [each for each in waiting if not isinstance(each, CheckedDisjunction)]
                blocked = any(self._ready(each, []) for each in simple)
                return not blocked and unbound & others <= _bound_in_all(branches)
        return not unbound

    def _target(self, equation: Filter) -> tuple[int, Expression] | None:
        """The variable that an equation binds, and what to."""
        if equation.operator != "=":
            return None
        for one, other in (
            (equation.left, equation.right),
            (equation.right, equation.left),
        ):
            if (
                isinstance(one, Ref)
                and one.variable not in self.names
                and variables_of(other) <= self.names.keys()
            ):
                return one.variable, other
        return None

    def _add(self, literal: CheckedLiteral | _Column) -> None:
        match literal:
            case _Column(place=place, term=term):
                self.tests.append(f"{place} = {self.terms.of(term, self.names)}")
                if isinstance(term, Ref) and term.variable in self.outer:
                    # Queries inside this one have it nearer here: Spark's see one level out.
                    self.outer.remove(term.variable)
                    self.names[term.variable] = place
            case Filter():
                self._filter(literal)
            case FunctorCall():
                self._functor(literal)
            case CheckedNegation(block=block):
                self.tests.append(f"NOT {self._exists(block)}")
            case CheckedDisjunction():
                self._disjunction(literal)
            case CheckedAggregate():
                self._aggregate(literal)
            case CheckedAtom() | CheckedChoice():
                raise AssertionError("atoms are tables, and choices are made of a whole body")

    def _filter(self, literal: Filter) -> None:
        if (target := self._target(literal)) is not None:
            variable, source = target
            type = self.terms.variables[variable].type
            written = self.terms.typed(source, type, self.names)
            self.names[variable] = self._guarded(written) if may_fail(source) else written
        else:
            self.tests.append(
                self.terms.compared(literal.operator, literal.left, literal.right, self.names)
            )

    def _equate(self, variable: int, written: str) -> None:
        """Bind a variable, or test it where it is bound."""
        if variable in self.names:
            self.tests.append(f"{self.names[variable]} = {written}")
        else:
            self.names[variable] = written

    def _functor(self, call: FunctorCall) -> None:
        if call.functor in _RANGES and call.result is not None:
            alias = self._alias()
            args = [self.terms.of(arg, self.names) for arg in call.args]
            numbers = self.terms.dialect.numbers(args[0], args[1], args[2] if args[2:] else None)
            self._source(numbers, alias)
            self._equate(call.result, f"{alias}.number")
        elif call.result is None:
            self.tests.append(self.terms.functor(call, self.names))
        else:
            written = self.terms.functor(call, self.names)
            partial = functor_named(call.functor).partial
            self._equate(call.result, self._guarded(written) if partial else written)

    def _guarded(self, written: str) -> str:
        """A value for rows for which the tests so far hold: databases choose the order of tests."""
        if not self.guarded or not self.tests:
            return written
        return f"CASE WHEN {conjunction(self.tests)} THEN {written} END"

    def _source(self, query: str, alias: str) -> None:
        """Add a query to FROM, which reads what stands before it."""
        used = _aliases(query) & self.parent.union(self.own)
        before = self.terms.dialect.lateral if used else ""
        self.sources.append(f"{before}{query} AS {alias}")

    # ── what holds other bodies ───────────────────────────────────────────────────────────────────
    def _exists(self, block: Block) -> str:
        inner = self.inner().add(block.literals)
        if not inner.sources:
            return f"({conjunction(inner.tests)})"
        found = inner.select(["1"])
        alone = not _aliases(found) & inner.parent.union(inner.around)
        if self.terms.dialect.counts_alone and alone and "(SELECT " in found:
            return f"(SELECT count(*) > 0 FROM ({found}))"
        return f"EXISTS ({found})"

    def _disjunction(self, literal: CheckedDisjunction) -> None:
        # What some branches do not bind is read nowhere else.
        exported = (mentioned(literal) & _bound_in_all(literal.branches)) - self.names.keys()
        if not exported:
            found = [self._exists(branch) for branch in literal.branches]
            self.tests.append(f"({' OR '.join(found)})" if found else "FALSE")
            return
        # Every branch finds these by itself, and so without a look at the tables before it.
        both = frozenset.intersection(*map(_of_atoms, literal.branches)) & self.names.keys()
        alias = self._alias()
        queries: list[str] = []
        for branch in literal.branches:
            inner = self.inner()
            inner.guarded = len(literal.branches) > 1
            inner.forget(both)
            inner.add(branch.literals)
            columns = [f"{inner.names[each]} AS v{each}" for each in sorted(exported | both)]
            queries.append(inner.select(columns, distinct=len(literal.branches) == 1))
        self._source(f"({' UNION '.join(queries)})", alias)
        for variable in sorted(exported | both):
            self._equate(variable, f"{alias}.v{variable}")

    def forget(self, variables: Iterable[int]) -> None:
        """Take these for unbound."""
        for variable in variables:
            self.names.pop(variable, None)
            self.outer.discard(variable)

    def _aggregate(self, literal: CheckedAggregate) -> None:
        block = literal.block
        inner = self.inner()
        inner.forget(block.local)
        inner.add(block.literals)
        found = BodyAggregate(literal, self.terms, inner)
        levels = self.terms.dialect.levels == 1 and self.sources
        if levels or not found.has_row:
            # A name of a table's: the whole query would lie a level deeper wherever it is used.
            alias = self._alias()
            self._source(found.query, alias)
            written = f"{alias}.value"
        else:
            written = found.query
        self._equate(literal.result, written)
        if found.may_lack_value:
            self.tests.append(f"{written} IS NOT NULL")

    # ── text ──────────────────────────────────────────────────────────────────────────────────────
    def select(self, columns: list[str], *, distinct: bool = False, line: str = " ") -> str:
        """The query with these columns; `line` stands between its clauses."""
        lines = [f"SELECT {'DISTINCT ' * distinct}{', '.join(columns)}"]
        if self.sources:
            lines.append(f"FROM {', '.join(self.sources)}")
        if self.tests:
            lines.append(f"WHERE {conjunction(self.tests)}")
        if self.terms.dialect.levels == 1 and _aliases(" ".join(lines)) & self.around:
            what = "a body in a body that compares with what is bound two levels further out"
            raise cannot_say(what, self._dialect)
        return line.join(lines)


def _aliases(written: str) -> set[str]:
    """The tables whose columns a piece of SQL reads."""
    return set(_ALIAS.findall(_STRING.sub("", written)))


def _of_atoms(block: Block) -> frozenset[int]:
    """The variables that are columns of a block's atoms."""
    atoms = [each for each in block.literals if isinstance(each, CheckedAtom)]
    terms = itertools.chain.from_iterable(atom.args for atom in atoms)
    return frozenset(term.variable for term in terms if isinstance(term, Ref))


def _bound_in_all(branches: Sequence[Block]) -> frozenset[int]:
    """The variables that each of these binds."""
    return frozenset.intersection(*map(_bound_in, branches)) if branches else frozenset()


def _bound_in(block: Block) -> frozenset[int]:
    """The variables that a block binds, once those that it only reads are bound."""
    found: set[int] = set()
    for literal in block.literals:
        match literal:
            case CheckedAtom():
                found |= mentioned(literal)
            case FunctorCall(result=result) | CheckedAggregate(result=result):
                found |= frozenset() if result is None else {result}
            case Filter(operator="=", left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, Ref) and one.variable not in variables_of(other):
                        found.add(one.variable)
            case CheckedDisjunction(branches=branches):
                found |= _bound_in_all(branches)
    return frozenset(found)
