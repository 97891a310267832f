# SPDX-License-Identifier: Apache-2.0
"""The normal form: conjunctive rules over numbered variables, which is all that the join, the heads
and the maintenance ever see.

What the language adds to conjunctions is gone by here: several heads are several rules, a
disjunction is several rules, `!( … )` and body aggregates are hidden relations of their own, string
functors are hidden relations computed row by row. Hidden relations have a `#` in their name, which
no user can write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property

from lftj.errors import Span
from lftj.scantree.frozen import frozen
from lftj.types import INT, Type, code_of
from lftj.types.sources import Role, Source, is_hidden

CHANGE_COLUMNS = (("__diff__", INT), ("__version__", INT))
"""Columns of change sets beside those of a relation."""

Reading = tuple[str] | tuple[str, int] | tuple[str, int, int | str]
"""A relation of which any row is read; one of which rows with some constant in this column are, and
no others; one such constant, as `reading_key` has it.
"""

QUESTION = Source("query", Role.HIDDEN)
"""The hidden relation that holds the answers to a question while they are computed."""


# ── expressions over the variables of one rule ────────────────────────────────────────────────────
@frozen(slots=True)
class Ref:
    """The variable number `variable` of the rule."""

    variable: int


@frozen(slots=True)
class Value:
    """A constant as the user wrote it, with the type of its place; coded only when a
    plan is made.
    """

    value: object
    type: Type


@frozen(slots=True)
class Apply:
    """Arithmetic. `operator` is one of `+ - * / % ^ neg min max band bor bxor bnot bshl bshr bshru
    land lor lxor lnot to_float to_int`, `round year month day to_date`. Hidden relations also have
    `mirror`, which turns the bits of a code of any type.

    `type` is the type of the result; the arguments all have the operand type (conversions are
    explicit), but for `*` on decimals and `round`, whose second argument is the number of places.
    """

    operator: str
    args: tuple[Expression, ...]
    type: Type


Expression = Ref | Value | Apply


def is_null(expression: object) -> bool:
    """Test for the constant NULL. Comparisons with it are of codes, of which it is the least: `x =
    NULL` says that x is missing, `x > NULL` that it is not.
    """
    return isinstance(expression, Value) and expression.value is None


def not_null(condition: Filter) -> int | None:
    """The variable of a test `v > NULL`; None for any other comparison."""
    if condition.operator == ">" and is_null(condition.right) and isinstance(condition.left, Ref):
        return condition.left.variable
    return None


# ── parts of a rule ───────────────────────────────────────────────────────────────────────────────
@frozen(slots=True)
class RuleVariable:
    """`name` is the user's own name, or `_` for a wildcard or a variable made here."""

    name: str
    type: Type

    @property
    def is_made(self) -> bool:
        """True for a variable without a name of the user's."""
        return self.name == "_"


def type_of(expression: Expression, variables: Sequence[RuleVariable]) -> Type:
    """The type of an expression's value, by the variables of its rule."""
    return variables[expression.variable].type if isinstance(expression, Ref) else expression.type


@frozen(slots=True)
class PositiveAtom:
    """`args` in column order; a variable may repeat; each wildcard has a variable of its own."""

    relation: str
    args: tuple[Ref | Value, ...]


@frozen(slots=True)
class NegatedAtom:
    """Holds when no row matches; `None` is a wildcard."""

    relation: str
    args: tuple[Ref | Value | None, ...]

    @property
    def bound_columns(self) -> tuple[int, ...]:
        """The columns that are not wildcards."""
        return tuple(column for column, argument in enumerate(self.args) if argument is not None)

    def bound_in(self, relation: str) -> PositiveAtom:
        """The atom that finds the arguments of these columns in a relation of them alone."""
        return PositiveAtom(
            relation, tuple(argument for argument in self.args if argument is not None)
        )


@frozen(slots=True)
class Assignment:
    """`variable = expression`. Where atoms bind the variable too, it is a filter or a seek, as the
    variable order has it.
    """

    variable: int
    expression: Expression


_TURNED = str.maketrans("<>", "><")
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@frozen(slots=True)
class Filter:
    """`left operator right` with operator one of `= != < <= > >=`; both sides have one type."""

    operator: str
    left: Expression
    right: Expression

    @property
    def turned(self) -> Filter:
        """The same comparison, read from the right."""
        return Filter(self.operator.translate(_TURNED), self.right, self.left)

    @property
    def opposite(self) -> Filter:
        """The comparison that holds where this one does not."""
        return Filter(_OPPOSITE[self.operator], self.left, self.right)


@frozen(slots=True)
class AggregateTerm:
    """An aggregated head column: `function` over `args` (`count` has none): count, sum, mean, min,
    max, concat or a user's own name.
    """

    function: str
    args: tuple[Ref, ...]
    type: Type


def reading_key(type: Type, value: object) -> int | str:
    """A constant as who reads rows is found by it: strings as they are, whose codes may change,
    other values by their codes.
    """
    return value if isinstance(value, str) else code_of(type, value)


@frozen
class NormalRule:
    """One conjunctive rule.

    The head ranges over the distinct satisfying assignments of *all* `variables`. `head` has one
    term per column; if any is an `AggregateTerm`, the others are the group. `source` is the id of
    the user's rule this one came from. `lead`: the variable by whose values the rule's work is
    divided, where this is one part of it: an order that begins with it repeats nothing that another
    part does. `limit`: the readers of a hidden count take none from it on, so that a greater one
    may stand as this.
    """

    source: int
    relation: str
    head: tuple[Ref | AggregateTerm, ...]
    variables: tuple[RuleVariable, ...]
    atoms: tuple[PositiveAtom, ...]
    negated: tuple[NegatedAtom, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    filters: tuple[Filter, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    lead: int | None = None
    limit: int | None = None

    # What every commit asks of a rule is found once.

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The relations in the body, as often as they occur."""
        return tuple([atom.relation for atom in (*self.atoms, *self.negated)])

    @property
    def readings(self) -> Iterator[Reading]:
        """Readings of these relations: all rows, or those with a constant."""
        for atom in (*self.atoms, *self.negated):
            bound = next(self.constants(atom), None)
            if bound is None:
                yield (atom.relation,)
            else:
                column, value = bound
                yield atom.relation, column
                yield atom.relation, column, reading_key(value.type, value.value)

    def constants(self, atom: PositiveAtom | NegatedAtom) -> Iterator[tuple[int, Value]]:
        """The columns of one of the atoms that must hold a constant, which stands there or in an
        equation.
        """
        fixed = {given.variable: given.expression for given in self.assignments}
        for column, argument in enumerate(atom.args):
            value = fixed.get(argument.variable) if isinstance(argument, Ref) else argument
            if isinstance(value, Value):
                yield column, value

    @cached_property
    def rows_read(self) -> tuple[tuple[str, tuple[tuple[int, Value], ...]], ...]:
        """The relation of each atom, negated or not, and the columns that must hold a constant."""
        atoms = (*self.atoms, *self.negated)
        return tuple([(atom.relation, tuple(self.constants(atom))) for atom in atoms])

    @cached_property
    def aggregates(self) -> bool:
        """True when some head column is aggregated."""
        return any(isinstance(term, AggregateTerm) for term in self.head)

    @cached_property
    def group(self) -> tuple[int, ...]:
        """The variables of the head's columns that are not aggregated, in column order."""
        return tuple(term.variable for term in self.head if isinstance(term, Ref))

    def head_in(self, relation: str) -> PositiveAtom:
        """The atom that finds a row of the head, which has no aggregate, in a relation of the same
        columns.
        """
        return PositiveAtom(relation, tuple(term for term in self.head if isinstance(term, Ref)))


@frozen(slots=True)
class FunctorRule:
    """A hidden relation whose rows are those of `domain`, one column longer by `functor(row)`; a
    predicate keeps the rows where it holds.

    Used for what compiled code does not do: string functors (cat, substr, strlen, to_string,
    to_number, contains, match …). `functor` is the name, `types` the argument types. `result` is
    None for a predicate.
    """

    source: int
    relation: str
    domain: str
    functor: str
    types: tuple[Type, ...]
    result: Type | None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def reads(self) -> Iterable[str]:
        """The relations the rule reads: its domain."""
        return (self.domain,)

    @property
    def readings(self) -> Iterator[Reading]:
        """Any row of it."""
        yield (self.domain,)


# ── relations and the whole ───────────────────────────────────────────────────────────────────────
@frozen
class RelationSchema:
    """`columns` in order; `key`: column positions that determine the rest (None: the whole row);
    `functional`: written `F[x] = y`.

    `choice`: the column positions, ascending, of each domain of which no two rows share a value
    [Choice]. `asked_by`: the derived relation whose rows this one holds after each commit, where
    it stands for the values that a cycle asks an aggregate for (`rewrites.surroundings`).
    `defaults`: what a row by name has in columns that it leaves out, in the order of the columns;
    in one that is optional and not among them it has NULL.
    """

    name: str
    columns: tuple[tuple[str, Type], ...]
    key: tuple[int, ...] | None = None
    functional: bool = False
    choice: tuple[tuple[int, ...], ...] = ()
    asked_by: str = ""
    defaults: tuple[tuple[str, object], ...] = ()

    @cached_property
    def hidden(self) -> bool:
        """True for relations made by normalisation."""
        return is_hidden(self.name)

    @cached_property
    def arity(self) -> int:
        """Number of columns."""
        return len(self.columns)


@frozen
class Stratum:
    """Relations that depend on one another (or a single one), with all their rules; `recursive`
    when they form a cycle.

    One relation that takes the best of what several rules find, each with the same `min` or `max`,
    counts as recursive too. So does one that adds up what several find; such a stratum is `summed`,
    and followed by levels (`program.additive`).
    """

    relations: tuple[str, ...]
    rules: tuple[NormalRule | FunctorRule, ...]
    recursive: bool
    summed: bool = False

    @cached_property
    def joins(self) -> list[NormalRule]:
        """The rules that join."""
        return [rule for rule in self.rules if isinstance(rule, NormalRule)]

    @cached_property
    def countable(self) -> bool:
        """Tell whether proofs can be counted: joins tell all there is to know."""
        return len(self.joins) == len(self.rules) and not any(r.aggregates for r in self.joins)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The relations that some rule of the stratum reads, its own included."""
        return frozenset(name for rule in self.rules for name in rule.reads)

    @cached_property
    def readings(self) -> frozenset[Reading]:
        """Readings of all rules."""
        return frozenset(reading for rule in self.rules for reading in rule.readings)
