# SPDX-License-Identifier: Apache-2.0
"""Kinds of a rule's terms: a type is passed on between terms that have to be of one.

Columns, functors and constants with a type of their own tell theirs; what stands on both sides of a
comparison or an operator is of one kind, but for dates that move by ints and for products of
decimals. Where nothing else tells it, a constant has its own. The rule is right, as the engine has
checked it: nothing is reported here, and of two kinds that clash the first stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from lftj.proofs.aggregates import AT_SHARES, BETWEEN, FOLDS, IN_ORDER, OF_FLOATS, OF_INTS
from lftj.proofs.kinds import (
    DATE,
    FLOAT,
    INT,
    STR,
    UNSIGNED,
    Kind,
    OfUsers,
    Slot,
    TypedAggregate,
    TypedCall,
    TypedConstant,
    TypedHeadAggregate,
    UserCall,
    kind_named,
    kind_of_constant,
)
from lftj.proofs.nested_loops import direct, mentioned
from lftj.syntax import tree
from lftj.syntax.called import with_calls

NO_FUNCTIONS: OfUsers = MappingProxyType({})
Scope = Mapping[str, Slot]
Kinds = Mapping[str, "list[Kind | None]"]
"""The kinds of each relation's columns."""

_ALIKE = frozenset((
    "/", "%", "^", "neg", "abs", "min", "max", "band", "bor", "bxor", "bnot", "bshl", "bshr",
    "bshru", "land", "lor", "lxor", "lnot", "range", "coalesce",
))  # fmt: skip
"""Functors whose arguments and result are of one kind."""

_RESULTS = {
    "cat": STR, "strlen": INT, "substr": STR, "to_string": STR, "to_number": INT, "ord": INT,
    "to_unsigned": UNSIGNED, "to_float": FLOAT, "to_date": DATE, "year": INT, "month": INT,
    "day": INT, "hour": INT, "minute": INT, "weekday": INT, "lower": STR, "upper": STR,
    "trim": STR, "replace": STR, "sqrt": FLOAT, "exp": FLOAT, "ln": FLOAT, "days": INT,
    "hours": INT, "minutes": INT, "date": DATE,
}  # fmt: skip
_ARGUMENTS = {
    "cat": (STR,), "strlen": (STR,), "substr": (STR, INT, INT), "lower": (STR,), "upper": (STR,),
    "trim": (STR,), "replace": (STR,), "sqrt": (FLOAT,), "exp": (FLOAT,), "ln": (FLOAT,),
    "days": (INT,), "hours": (INT,), "minutes": (INT,), "date": (INT,),
}  # fmt: skip
_SCALED = ("*", "round", "floor", "ceil")
"""Functors whose results have a scale of their own."""
_OF_TEXTS = ("contains", "match", "starts_with", "ends_with")
_TEMPORAL = ("date", "timestamp")


def kinds_of_columns(clauses: Iterable[tree.Clause]) -> dict[str, list[Kind | None]]:
    """The kinds of the columns of all relations that are declared."""
    clauses = list(clauses)
    base = {clause.name: clause.base for clause in clauses if isinstance(clause, tree.TypeAlias)}

    def of(name: str) -> Kind | None:
        if name not in base and name[-1:] == "?":
            found = of(name[:-1])
            return found and replace(found, optional=True)
        return of(base[name]) if name in base else kind_named(name)

    return {
        each.name: [of(column.type) for column in each.columns]
        for each in clauses
        if isinstance(each, tree.Declaration)
    }


def typed(
    clauses: Iterable[tree.Clause], functions: OfUsers = NO_FUNCTIONS
) -> tuple[tree.Clause, ...]:
    """The program with the kinds of constants, functors and aggregates in its trees, which print
    as before. `functions`: those of users.
    """
    clauses = tuple(clauses)
    columns = kinds_of_columns(clauses)
    names = {
        clause.name: kinds_of_columns([*clauses, _column_of(clause)])[""][0]
        for clause in clauses
        if isinstance(clause, tree.TypeAlias)
    }
    return tuple(
        typed_rule(each, columns, names, functions) if isinstance(each, tree.Rule) else each
        for each in clauses
    )


def _column_of(alias: tree.TypeAlias) -> tree.Declaration:
    return tree.Declaration("", (tree.Column("", alias.name),))


def typed_rule(
    rule: tree.Rule,
    columns: Kinds,
    names: Mapping[str, Kind | None],
    functions: OfUsers = NO_FUNCTIONS,
) -> tree.Rule:
    """A rule with the kinds of its terms. `columns`: the kinds of each relation's columns; `names`:
    the kinds of types that the program names.
    """
    rule = with_calls(rule, functions) if functions else rule
    return _RuleKinds(columns, names, functions).typed(rule)


class _RuleKinds:
    """The kinds of one rule."""

    def __init__(self, columns: Kinds, names: Mapping[str, Kind | None], functions: OfUsers):
        self._columns, self._names, self._functions = columns, names, functions
        self._waiting: list[Callable[[bool], bool]] = []
        self._constants: list[Slot] = []

    def typed(self, rule: tree.Rule) -> tree.Rule:
        """The rule with kinds."""
        scope = _opened({}, direct((*rule.body.literals, *rule.heads)))
        made = replace(
            rule,
            # The body first: what a median gives depends on what it is of.
            body=self._body(rule.body, scope),
            heads=tuple(self._atom(head, scope) for head in rule.heads),
        )
        self._solve()
        return made

    def _solve(self) -> None:
        """Let kinds go from term to term: what is certain first, then what is likely, and where
        both tell no more, one constant takes its own.
        """
        while self._step(False) or self._step(True) or self._a_constant():
            pass

    def _step(self, likely: bool) -> bool:
        for each in self._waiting:
            if each(likely):
                self._waiting.remove(each)
                return True
        return False

    def _a_constant(self) -> bool:
        for slot in self._constants:
            if slot.kind is None:
                slot.take(max(slot.soft, key=lambda kind: (kind.name == "decimal", kind.scale)))
                return True
        return False

    # ── literals ──────────────────────────────────────────────────────────────────────────────────
    def _body(self, body: tree.Body, scope: Scope) -> tree.Body:
        inner = _opened(scope, direct(body.literals))
        return replace(body, literals=tuple(self._literal(each, inner) for each in body.literals))

    def _literal(self, literal: tree.Literal, scope: Scope) -> tree.Literal:
        match literal:
            case tree.Atom():
                return self._atom(literal, scope)
            case tree.Comparison(operator, left, right):
                (one, first), (two, second) = self._term(left, scope), self._term(right, scope)
                for slot in (first, second) if operator in _OF_TEXTS else ():
                    slot.take(STR)
                own = tuple(isinstance(side, tree.Call) and side.functor in _SCALED
                    for side in (left, right))  # fmt: skip
                self._waiting.append(partial(_compared, operator, (first, second), own))
                return replace(literal, left=one, right=two)
            case tree.Negation(body=body):
                return replace(literal, body=self._body(body, scope))
            case tree.Disjunction(branches=branches):
                return replace(
                    literal, branches=tuple(self._body(branch, scope) for branch in branches)
                )
        return literal

    def _atom(self, atom: tree.Atom, scope: Scope) -> tree.Atom:
        found = [self._term(term, scope) for term in atom.terms]
        kinds = self._columns.get(atom.relation, [])
        for (_, slot), kind in zip(found, kinds, strict=False):
            if kind is not None:
                slot.take(kind.wide())
        terms = tuple(term for term, _ in found)
        if atom.value is None:
            return replace(atom, args=terms)
        return replace(atom, args=terms[:-1], value=terms[-1])

    # ── terms ─────────────────────────────────────────────────────────────────────────────────────
    def _term(self, term: tree.Term, scope: Scope) -> tuple[tree.Term, Slot]:
        match term:
            case tree.Variable(name=name):
                return term, scope[name] if name in scope else Slot()
            case tree.Constant(value=value):
                slot = self._constant(kind_of_constant(value))
                return TypedConstant(value, slot, span=term.span), slot
            case tree.Conditional(args=args, condition=condition):
                found = [self._term(arg, scope) for arg in args]
                slot = Slot()
                _join_all([slot, *(each for _, each in found)])
                terms = tuple(each for each, _ in found)
                return replace(term, args=terms, condition=self._body(condition, scope)), slot
            case tree.Call(functor=functor, args=args):
                found = [self._term(arg, scope) for arg in args]
                slot = self._called(functor, args, [each for _, each in found])
                terms = tuple(each for each, _ in found)
                if (user := self._functions.get(functor)) is not None:
                    return UserCall(functor, terms, slot, user.call, span=term.span), slot
                return TypedCall(functor, terms, slot, span=term.span), slot
            case tree.Aggregate():
                return self._aggregate(term, scope)
            case tree.HeadAggregate(args=args):
                found = [self._term(arg, scope) for arg in args]
                known = term.function in FOLDS.keys() | IN_ORDER.keys()
                slots = [slot for _, slot in found]
                slot = self._of_aggregate(term.function, slots) if known else Slot()
                terms = tuple(each for each, _ in found)
                return TypedHeadAggregate(term.function, terms, slot, span=term.span), slot
        return term, Slot()

    def _constant(self, kind: Kind | None) -> Slot:
        if kind is None or (kind != INT and kind.name != "decimal"):
            return Slot(kind)
        slot = Slot(soft=kind)
        self._constants.append(slot)
        return slot

    def _aggregate(self, term: tree.Aggregate, scope: Scope) -> tuple[tree.Term, Slot]:
        own = direct(term.body.literals) & mentioned(term.args)
        outer = {name: slot for name, slot in scope.items() if name not in own}
        inner = _opened(outer, direct(term.body.literals))
        body = self._body(term.body, inner)
        found = [self._term(arg, inner) for arg in term.args]
        slot = self._of_aggregate(term.function, [slot for _, slot in found])
        args = tuple(arg for arg, _ in found)
        return TypedAggregate(term.function, args, body, slot, span=term.span), slot

    def _of_aggregate(self, function: str, args: list[Slot]) -> Slot:
        """The slot of an aggregate's result, by those of its arguments."""
        for arg in args[1:] if function in AT_SHARES else ():
            arg.take(FLOAT)
        if not args or function in OF_INTS:
            return Slot(INT)
        if function in OF_FLOATS:
            return Slot(FLOAT)
        if function in BETWEEN and args[0].kind is not None and args[0].kind.name != "decimal":
            return Slot(FLOAT)
        return args[0]

    # ── functors ──────────────────────────────────────────────────────────────────────────────────
    def _called(self, functor: str, args: tuple[tree.Term, ...], slots: list[Slot]) -> Slot:
        """The slot of a functor's result."""
        if (user := self._functions.get(functor)) is not None:
            for kind, slot in zip(user.arguments, slots, strict=True):
                if kind is not None:
                    slot.take(kind)
            return Slot(user.result and user.result.wide())
        result = Slot(_RESULTS.get(functor))
        given = _ARGUMENTS.get(functor, ())
        for number, slot in enumerate(slots if given else []):
            slot.take(given[min(number, len(given) - 1)])
        if functor in _ALIKE:
            _join_all([*slots, result])
        elif functor in ("round", "floor", "ceil"):
            places = getattr(args[-1], "value", 0) if len(args) > 1 else 0
            self._waiting.append(partial(_rounded, functor, places, slots[0], result))
        elif functor == "as":
            self._named(str(getattr(args[1], "value", "")), slots[0], result)
        elif functor in ("+", "-", "*"):
            left, right = slots
            self._waiting.append(
                partial(_multiplied, left, right, result)
                if functor == "*"
                else partial(_moved, functor, left, right, result)
            )
        return result

    def _named(self, name: str, value: Slot, result: Slot) -> None:
        """`as(x, T)`: x is an int or an unsigned already, or a constant of T."""
        kind = self._names[name] if name in self._names else kind_named(name)
        if kind is None:
            value.join(result)
            return
        result.take(kind.wide())

        def known(likely: bool) -> bool:
            if likely:
                value.take(kind.wide())
            return value.kind is not None

        self._waiting.append(known)


def _compared(operator: str, sides: tuple[Slot, Slot], own: tuple[bool, ...], likely: bool) -> bool:
    """Sides of one kind, but for ints and decimals, which are compared whatever their places.
    `own`: of each side, whether its scale is told by what it is computed of.
    """
    first, second = sides
    if first.kind is not None and second.kind is not None:
        return True
    known, other = first.kind or second.kind, second if first.kind else first
    if known is None:
        return False
    if known.name in ("int", "decimal"):
        more = any(kind.scale > known.scale for kind in other.soft)
        if more or own[sides.index(other)] or (operator != "=" and not likely):
            return False
    first.join(second)
    return True


def _opened(scope: Scope, names: Iterable[str]) -> Scope:
    return {**scope, **{name: Slot() for name in names if name not in scope}}


def _join_all(slots: list[Slot]) -> bool:
    for slot in slots[1:]:
        slots[0].join(slot)
    return True


def _moved(functor: str, left: Slot, right: Slot, result: Slot, likely: bool) -> bool:
    """`+` and `-`: dates and timestamps move by ints, and have a distance."""
    moment = next(_temporal(left, right if functor == "-" else left), None)
    if moment is not None:
        left.take(moment)
        if _is_temporal(right) or (functor == "-" and result.kind == INT and right.kind is None):
            right.take(moment)
            result.take(INT)
        elif likely or right.kind is not None or result.kind is not None:
            right.take(INT)
            result.take(moment)
        else:
            return False
        return True
    if left.kind is None and _is_temporal(result):
        left.join(result)
        right.take(INT)
        return True
    certain = [slot for slot in (left, right, result) if slot.kind not in (None, INT)]
    certain = certain or left.kind or left.soft or (functor == "+" and result.kind)
    known = any(slot.kind is not None for slot in (right, result))
    return _join_all([left, right, result]) if certain or (likely and known) else False


def _rounded(functor: str, places: int, value: Slot, result: Slot, likely: bool) -> bool:
    """`round`, `floor`, `ceil`: of floats a float, of decimals one of this scale."""
    exact = value.kind or next((kind for kind in value.soft if likely), None)
    if exact is not None:
        of_float = exact == FLOAT or (exact == INT and functor != "round")
        value.take(FLOAT if of_float else exact)
        result.take(FLOAT if of_float else Kind("decimal", places))
    return exact is not None


def _multiplied(left: Slot, right: Slot, result: Slot, likely: bool) -> bool:
    """`*`: the scales of decimals add up, those of ints being none."""
    kinds = [left.kind, right.kind]
    known = [kind for kind in kinds if kind is not None]
    if any(kind.name == "decimal" for kind in known):
        if len(known) == 2:
            result.take(Kind("decimal", sum(kind.scale for kind in known)))
        return len(known) == 2
    if FLOAT in known or len(known) == 2 or result.kind in (INT, UNSIGNED, FLOAT):
        exact = result.kind is not None and result.kind.name == "decimal"
        return exact or _join_all([left, right, result])
    other = left if left.kind is None else right
    if likely and known and not any(kind.name == "decimal" for kind in other.soft):
        return _join_all([left, right, result])
    return False


def _temporal(*slots: Slot) -> Iterator[Kind]:
    return (slot.kind for slot in slots if slot.kind is not None and _is_temporal(slot))


def _is_temporal(slot: Slot) -> bool:
    return slot.kind is not None and slot.kind.name in _TEMPORAL
