"""Where relations live: for every rule a leading variable, by whose values its work is cut, and for every view a home.

A rule's atoms that hold the leading variable are read in a cut by that column, each part its own rows; the others are read whole by every
part (`ALL`). A view whose rules all put their leading variable into one head column lives where it is derived: each row, or group, belongs
to one part, which needs nobody to know it. Where no column serves, parts derive *shares*, which travel to the home of the row or group and
are put together there. What cannot be cut at all (recursion that keeps no column, `concat` over everything) is done by the first part.

The choice weighs what has to be read whole, then what has to travel. Independent of it, every answer is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from lftj.distributed.cuts import ALL, ONE
from lftj.distributed.partials import decomposable
from lftj.program.normal_form import FunctorRule, NegatedAtom, NormalRule, PositiveAtom, Ref, RelationSchema, StratifiedProgram, Stratum

SHARED_ROWS = 20_000_000
"""Relations of more rows are read whole only where there is no other way."""

_MANY = 256  # assignments of columns to the relations of a recursive stratum that are looked at
_WHOLE, _HUGE, _TRAVEL, _SHARES = 10, 10_000, 3, 100  # only the order of these matters
_ONCE_ONLY = 1_000_000

Rule = NormalRule | FunctorRule


@dataclass(frozen=True)
class Placement:
    """Where a relation's rows live (`home`, a cut) and by which variable each of its rules is cut (None: by none).

    `shares`: parts derive shares, which travel to the home. `alone`: the first part derives everything.
    """

    home: int
    leads: tuple[int | None, ...]
    shares: bool = False

    @property
    def alone(self) -> bool:
        """Whether the first part does it."""
        return self.home == ONE and not self.shares


class Placing:
    """Places the derived relations of a program, stratum by stratum. `sizes`: rows of base relations, where known."""

    def __init__(self, program: StratifiedProgram, sizes: Mapping[str, int]):
        self.found: dict[str, Placement] = {}
        self._program = program
        self._sizes = sizes
        for stratum in program.strata:
            self._stratum(stratum)

    def _stratum(self, stratum: Stratum) -> None:
        columns = self._recursive(stratum) if stratum.recursive else None
        for name in stratum.relations:
            schema = self._program.relations[name]
            rules = rules_of(stratum, name)
            if not stratum.recursive:
                self.found[name] = self._plain(schema, rules)
            elif columns is None:
                self.found[name] = _alone(rules)
            else:
                self.found[name] = Placement(columns[name], tuple(_lead(rule, columns[name]) for rule in rules))

    # ── one relation ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _plain(self, schema: RelationSchema, rules: list[Rule]) -> Placement:
        options: list[tuple[int, int, Placement]] = []
        for number, column in enumerate(home_columns(schema)):
            cost = sum(self._cost_at(rule, column, {}) for rule in rules)
            if cost < _ONCE_ONLY:
                options.append((cost, number, Placement(column, tuple(_lead(rule, column) for rule in rules))))
        if (shares := self._shares(schema, rules)) is not None:
            options.append(shares)
        # Placements do not compare, but no two options have one number.
        return min(options)[2] if options else _alone(rules)

    def _shares(self, schema: RelationSchema, rules: list[Rule]) -> tuple[int, int, Placement] | None:
        """Parts derive shares, each rule cut by the variable that is cheapest for it."""
        normal = [rule for rule in rules if isinstance(rule, NormalRule)]
        if len(normal) < len(rules) or not all(map(decomposable, normal)) or not any(rule.atoms for rule in normal):
            return None
        if any(rule.aggregates and not rule.atoms for rule in normal):
            return None
        cost, leads = 0, []
        for rule in normal:
            least, lead = min(((self._cost(rule, v, {}), v) for v in leading(rule)), default=(0, None))
            cost += least
            leads.append(lead)
        return cost + _SHARES, schema.arity, Placement(self._merge_home(schema, normal), tuple(leads), shares=True)

    @staticmethod
    def _merge_home(schema: RelationSchema, rules: list[NormalRule]) -> int:
        columns = [place for place in home_columns(schema) if all(isinstance(rule.head[place], Ref) for rule in rules)]
        return columns[0] if columns else ONE

    def _cost_at(self, rule: Rule, column: int, homes: Mapping[str, int]) -> int:
        """The cost of a rule when its head's rows are to be where this column says; _ONCE_ONLY when that is impossible."""
        if isinstance(rule, FunctorRule):
            home = self._home(rule.domain, homes)
            return 0 if column < len(rule.types) and home in (None, column) else _ONCE_ONLY
        lead = _lead(rule, column)
        return _ONCE_ONLY if lead is None else self._cost(rule, lead, homes)

    def _cost(self, rule: NormalRule, lead: int, homes: Mapping[str, int]) -> int:
        read = {}
        for atom in (*rule.atoms, *rule.negated):
            home = self._home(atom.relation, homes)
            cut = cut_of(atom, lead, home)
            whole = 0 if cut != ALL else _HUGE if self._sizes.get(atom.relation, 0) > SHARED_ROWS else _WHOLE
            read[atom.relation, cut] = whole + (_TRAVEL if home is not None and cut != home else 0)
        return sum(read.values())

    def _home(self, relation: str, homes: Mapping[str, int]) -> int | None:
        """Where a derived relation lives, None for a base relation, which may be read in any cut."""
        return homes[relation] if relation in homes else self.found[relation].home if relation in self.found else None

    # ── recursive strata ──────────────────────────────────────────────────────────────────────────────────────────────
    def _recursive(self, stratum: Stratum) -> dict[str, int] | None:
        """A column of each relation that every rule keeps: then each part has a fixpoint of its own."""
        options = [home_columns(self._program.relations[name]) for name in stratum.relations]
        if prod(map(len, options)) > _MANY:
            return None
        best: tuple[int, dict[str, int]] | None = None
        for columns in product(*options):
            homes = dict(zip(stratum.relations, columns, strict=True))
            if not all(_keeps(rule, homes) for rule in stratum.rules):
                continue
            cost = sum(self._cost_at(rule, homes[rule.relation], homes) for rule in stratum.rules)
            if cost < _ONCE_ONLY and (best is None or cost < best[0]):
                best = cost, homes
        return None if best is None else best[1]


def _keeps(rule: Rule, homes: Mapping[str, int]) -> bool:
    """Whether the rows that a recursive rule reads of its own stratum lie in the part of the row that it derives."""
    if isinstance(rule, FunctorRule):
        return rule.domain not in homes or homes[rule.domain] == homes[rule.relation]
    lead = _lead(rule, homes[rule.relation])
    return lead is not None and all(atom.args[homes[atom.relation]] == Ref(lead) for atom in rule.atoms if atom.relation in homes)


# ── parts of the above ────────────────────────────────────────────────────────────────────────────────────────────────
def rules_of(stratum: Stratum, name: str) -> list[Rule]:
    """The rules of one relation of a stratum."""
    return [rule for rule in stratum.rules if rule.relation == name]


def leading(rule: NormalRule) -> Iterator[int]:
    """The variables that may lead: those of positive atoms."""
    yield from sorted({argument.variable for atom in rule.atoms for argument in atom.args if isinstance(argument, Ref)})


def home_columns(schema: RelationSchema) -> list[int]:
    """The columns that rows may be cut by: those of the key, so that one part sees all rows of a key, or else all."""
    return sorted(range(schema.arity) if schema.key is None else schema.key)


def cut_of(atom: PositiveAtom | NegatedAtom, lead: int | None, home: int | None) -> int:
    """The cut in which an atom is read: by a column that holds the leading variable, best the one by which its relation lies."""
    columns = [column for column, argument in enumerate(atom.args) if lead is not None and argument == Ref(lead)]
    return home if home in columns and home is not None else columns[0] if columns else ALL


def _lead(rule: Rule, column: int) -> int | None:
    """The variable that a head has in a column, if it may lead."""
    if isinstance(rule, FunctorRule) or column < 0:
        return None
    term = rule.head[column]
    return term.variable if isinstance(term, Ref) and term.variable in set(leading(rule)) else None


def _alone(rules: list[Rule]) -> Placement:
    return Placement(ONE, tuple(None for _ in rules))
