# SPDX-License-Identifier: Apache-2.0
"""Subtypes: `.type City <: symbol` makes names that must not be mixed, although all are strings.

As in Soufflé, a variable is of every type that the columns of its atoms have. So it is of the
greatest types below all of these, and there must be one; and a column of a head takes what is of
its type or below. Negated atoms ask for nothing: what is no `City` may be any place. Constants and
what is computed are of any type, and so is a variable that only the branches of a disjunction
bind. Relations that are declared in Python take and give all subtypes of their columns' types.

Comparisons, sums and branches may tell more of a variable than its atoms do, and then it is of the
lesser type; that they clash with it is no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.errors import LftjError, Span, TypeClashError
from lftj.functions.aggregates import AGGREGATES, EXTREMES
from lftj.program.schema import Catalog, kind_name
from lftj.program.scope import negated_atom, user_name
from lftj.syntax import tree
from lftj.types import Type, without_mark

Names = frozenset[str]
Above = Mapping[str, Names]
_HINT = (
    "declare one of the types below the other, use one type for both, or write as(…, {wanted}) "
    "where the values are meant to be of it"
)


# ── which type is below which ─────────────────────────────────────────────────────────────────────
def types_above(
    above: Above, definitions: Mapping[str, tree.TypeAlias], types: Mapping[str, Type]
) -> dict[str, Names]:
    """For each type name of a program the names of the types that it is a subtype of, itself among
    them. `above`: those that are known; `types`: what the names stand for. O(names²).

    A name for another type (`=`) is above and below it. Each member is below its union, and a union
    is below all that its members are below.
    """
    found = {name: set(names) for name, names in above.items()}
    unions: list[tuple[str, list[str]]] = []

    def put_below(name: str, upper: str) -> None:
        found.setdefault(name, {name}).add(upper)
        found.setdefault(upper, {upper})

    for each in definitions.values():
        members = [kind_of(name, types) for name in (each.base, *each.others)]
        if each.others:
            unions.append((each.name, members))
            for member in members:
                put_below(member, each.name)
            continue
        put_below(each.name, members[0])
        if each.equal:
            put_below(members[0], each.name)
    size = -1
    while size != (size := sum(map(len, found.values()))):
        for names in found.values():
            names.update(*(found.get(name, ()) for name in list(names)))
        for name, members in unions:
            found[name] |= set.intersection(*(found[member] for member in members))
    return {name: frozenset(names) for name, names in found.items()}


def kind_of(name: str, types: Mapping[str, Type]) -> str:
    """The type of a column that is declared as `name`: that of a program, or a built-in one under
    the name that all its names share.
    """
    if name in types:
        return name
    base = without_mark(name)
    return kind_of(base, types) if base else kind_name(Catalog().type(name))


def as_defined(alias: tree.TypeAlias, types: Mapping[str, Type]) -> tree.TypeAlias:
    """A definition as all have it that say the same: members in order, built-in types by the name
    that all their names share.
    """
    members = sorted(kind_of(name, types) for name in (alias.base, *alias.others))
    return tree.TypeAlias(alias.name, members[0], tuple(members[1:]), alias.equal)


def kinds_of(declaration: tree.Declaration, types: Mapping[str, Type]) -> tuple[str, ...]:
    """The types of a relation's columns, by name; () where some type is not known."""
    try:
        return tuple(kind_of(column.type, types) for column in declaration.columns)
    except LftjError:
        return ()


def is_below(above: Above, lower: str, upper: str) -> bool:
    """Test for a type that may stand where the other does."""
    return lower == upper or upper in above.get(lower, ())


def equal_kinds(above: Above, one: Sequence[str], other: Sequence[str]) -> bool:
    """Test for columns whose types are the same, by whichever names."""
    return all(
        is_below(above, left, right) and is_below(above, right, left)
        for left, right in zip(one, other, strict=True)
    )


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────
def subtype_errors(rule: tree.Rule, catalog: Catalog) -> list[LftjError]:
    """E134 for each variable of a rule that is of no type, or of one that a head does not take.
    Variables are renamed apart. O(size of the rule).
    """
    if not catalog.above:
        return []
    return list(_Check(rule, catalog).errors())


class _Types:
    """The types of the variables of a body: those of `types`, for each of the variables that equal
    one another.
    """

    def __init__(self, above: Above, same: Mapping[str, str], types: Mapping[str, list[str]]):
        self._above, self._same, self._types = above, dict(same), dict(types)

    def copy(self) -> _Types:
        """The same, to go on with in a branch."""
        return _Types(self._above, self._same, self._types)

    def of(self, name: str) -> list[str]:
        """The greatest types that a variable is of; [] for any type."""
        return self._types.get(self._root(name), [])

    def narrow(self, name: str, kinds: Sequence[str]) -> bool:
        """Let a variable be of one of these types too; False, and nothing else, where it cannot."""
        before = self.of(name)
        now = self._below(before, kinds) if before else list(kinds)
        if now:
            self._types[self._root(name)] = now
        return bool(now)

    def join(self, one: str, other: str) -> bool:
        """Let two variables be of the same types; False, and nothing else, where they cannot."""
        first, second = self._root(one), self._root(other)
        kinds = self._types.get(second, [])
        if first != second and kinds and not self.narrow(one, kinds):
            return False
        if first != second:
            self._same[second] = first
        return True

    def known(self) -> list[str]:
        """A variable of each set of equal ones whose types are known."""
        return list(self._types)

    def _root(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name

    def _below(self, types: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """The greatest types below one of `types` and below one of `kinds`."""
        found = [name for one in types for other in kinds for name in self._common(one, other)]
        greatest: list[str] = []
        for name in found:
            above = [other for other in found if is_below(self._above, name, other)]
            if all(is_below(self._above, other, name) for other in above) and not any(
                other in greatest for other in above
            ):
                greatest.append(name)
        return greatest

    def _common(self, one: str, other: str) -> list[str]:
        if is_below(self._above, one, other):
            return [one]
        if is_below(self._above, other, one):
            return [other]
        return [
            name
            for name in self._above
            if is_below(self._above, name, one) and is_below(self._above, name, other)
        ]


class _Check:
    """The types of one rule's variables."""

    def __init__(self, rule: tree.Rule, catalog: Catalog):
        self._rule, self._catalog = rule, catalog
        self._errors: list[LftjError] = []
        self._types = _Types(catalog.above, {}, {})
        self._read(rule.body, self._types, self._errors)
        for head in rule.heads:
            for term in head.terms:
                self._look_inside(term, self._types, self._errors)

    # ── what is read ──────────────────────────────────────────────────────────────────────────────
    def _read(self, body: tree.Body, types: _Types, errors: list[LftjError]) -> None:
        """Take note of what a body says of its variables: first of what has to hold, then of what
        may tell more.
        """
        for left, right, span in _equations(body):
            if not types.join(left.name, right.name):
                kind = types.of(right.name)[0]
                where = f"`{user_name(right.name)}`"
                errors.append(self._no_type(left.name, kind, where, types, span))
        for literal in body.literals:
            match literal:
                case tree.Atom():
                    self._read_atom(literal, types, errors)
                case tree.Comparison(operator, left, right):
                    for side, other in ((left, right), (right, left)):
                        self._look_inside(side, types, errors)
                        if operator == "=":
                            self._read_named(side, other, types, errors)
                case tree.Negation() if negated_atom(literal) is None:
                    self._read(literal.body, types, errors)
        for literal in body.literals:
            match literal:
                case tree.Comparison(_, left, right):
                    one, other = _compared(left), _compared(right)
                    if one is not None and other is not None:
                        types.join(one.name, other.name)
                case tree.Disjunction(branches):
                    self._read_branches(branches, types)

    def _read_atom(self, atom: tree.Atom, types: _Types, errors: list[LftjError]) -> None:
        for term, kind, where in self._columns(atom):
            self._look_inside(term, types, errors)
            if isinstance(term, tree.Variable) and not types.narrow(term.name, [kind]):
                errors.append(self._no_type(term.name, kind, where, types, atom.span))

    def _read_named(
        self, side: tree.Term, other: tree.Term, types: _Types, errors: list[LftjError]
    ) -> None:
        """Take note of the type that `x = as(…, T)` gives to a variable."""
        if not (
            isinstance(side, tree.Variable)
            and isinstance(other, tree.Call)
            and other.functor == "as"
        ):
            return
        name = str(getattr(other.args[1], "value", ""))
        if name in self._catalog.above and not types.narrow(side.name, [name]):
            errors.append(self._no_type(side.name, name, "`as`", types, other.span))

    def _read_branches(self, branches: Sequence[tree.Body], types: _Types) -> None:
        """Let variables be of what some branch says of them, as if each branch were a rule."""
        read = [types.copy() for _ in branches]
        for branch, found in zip(branches, read, strict=True):
            self._read(branch, found, [])
        for name in types.known():
            kinds = [kind for found in read for kind in found.of(name)]
            if kinds:
                types.narrow(name, list(dict.fromkeys(kinds)))

    def _look_inside(self, term: tree.Term, types: _Types, errors: list[LftjError]) -> None:
        """Read the braces of aggregates in a term."""
        match term:
            case tree.Aggregate():
                self._read(term.body, types, errors)
            case tree.Call() | tree.HeadAggregate():
                for arg in term.args:
                    self._look_inside(arg, types, errors)

    def _columns(self, atom: tree.Atom) -> Iterator[tuple[tree.Term, str, str]]:
        """The terms of an atom with the types of their columns, and the words for these."""
        schema = self._catalog.relations.get(atom.relation)
        kinds = self._catalog.kinds.get(atom.relation)
        if schema is None or not kinds or not schema.arity == len(atom.terms) == len(kinds):
            return
        for term, kind, (column, _) in zip(atom.terms, kinds, schema.columns, strict=True):
            yield term, kind, f"column `{column}` of `{atom.relation}`"

    # ── what follows ──────────────────────────────────────────────────────────────────────────────
    def errors(self) -> Iterator[LftjError]:
        """The errors, those of variables first."""
        yield from self._errors
        for head in self._rule.heads:
            for term, kind, where in self._columns(head):
                if isinstance(term, tree.Variable):
                    types = self._types.of(term.name)
                    if not all(is_below(self._catalog.above, each, kind) for each in types):
                        message = f"{where} is of `{kind}`, but `{user_name(term.name)}` is of "
                        yield self._clash(message + _shown(types), kind, term.span or head.span)

    def _no_type(
        self, name: str, kind: str, where: str, types: _Types, span: Span | None
    ) -> LftjError:
        message = (
            f"variable `{user_name(name)}` is of no type: {where} is of `{kind}`, and it is of "
        )
        return self._clash(message + _shown(types.of(name)), kind, span)

    def _clash(self, message: str, wanted: str, span: Span | None) -> LftjError:
        hint = _HINT.format(wanted=wanted)
        return TypeClashError(message, code="E134", span=span or self._rule.span, hint=hint)


def _equations(body: tree.Body) -> Iterator[tuple[tree.Variable, tree.Variable, Span | None]]:
    """The variables that a body's equations make equal, or that are the least or greatest value of
    a variable, and where.
    """
    for literal in body.literals:
        if isinstance(literal, tree.Comparison) and literal.operator == "=":
            one, other = _compared(literal.left), _compared(literal.right)
            extremes = all(
                not isinstance(side, tree.Aggregate) or side.function in EXTREMES
                for side in (literal.left, literal.right)
            )
            if one is not None and other is not None and extremes:
                yield one, other, literal.span


def _compared(term: tree.Term) -> tree.Variable | None:
    """The variable that a side of a comparison is, or whose values it is made of."""
    if isinstance(term, tree.Aggregate) and AGGREGATES[term.function].alike:
        return term.target if isinstance(term.target, tree.Variable) else None
    return term if isinstance(term, tree.Variable) else None


def _shown(types: Sequence[str]) -> str:
    return " or ".join(f"`{each}`" for each in types)
