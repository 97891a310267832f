# SPDX-License-Identifier: Apache-2.0
"""The syntax tree: what the text parser and the Python expressions both build, and what the printer
prints.

Nodes are immutable values. Places (`span`) take no part in equality, so a rule written as text
equals the same rule written in Python. The tree says nothing about types or meaning; `lftj.program`
does.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from dataclasses import field

from lftj.errors import Span
from lftj.scantree.frozen import frozen

LiteralValue = int | float | str | bool | datetime.date | datetime.datetime | decimal.Decimal


@frozen
class Node:
    """Base of all nodes; carries the place in the text when there is one."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        """The node as rule text."""
        return printed(self)


def _unprinted(node: Node) -> str:
    return repr(node)


printed: Callable[[Node], str] = _unprinted
"""Print a node; `lftj.syntax.printer` puts its function here when the package is imported."""


# ── terms ─────────────────────────────────────────────────────────────────────────────────────────
@frozen
class Variable(Node):
    name: str


@frozen
class Wildcard(Node):
    """`_`: a variable of its own at each occurrence."""


@frozen
class Constant(Node):
    """A value as written. `1`, `1.0` and `true` are three different constants, although Python
    holds them equal; so are `0.0` and `-0.0`, and decimals of different scale.
    """

    value: LiteralValue

    def _identity(self) -> tuple[type, str]:
        return type(self.value), str(self.value)

    def __eq__(self, other: object) -> bool:
        return (
            self._identity() == other._identity() if isinstance(other, Constant) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self._identity())


@frozen
class Call(Node):
    """Arithmetic or a functor. `functor` is the symbol (`+ - * / % ^`, `neg` for unary minus) or
    the name (`cat`, `strlen`, `band` …).
    """

    functor: str
    args: tuple[Term, ...]


@frozen
class Conditional(Call):
    """`if(condition, a, b)` as it is read, with `args` a and b: in a rule a disjunction is in its
    place (`lftj.syntax.conditionals`).
    """

    condition: Body


@frozen
class Aggregate(Node):
    """A body aggregate, Soufflé's meaning: `count : { body }`, `sum target : { body }`; of several
    arguments `last(target, key) : { body }`.
    """

    function: str
    args: tuple[Term, ...]
    body: Body

    @property
    def target(self) -> Term | None:
        """The first argument, which is aggregated; None where rows are."""
        return self.args[0] if self.args else None


@frozen
class HeadAggregate(Node):
    """An aggregate in a head argument, `total(x, sum(a)) :- …`; `count()` has no arguments."""

    function: str
    args: tuple[Term, ...]


BY_COLUMN = "by column"
"""The functor that stands for `column=term`, of the name and the term, until the arguments of an
atom are brought to their positions.
"""


def named_column(term: Term) -> str:
    """The column that an argument names; empty for one by position."""
    if isinstance(term, Call) and term.functor == BY_COLUMN and isinstance(term.args[0], Constant):
        return str(term.args[0].value)
    return ""


def argument(term: Term) -> Term:
    """The term of an argument, without the column that names it."""
    return term.args[1] if isinstance(term, Call) and named_column(term) else term


Term = Variable | Wildcard | Constant | Call | Aggregate | HeadAggregate


# ── literals ──────────────────────────────────────────────────────────────────────────────────────
@frozen
class Atom(Node):
    """`relation(args)`, or `relation[args] = value` when `value` is not None."""

    relation: str
    args: tuple[Term, ...]
    value: Term | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """All arguments in column order: a function's value is its last column."""
        return self.args if self.value is None else (*self.args, self.value)


@frozen
class Comparison(Node):
    """`left operator right` with operator one of `= != < <= > >=`, or a boolean functor: `match`,
    `contains`.
    """

    operator: str
    left: Term
    right: Term


@frozen
class Truth(Node):
    """`true` or `false` as a literal."""

    value: bool


@frozen
class Negation(Node):
    """`!atom` (a body of one atom) or the nested `!( … )`; `nested` where this has one atom, whose
    variables may be its own.
    """

    body: Body
    nested: bool = False


@frozen
class Disjunction(Node):
    branches: tuple[Body, ...]


@frozen
class LeftJoin(Disjunction):
    """`( … )?` as it is read, with its body as the one branch: in a rule a disjunction is in its
    place (`lftj.syntax.left_joins`).
    """


@frozen
class Choice(Node):
    """`choice((X), (Y))`: of the assignments of the rule's body, those of one `determined` for each
    `determining`.
    """

    determining: tuple[Term, ...]
    determined: tuple[Term, ...]


@frozen
class Body(Node):
    """A conjunction; `()` is true."""

    literals: tuple[Literal, ...]


Literal = Atom | Comparison | Truth | Negation | Disjunction | Choice


# ── clauses ───────────────────────────────────────────────────────────────────────────────────────
@frozen
class Rule(Node):
    """`heads :- body.`; a fact has an empty body."""

    heads: tuple[Atom, ...]
    body: Body

    def __repr__(self) -> str:
        return f"<Rule {self}>"

    @property
    def is_fact(self) -> bool:
        """True for a ground clause without a body."""
        return not self.body.literals


@frozen
class Column(Node):
    """A column of a declaration; `default`: the constant that a row by name has where it leaves the
    column out.
    """

    name: str
    type: str
    default: Term | None = None


@frozen
class Declaration(Node):
    """`.decl name(columns)`; `functional` for `.decl F[columns]: type`, whose value is the last
    column; `qualifiers` such as `inline`.

    `choice` has the columns of each `choice-domain`, `key` those of `key(…)`; None where there is
    none.
    """

    name: str
    columns: tuple[Column, ...]
    functional: bool = False
    qualifiers: tuple[str, ...] = ()
    choice: tuple[tuple[str, ...], ...] = ()
    key: tuple[str, ...] | None = None


@frozen
class TypeAlias(Node):
    """`.type Name <: base`, `.type Name = base` (`equal`), or `.type Name = base | other | …` where
    all are the same in the end.
    """

    name: str
    base: str
    others: tuple[str, ...] = ()
    equal: bool = False


@frozen
class Directive(Node):
    """`.input`, `.output`, `.printsize` or `.limitsize` on one relation, with Soufflé's
    parameters.
    """

    kind: str
    relation: str
    parameters: tuple[tuple[str, str | int], ...] = ()


@frozen
class Pragma(Node):
    """`.pragma "option" "value"`: an option of Soufflé that has no effect here."""

    option: str
    value: str = ""


Clause = Rule | Declaration | TypeAlias | Directive | Pragma


@frozen
class ParsedProgram(Node):
    clauses: tuple[Clause, ...]
