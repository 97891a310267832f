# SPDX-License-Identifier: Apache-2.0
"""Aggregates over parts: what each part computes of its share, and how the shares make the whole.

| `State` of the aggregate | a part's share | the whole |
|---|---|---|
| `COUNT` | its count | their sum |
| `TOTAL` of int, decimal | sums of upper and lower 32 bits | exact total, checked by its type |
| `TOTAL` of float | the exact sum, as text | the exact sum of these, rounded once |
| `TOTAL`, divided | the same, and the count | the exact total over the count, rounded once |
| `LEAST`, `GREATEST` | its least or greatest | the least or greatest of these |
| `FOLD` | its state, as text | the value of all states put together |

So the result is what one part alone would publish, bit for bit. `TEXTS` and aggregates of users
have no shares.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lftj.errors import ValueRangeError
from lftj.functions import AGGREGATES, TOTALS, State, negated, summed
from lftj.functions import StateKind as Kind
from lftj.heads import ExactSum, UserAggregate, built_in, outside_range
from lftj.program import (
    AggregateTerm,
    Apply,
    Assignment,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.scantree import frozen
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, Role, Source, Type
from lftj.types import decimal as decimal_type

PART = (Source("part", Role.HIDDEN), INT)
"""The first column of shares: the part that they come from."""

_SHIFT, _LOW = Value(32, INT), Value(0xFFFFFFFF, INT)
_EXACT = "#exact"
_WIDTHS = (2, 1)  # words of a total of integers and of a count
_EXACT_WIDTHS = (36, 1, 1, 1)  # of an exact sum's units, its infinities, and a count


@frozen
class Split:
    """A head taken apart: `local` derives a part's shares, relation `shares` holds those of all
    parts, `merge` makes the whole of them.
    """

    local: NormalRule
    shares: RelationSchema
    merge: NormalRule


@frozen
class _Shares:
    """The shares of one aggregate: head terms of the local rule, and the merging function over
    their columns.
    """

    terms: tuple[AggregateTerm, ...]
    function: str


def decomposable(rule: NormalRule) -> bool:
    """Check that every aggregate of a head can be put together from shares."""
    return all(
        (known := AGGREGATES.get(term.function)) is not None and known.parted
        for term in rule.head
        if isinstance(term, AggregateTerm)
    )


def split_aggregate(rule: NormalRule, name: str, merged: str) -> Split:
    """The rules for shares called `name` and for the whole, called `merged`. The head must be
    decomposable.
    """
    maker = _Maker(rule)
    columns: list[tuple[str, Type]] = [PART]
    local_head: list[Ref | AggregateTerm] = []
    merged_head: list[Ref | AggregateTerm] = []
    for place, term in enumerate(rule.head):
        if isinstance(term, Ref):
            merged_head.append(Ref(len(columns)))
            columns.append((f"c{place}", rule.variables[term.variable].type))
            local_head.append(term)
            continue
        shares = maker.shares(term)
        refs = tuple(Ref(len(columns) + number) for number in range(len(shares.terms)))
        merged_head.append(AggregateTerm(shares.function, refs, term.type))
        columns += [(f"c{place}s{number}", share.type) for number, share in enumerate(shares.terms)]
        local_head += shares.terms
    schema = RelationSchema(name, tuple(columns))
    return Split(
        maker.rule(name, tuple(local_head)),
        schema,
        _reading(rule, schema, merged, tuple(merged_head)),
    )


def split_projection(rule: NormalRule, name: str, schema: RelationSchema) -> Split:
    """Split of one rule whose rows several parts may derive: the shares are these rows, the whole
    is their union.
    """
    shares = RelationSchema(
        name, (PART, *((f"c{place}", type) for place, (_, type) in enumerate(schema.columns)))
    )
    head = tuple(Ref(place + 1) for place in range(schema.arity))
    return Split(replace(rule, relation=name), shares, _reading(rule, shares, schema.name, head))


def _reading(
    rule: NormalRule, shares: RelationSchema, merged: str, head: tuple[Ref | AggregateTerm, ...]
) -> NormalRule:
    variables = tuple(RuleVariable(f"_{name}", type) for name, type in shares.columns)
    atom = PositiveAtom(shares.name, tuple(Ref(place) for place in range(shares.arity)))
    return NormalRule(rule.source, merged, head, variables, (atom,), span=rule.span)


def share_column(rule: NormalRule, column: int) -> int:
    """The column of the shares that holds what stands in a group column of the head."""
    if not rule.aggregates:
        return column + 1
    maker = _Maker(rule)
    return 1 + sum(
        len(maker.shares(term).terms) if isinstance(term, AggregateTerm) else 1
        for term in rule.head[:column]
    )


class _Maker:
    """Makes the shares of a rule's aggregates, and the variables that they need."""

    def __init__(self, rule: NormalRule):
        self._rule = rule
        self._variables = list(rule.variables)
        self._assignments = list(rule.assignments)

    def rule(self, name: str, head: tuple[Ref | AggregateTerm, ...]) -> NormalRule:
        return replace(
            self._rule,
            relation=name,
            head=head,
            variables=tuple(self._variables),
            assignments=tuple(self._assignments),
        )

    def shares(self, term: AggregateTerm) -> _Shares:
        known = AGGREGATES[term.function]
        if known.together is not None and known.state is not Kind.TOTAL:
            return _Shares((term,), known.together)
        of = self._rule.variables[term.args[0].variable].type
        text, whole = (STR.or_null, INT.or_null) if of.optional else (STR, INT)
        if known.fold is not None:
            share = AggregateTerm(_share(term.function, of), term.args, text)
            return _Shares((share,), _whole(term.function, of))
        counted = term.args if of.optional else ()
        size = (AggregateTerm("count", counted, INT),) if known.divided else ()
        if of.name == "float":
            return _Shares(
                (AggregateTerm(_EXACT, term.args, text), *size), _whole(term.function, of)
            )
        halves = (
            self._computed("bshr", term.args[0], _SHIFT, whole),
            self._computed("band", term.args[0], _LOW, whole),
        )
        sums = tuple(AggregateTerm("sum", (half,), whole) for half in halves)
        return _Shares((*sums, *size), _whole(term.function, of))

    def _computed(self, operator: str, argument: Ref, other: Value, type: Type) -> Ref:
        self._variables.append(RuleVariable("_", type))
        made, value = Ref(len(self._variables) - 1), Apply(operator, (argument, other), type)
        self._assignments.append(Assignment(made.variable, value))
        return made


# ── the verbs ─────────────────────────────────────────────────────────────────────────────────────
def _share(function: str, type: Type) -> str:
    return f"#share-{function}-{type.name}-{type.scale or 0}"


def _whole(function: str, type: Type) -> str:
    if type.name == "float" and function in TOTALS:
        return f"#float-{function}"
    return f"#{function}-{type.name}-{type.scale or 0}"


def _parts_of(value: float) -> State:
    return ExactSum([value]).parts


def _spelt(state: State) -> str:
    units, *infinities = state
    return " ".join([f"{units:x}", *map(str, infinities)])


def _read(text: str) -> State:
    units, *infinities = text.split()
    return int(units, 16), *map(int, infinities)


def _rounded(state: tuple[int, ...]) -> float:
    return ExactSum.of_parts(*state[:3]).value()


class _Sum(UserAggregate):
    """A total of integers or decimals, put together from shares."""

    __slots__ = ()

    def error_of(self, problem: Exception, group: str) -> Exception:
        """The error of a sum in one part for a total that its type has no value for."""
        if isinstance(problem, ValueRangeError):
            shown, _, type = problem.message.partition(" is outside the range of ")
            same = outside_range(group, shown, "int" if type.startswith("int") else type)
            problem.message, problem.hint = same.message, same.hint
        return problem


def _verb(
    name: str,
    zero: State,
    lift: Any,
    finish: Any,
    types: tuple[Type, ...],
    result: Type,
    kind: type[UserAggregate] = UserAggregate,
) -> UserAggregate:
    widths = _EXACT_WIDTHS if len(zero) > 2 else _WIDTHS
    return kind(name, zero, lift, summed, negated, finish, types, result, widths[: len(zero)])


def _integral(function: str, of: Type) -> UserAggregate:
    """The whole of a total of ints or decimals."""
    name, unit = _whole(function, of), 10 ** (of.scale or 0)
    if AGGREGATES[function].divided:
        return _verb(
            name,
            (0, 0),
            lambda high, low, size: ((high << 32) + low, size),
            lambda state: state[0] / (state[1] * unit) if state[1] else 0.0,
            (INT, INT, INT),
            FLOAT,
        )

    def total(state: State) -> Any:
        return state[0] if of == INT else decimal.Decimal(f"{state[0]}e-{of.scale}")

    return _verb(name, (0,), lambda high, low: ((high << 32) + low,), total, (INT, INT), INT, _Sum)


def _floating(function: str) -> UserAggregate:
    """The whole of a total of floats."""
    if AGGREGATES[function].divided:
        return _verb(
            _whole(function, FLOAT),
            (0, 0, 0, 0),
            lambda text, size: (*_read(text), size),
            lambda state: _rounded(state) / state[3] if state[3] else 0.0,
            (STR, INT),
            FLOAT,
        )
    return _verb(_whole(function, FLOAT), (0, 0, 0), _read, _rounded, (STR,), FLOAT)


def _folded(function: str, of: Type) -> list[UserAggregate]:
    """A share of a fold, and the whole."""
    fold = built_in(function, of)
    assert fold is not None
    share = replace(
        fold,
        name=_share(function, of),
        finish=lambda state: " ".join([f"{number:x}" for number in state]),
        result_type=STR,
    )
    whole = replace(
        fold,
        name=_whole(function, of),
        lift=lambda text: tuple([int(number, 16) for number in text.split()]),
        argument_types=(STR,),
        summands=None,
    )
    return [share, whole]


_TYPES = (INT, FLOAT, STR, BOOL, DATE, TIMESTAMP, *(decimal_type(18, scale) for scale in range(19)))


def verbs() -> Mapping[str, UserAggregate]:
    """The aggregates that shares and wholes are made with, by name."""
    found = [_verb(_EXACT, (0, 0, 0), _parts_of, _spelt, (FLOAT,), STR)]
    for name, each in AGGREGATES.items():
        for of in _TYPES:
            if each.fold is not None and each.result(of) is not None:
                found += _folded(name, of)
            elif each.state is Kind.TOTAL and each.result(of) is not None:
                found.append(_floating(name) if of == FLOAT else _integral(name, of))
    return {verb.name: verb for verb in found}
