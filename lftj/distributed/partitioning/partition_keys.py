# SPDX-License-Identifier: Apache-2.0
"""Leading variables: which there are, in which cut atoms are read under one, and by which columns
rows may lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

from lftj.distributed.partitioning.cuts import ALL, ONE, Cut, Hub, HubCut
from lftj.program import (
    FunctorRule,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    Stratum,
    Value,
)
from lftj.scantree import frozen
from lftj.types import Type

Rule = NormalRule | FunctorRule
Term = int | Value
"""A variable; in questions also a constant."""


@frozen(slots=True)
class Pair:
    """A leading variable, and the one after it, by which the work on `hubs` is cut: values of the
    first that outweigh a part.
    """

    first: Term
    second: Term
    hubs: tuple[Hub, ...]


Lead = Term | Pair | None
"""Cut of a rule: a variable; a constant, which only one part can have; a pair of these; or
nothing.
"""


@frozen
class Placement:
    """Placement of a relation: the cut in which its rows live (`home`), and the variable by which
    each of its rules is cut (None: by none).

    `shares`: parts derive shares, which travel to the home. `cuts`: it is derived in supersteps,
    and parts hold it in these cuts, the home first.
    """

    home: Cut
    leads: tuple[Lead, ...]
    shares: bool = False
    cuts: tuple[int, ...] = ()


def rules_of(stratum: Stratum, name: str) -> list[Rule]:
    """The rules of one relation of a stratum."""
    return [rule for rule in stratum.rules if rule.relation == name]


def leading(rule: NormalRule) -> Iterator[int]:
    """The variables that may lead: those of positive atoms."""
    yield from sorted(
        {
            argument.variable
            for atom in rule.atoms
            for argument in atom.args
            if isinstance(argument, Ref)
        }
    )


def constants(rule: NormalRule) -> Iterator[Value]:
    """The constants that may lead: those of positive atoms."""
    yield from {
        argument: None
        for atom in rule.atoms
        for argument in atom.args
        if isinstance(argument, Value)
    }


def home_columns(schema: RelationSchema) -> list[int]:
    """The columns that rows may be cut by: those of the key and of every choice domain, so that one
    part sees all rows that agree on one; else all.
    """
    columns = set(range(schema.arity) if schema.key is None else schema.key)
    return sorted(columns.intersection(*schema.choice))


def cut_of(atom: PositiveAtom | NegatedAtom, lead: Lead, home: Cut | None) -> Cut:
    """The cut in which an atom is read: by a column that holds the leading variable, best the one
    by which its relation lies.

    Under a pair, rows of hubs lie by the second where the atom has it, and in every part where it
    has not: a part has all that goes with the values of the two that are its own, and some atom has
    both, so no two parts find one thing.
    """
    options: list[Cut] = [*_columns(atom, lead.first if isinstance(lead, Pair) else lead)]
    if isinstance(lead, Pair):
        seconds: list[int | None] = [*_columns(atom, lead.second)]
        options = [
            HubCut(column, second, lead.hubs)
            for column in options
            if isinstance(column, int)
            for second in seconds or [None]
        ]
    return home if home in options and home is not None else options[0] if options else ALL


def _columns(atom: PositiveAtom | NegatedAtom, lead: Term | None) -> list[int]:
    """The columns that hold a variable or constant."""
    term = Ref(lead) if isinstance(lead, int) else lead
    return [
        column for column, argument in enumerate(atom.args) if term is not None and argument == term
    ]


def lead_at(rule: Rule, column: int) -> int | None:
    """The variable that a head has in a column, if it may lead."""
    if isinstance(rule, FunctorRule) or column < 0:
        return None
    term = rule.head[column]
    return term.variable if isinstance(term, Ref) and term.variable in set(leading(rule)) else None


def alone(rules: list[Rule]) -> Placement:
    """Placement in the first part, which derives everything."""
    return Placement(ONE, tuple(None for _ in rules))


def pairs(
    rule: NormalRule, hubs: Callable[[Type], tuple[Hub, ...]], *, constants: bool = False
) -> Iterator[Pair]:
    """The pairs that may lead: those that a positive atom has both of, where the first may be a
    hub.
    """
    found: dict[tuple[Term, Term], None] = {}
    for atom in rule.atoms:
        terms = [
            argument.variable if isinstance(argument, Ref) else argument for argument in atom.args
        ]
        found |= dict.fromkeys(pair for pair in permutations(terms, 2) if pair[0] != pair[1])
    for first, second in found:
        of = hubs(first.type if isinstance(first, Value) else rule.variables[first].type)
        if of and (constants or (isinstance(first, int) and isinstance(second, int))):
            yield Pair(first, second, of)


def pair_at(rule: Rule, cut: HubCut) -> Pair | None:
    """The pair that a head has in the columns of a cut, if it may lead."""
    if isinstance(rule, FunctorRule) or cut.second is None:
        return None
    first, second = rule.head[cut.column], rule.head[cut.second]
    if not isinstance(first, Ref) or not isinstance(second, Ref):
        return None
    wanted = first.variable, second.variable
    return next(
        (pair for pair in pairs(rule, lambda _: cut.hubs) if (pair.first, pair.second) == wanted),
        None,
    )
