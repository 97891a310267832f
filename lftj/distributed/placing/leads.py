"""Leading variables: which there are, in which cut atoms are read under one, and by which columns rows may lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lftj.distributed.placing.cuts import ALL, ONE
from lftj.program.normal_form import FunctorRule, NegatedAtom, NormalRule, PositiveAtom, Ref, RelationSchema, Stratum, Value

Rule = NormalRule | FunctorRule
Lead = int | Value | None
"""By what a rule is cut: a variable; in questions also a constant, which only one part can have; or by nothing."""


@dataclass(frozen=True)
class Placement:
    """Where a relation's rows live (`home`, a cut) and by which variable each of its rules is cut (None: by none).

    `shares`: parts derive shares, which travel to the home. `cuts`: it is derived in rounds, and parts hold it in these cuts, the home
    first.
    """

    home: int
    leads: tuple[Lead, ...]
    shares: bool = False
    cuts: tuple[int, ...] = ()


def rules_of(stratum: Stratum, name: str) -> list[Rule]:
    """The rules of one relation of a stratum."""
    return [rule for rule in stratum.rules if rule.relation == name]


def leading(rule: NormalRule) -> Iterator[int]:
    """The variables that may lead: those of positive atoms."""
    yield from sorted({argument.variable for atom in rule.atoms for argument in atom.args if isinstance(argument, Ref)})


def home_columns(schema: RelationSchema) -> list[int]:
    """The columns that rows may be cut by: those of the key and of every choice domain, so that one part sees all rows that agree on one;
    else all."""
    columns = set(range(schema.arity) if schema.key is None else schema.key)
    return sorted(columns.intersection(*schema.choice))


def cut_of(atom: PositiveAtom | NegatedAtom, lead: Lead, home: int | None) -> int:
    """The cut in which an atom is read: by a column that holds the leading variable, best the one by which its relation lies."""
    term = Ref(lead) if isinstance(lead, int) else lead
    columns = [column for column, argument in enumerate(atom.args) if term is not None and argument == term]
    return home if home in columns and home is not None else columns[0] if columns else ALL


def lead_at(rule: Rule, column: int) -> int | None:
    """The variable that a head has in a column, if it may lead."""
    if isinstance(rule, FunctorRule) or column < 0:
        return None
    term = rule.head[column]
    return term.variable if isinstance(term, Ref) and term.variable in set(leading(rule)) else None


def alone(rules: list[Rule]) -> Placement:
    """In the first part, which derives everything."""
    return Placement(ONE, tuple(None for _ in rules))
