"""Where relations live: for every rule a leading variable, by whose values its work is cut, and for every view a home.

A rule's atoms that hold the leading variable are read in a cut by that column, each part its own rows; the others are read whole by every
part (`ALL`). A view whose rules all put their leading variable into one head column lives where it is derived: each row, or group, belongs
to one part, which needs nobody to know it. Where no column serves, parts derive *shares*, which travel to the home of the row or group and
are put together there. Recursion that keeps no column goes in rounds (`exchange`). What cannot be cut at all (`concat` over everything)
is done by the first part.

The choice weighs what has to be read whole, then what has to travel. Independent of it, every answer is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from operator import itemgetter

from lftj.distributed.placing.cuts import ALL, ONE
from lftj.distributed.placing.exchange import exchanged
from lftj.distributed.placing.leads import Placement, Rule, alone, cut_of, home_columns, lead_at, leading, rules_of
from lftj.distributed.placing.partials import decomposable
from lftj.program.normal_form import FunctorRule, NormalRule, Ref, RelationSchema, StratifiedProgram, Stratum, Value

SHARED_ROWS = 20_000_000
"""Relations of more rows are read whole only where there is no other way."""

_MANY = 256  # assignments of columns to the relations of a recursive stratum that are looked at
_WHOLE, _HUGE, _TRAVEL, _SHARES = 10, 10_000, 3, 100  # only the order of these matters
_ONCE_ONLY = 1_000_000


class Placing:
    """Places the derived relations of a program, stratum by stratum. `sizes`: rows of base relations, where known.

    `known`: what is placed already, where only `own` strata are to be.
    """

    def __init__(
        self,
        program: StratifiedProgram,
        sizes: Mapping[str, int],
        known: Mapping[str, Placement] | None = None,
        own: Sequence[Stratum] | None = None,
    ):
        self.found: dict[str, Placement] = dict(known or {})
        self._program = program
        self._sizes = sizes
        for stratum in program.strata if own is None else own:
            self._stratum(stratum)

    def _stratum(self, stratum: Stratum) -> None:
        if stratum.recursive:
            self.found |= self._recursive(stratum)
            return
        for name in stratum.relations:
            self.found[name] = self._plain(self._program.relations[name], rules_of(stratum, name))

    # ── one relation ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _plain(self, schema: RelationSchema, rules: list[Rule]) -> Placement:
        options: list[tuple[int, int, Placement]] = []
        for number, column in enumerate(home_columns(schema)):
            cost = sum(self._cost_at(rule, column, {}) for rule in rules)
            if cost < _ONCE_ONLY:
                options.append((cost, number, Placement(column, tuple(lead_at(rule, column) for rule in rules))))
        if (shares := self._shares(schema, rules)) is not None:
            options.append(shares)
        options += self._others(schema, rules)
        # Placements do not compare, but no two options have one number.
        return min(options)[2] if options else alone(rules)

    def _others(self, schema: RelationSchema, rules: list[Rule]) -> Iterable[tuple[int, int, Placement]]:
        """Further options."""
        return ()

    def _leads(self, rule: NormalRule) -> Iterator[int | Value]:
        """What a rule may be cut by."""
        return leading(rule)

    def _reading(self, relation: str, cut: int) -> int:
        """The cost of having a relation in a cut."""
        return 0 if cut != ALL else _HUGE if self._sizes.get(relation, 0) > SHARED_ROWS else _WHOLE

    def _shares(self, schema: RelationSchema, rules: list[Rule]) -> tuple[int, int, Placement] | None:
        """Parts derive shares, each rule cut by the variable that is cheapest for it."""
        normal = [rule for rule in rules if isinstance(rule, NormalRule)]
        if len(normal) < len(rules) or not all(map(decomposable, normal)) or not any(rule.atoms for rule in normal):
            return None
        if any(rule.aggregates and not rule.atoms for rule in normal):
            return None
        cost, leads = 0, []
        for rule in normal:
            least, lead = min(((self._cost(rule, v, {}), v) for v in self._leads(rule)), default=(0, None), key=itemgetter(0))
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
        lead = lead_at(rule, column)
        return _ONCE_ONLY if lead is None else self._cost(rule, lead, homes)

    def _cost(self, rule: NormalRule, lead: int | Value, homes: Mapping[str, int]) -> int:
        read = {}
        for atom in (*rule.atoms, *rule.negated):
            home = self._home(atom.relation, homes)
            cut = cut_of(atom, lead, home)
            read[atom.relation, cut] = self._reading(atom.relation, cut) + (_TRAVEL if home is not None and cut != home else 0)
        return sum(read.values())

    def _home(self, relation: str, homes: Mapping[str, int]) -> int | None:
        """Where a derived relation lives, None for a base relation, which may be read in any cut."""
        return homes[relation] if relation in homes else self.found[relation].home if relation in self.found else None

    # ── recursive strata ──────────────────────────────────────────────────────────────────────────────────────────────
    def _recursive(self, stratum: Stratum) -> dict[str, Placement]:
        kept = self._kept(stratum)
        if kept is not None and kept[0] < _HUGE:
            return kept[1]
        rounds = exchanged(stratum, self._program, lambda rule, lead: self._cost(rule, lead, {}))
        options = [found for found in (kept, rounds) if found is not None]
        if options:
            return min(options, key=lambda option: option[0])[1]
        return {name: alone(rules_of(stratum, name)) for name in stratum.relations}

    def _kept(self, stratum: Stratum) -> tuple[int, dict[str, Placement]] | None:
        """By a column of each relation that every rule keeps: then each part has a fixpoint of its own. With what it costs."""
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
        if best is None:
            return None
        placed = {
            name: Placement(column, tuple(lead_at(rule, column) for rule in rules_of(stratum, name))) for name, column in best[1].items()
        }
        return best[0], placed


def _keeps(rule: Rule, homes: Mapping[str, int]) -> bool:
    """Whether the rows that a recursive rule reads of its own stratum lie in the part of the row that it derives."""
    if isinstance(rule, FunctorRule):
        return rule.domain not in homes or homes[rule.domain] == homes[rule.relation]
    lead = lead_at(rule, homes[rule.relation])
    return lead is not None and all(atom.args[homes[atom.relation]] == Ref(lead) for atom in rule.atoms if atom.relation in homes)
