"""Subtypes: `.type City <: symbol` makes names that must not be mixed, although all are strings.

As in Soufflé, a variable is of every type that the columns of its atoms have. So it is of the
greatest types below all of these, and there must be one; and a column of a head, or of a negated
atom, takes what is of its type or below. Constants and what is computed are of any type, and so is
a variable that only the branches of a disjunction bind. Relations that are declared in Python take
and give all subtypes of their columns' types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.errors import LftjError, Span, TypeClashError
from lftj.program.schema import Catalog
from lftj.program.scope import negated_atom, user_name
from lftj.syntax import tree
from lftj.types import Type

Names = frozenset[str]
_HINT = (
    "declare one of the types below the other, use one type for both, or write as(…, {wanted}) "
    "where the values are meant to be of it"
)


def types_above(
    above: Mapping[str, Names], aliases: Sequence[tree.TypeAlias], types: Mapping[str, Type]
) -> dict[str, Names]:
    """For each type name of a program the names of the types that it is a subtype of, itself among
    them. `above`: those that are known; `types`: what the names stand for. O(names²).
    """
    found = {name: set(names) for name, names in above.items()}

    def put_below(name: str, upper: str) -> None:
        found.setdefault(name, {name}).add(upper)

    for each in aliases:
        put_below(each.name, kind_of(each.base, types) if not each.others else each.name)
        if each.equal and each.base in types:
            put_below(each.base, each.name)
        for member in (each.base, *each.others) if each.others else ():
            put_below(kind_of(member, types), each.name)
        if each.others and each.name in types:
            put_below(each.name, str(types[each.name]))
    size = -1
    while size != (size := sum(map(len, found.values()))):
        for names in found.values():
            names.update(*(found[name] for name in list(names) if name in found))
    return {name: frozenset(names) for name, names in found.items()}


def kind_of(name: str, types: Mapping[str, Type]) -> str:
    """The type of a column that is declared as `name`: that of a program, or a built-in one under
    the name that all its names share.
    """
    if name in types:
        return name
    known = Catalog().type(name)
    return str(known)


def kinds_of(declaration: tree.Declaration, types: Mapping[str, Type]) -> tuple[str, ...]:
    """The types of a relation's columns, by name; () where some type is not known."""
    try:
        return tuple(kind_of(column.type, types) for column in declaration.columns)
    except LftjError:
        return ()


def subtype_errors(rule: tree.Rule, catalog: Catalog) -> list[LftjError]:
    """E134 for each variable of a rule that is of no type, or of one that a head does not take.
    Variables are renamed apart. O(size of the rule).
    """
    if not catalog.above:
        return []
    return list(_Check(rule, catalog).errors())


class _Check:
    """The types of one rule's variables."""

    def __init__(self, rule: tree.Rule, catalog: Catalog):
        self._rule, self._catalog = rule, catalog
        self._same: dict[str, str] = {}
        self._types: dict[str, dict[tuple[str, str], Span | None]] = {}
        self._sinks = list(rule.heads)
        self._read(rule.body)
        for head in rule.heads:
            for term in head.terms:
                self._look_inside(term)

    # ── what is read ──────────────────────────────────────────────────────────────────────────────
    def _read(self, body: tree.Body) -> None:
        for literal in body.literals:
            match literal:
                case tree.Atom():
                    for term, kind, where in self._columns(literal):
                        self._look_inside(term)
                        if isinstance(term, tree.Variable):
                            self._types.setdefault(term.name, {})[kind, where] = literal.span
                case tree.Comparison(operator, left, right):
                    self._look_inside(left)
                    self._look_inside(right)
                    if operator == "=":
                        self._equal(left, right)
                case tree.Negation():
                    if (atom := negated_atom(literal)) is not None:
                        self._sinks.append(atom)
                    else:
                        self._read(literal.body)

    def _equal(self, left: tree.Term, right: tree.Term) -> None:
        """Take note of the type that an equation gives to a variable."""
        for side, other in ((left, right), (right, left)):
            if not isinstance(side, tree.Variable):
                continue
            if isinstance(other, tree.Aggregate) and other.function in ("min", "max"):
                other = other.target or other
            if isinstance(other, tree.Variable):
                first, second = self._root(side.name), self._root(other.name)
                if first != second:
                    self._same[second] = first
            elif isinstance(other, tree.Call) and other.functor == "as":
                name = str(getattr(other.args[1], "value", ""))
                if name in self._catalog.above:
                    self._types.setdefault(side.name, {})[name, "`as`"] = other.span

    def _look_inside(self, term: tree.Term) -> None:
        """Read the braces of aggregates in a term."""
        match term:
            case tree.Aggregate():
                self._read(term.body)
            case tree.Call() | tree.HeadAggregate():
                for arg in term.args:
                    self._look_inside(arg)

    def _columns(self, atom: tree.Atom) -> Iterator[tuple[tree.Term, str, str]]:
        """The terms of an atom with the types of their columns, and the words for these."""
        schema = self._catalog.relations.get(atom.relation)
        kinds = self._catalog.kinds.get(atom.relation)
        if schema is None or not kinds or not schema.arity == len(atom.terms) == len(kinds):
            return
        for term, kind, (column, _) in zip(atom.terms, kinds, schema.columns, strict=True):
            yield term, kind, f"column `{column}` of `{atom.relation}`"

    def _root(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name

    # ── what follows ──────────────────────────────────────────────────────────────────────────────
    def errors(self) -> Iterator[LftjError]:
        """The errors, those of variables first."""
        found: dict[str, list[str]] = {}
        for name, given in self._types.items():
            root = self._root(name)
            for (kind, where), span in given.items():
                before = found.get(root)
                now = [kind] if before is None else self._below(before, kind)
                if before and not now:
                    yield self._clash(
                        f"variable `{user_name(name)}` is of no type: {where} is of `{kind}`, and "
                        f"it is of {_shown(before)}",
                        kind,
                        span,
                    )
                found[root] = now
        for atom in self._sinks:
            for term, kind, where in self._columns(atom):
                if isinstance(term, tree.Variable):
                    types = found.get(self._root(term.name), [])
                    if not all(self._is_below(each, kind) for each in types):
                        message = f"{where} is of `{kind}`, but `{user_name(term.name)}` is of "
                        yield self._clash(message + _shown(types), kind, term.span or atom.span)

    def _clash(self, message: str, wanted: str, span: Span | None) -> LftjError:
        hint = _HINT.format(wanted=wanted)
        return TypeClashError(message, code="E134", span=span or self._rule.span, hint=hint)

    def _is_below(self, lower: str, upper: str) -> bool:
        return lower == upper or upper in self._catalog.above.get(lower, ())

    def _below(self, types: list[str], kind: str) -> list[str]:
        """The greatest types below one of `types` and below `kind`."""
        if lower := [each for each in types if self._is_below(each, kind)]:
            return lower
        if any(self._is_below(kind, each) for each in types):
            return [kind]
        common = [
            name
            for name in self._catalog.above
            if self._is_below(name, kind) and any(self._is_below(name, each) for each in types)
        ]
        return [
            name
            for name in common
            if not any(
                self._is_below(name, other) and not self._is_below(other, name) for other in common
            )
        ]


def _shown(types: Sequence[str]) -> str:
    return " or ".join(f"`{each}`" for each in types)
