# SPDX-License-Identifier: Apache-2.0
"""Choice of placements: for every rule a leading variable, by whose values its work is cut, and for
every view a home.

A rule's atoms that hold the leading variable are read in a cut by that column, each part its own
rows; the others are read whole by every part (`ALL`). A view whose rules all put their leading
variable into one head column lives where it is derived: each row, or group, belongs to one part,
which needs no other part. Where no column serves, parts derive *shares*, which travel to the home
of the row or group and are put together there. Recursion that keeps no column goes in supersteps
(`superstep_cuts`). Rules that cannot be cut at all (`concat` over everything) are done by the first
part.

The choice weighs the relations that have to be read whole, by their rows, then the rows that have
to travel. A
leading variable with *hubs*, values that outweigh a part, is then given a second one, by which the
work on hubs is cut (`_split`). Independent of all this, every answer is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from operator import itemgetter

from lftj.distributed.partitioning.cuts import ALL, ONE, Cut, HubCut
from lftj.distributed.partitioning.hub_columns import Hubs
from lftj.distributed.partitioning.partials import decomposable
from lftj.distributed.partitioning.partition_keys import (
    Lead,
    Placement,
    Rule,
    alone,
    constants,
    cut_of,
    home_columns,
    lead_at,
    leading,
    pair_at,
    pairs,
    rules_of,
)
from lftj.distributed.partitioning.superstep_cuts import exchanged
from lftj.program import FunctorRule, NormalRule, Ref, RelationSchema, StratifiedProgram, Stratum

SHARED_ROWS = 20_000_000
"""Relations of more rows are read whole only where there is no other way."""

_MANY = 256  # assignments of columns to the relations of a recursive stratum that are looked at
_WHOLE, _TRAVEL, _SHARES = 10, 3, 100  # only the order of these matters
_HUGE, _ONCE_ONLY = 10**9, 10**12
_ROWS = 40
"""Rows of a relation that cost one more where it is read whole: one of some thousand rows costs as
much as shares, which take a round more.
"""


class Partitioner:
    """Places the derived relations of a program, stratum by stratum. `sizes`: rows of base
    relations, where known.

    `known`: what is placed already, where only `own` strata are to be. `hubs` are told those of
    what is placed.
    """

    def __init__(
        self,
        program: StratifiedProgram,
        sizes: Mapping[str, int],
        hubs: Hubs,
        known: Mapping[str, Placement] | None = None,
        own: Sequence[Stratum] | None = None,
    ):
        self.found: dict[str, Placement] = dict(known or {})
        self._program = program
        self._sizes = sizes
        self._hubs = hubs
        for stratum in program.strata if own is None else own:
            self._stratum(stratum)
            for rule in stratum.rules:
                hubs.follow(rule, program.relations[rule.relation])

    def _stratum(self, stratum: Stratum) -> None:
        if stratum.recursive:
            self.found |= self._recursive(stratum)
            return
        for name in stratum.relations:
            schema, rules = self._program.relations[name], rules_of(stratum, name)
            self.found[name] = self._split(self._plain(schema, rules), schema, rules)

    # ── one relation ──────────────────────────────────────────────────────────────────────────────
    def _plain(self, schema: RelationSchema, rules: list[Rule]) -> Placement:
        options: list[tuple[int, int, Placement]] = []
        for number, column in enumerate(home_columns(schema)):
            cost = sum(self._cost_at(rule, column, {}) for rule in rules)
            if cost < _ONCE_ONLY:
                options.append(
                    (
                        cost,
                        number,
                        Placement(column, tuple(lead_at(rule, column) for rule in rules)),
                    )
                )
        if (shares := self._shares(schema, rules)) is not None:
            options.append(shares)
        options += self._others(schema, rules)
        # Placements do not compare, but no two options have one number.
        return min(options)[2] if options else alone(rules)

    def _others(
        self, schema: RelationSchema, rules: list[Rule]
    ) -> Iterable[tuple[int, int, Placement]]:
        """Further options."""
        return ()

    def _leads(self, rule: NormalRule) -> Iterator[Lead]:
        """Variables that a rule may be cut by. Without a variable these are constants: then one
        part has all its rows.
        """
        found = list(leading(rule))
        return iter(found or list[Lead](constants(rule)))

    def _reading(self, relation: str, cut: Cut) -> int:
        """The cost of having a relation in a cut."""
        if isinstance(cut, HubCut):
            rows = 0 if cut.second is not None else self._hubs.rows(relation, cut.column)
            return _HUGE if rows > SHARED_ROWS else len(str(rows)) if cut.second is None else 0
        if cut != ALL:
            return 0
        rows = self._sizes.get(relation, 0)
        return _HUGE if rows > SHARED_ROWS else _WHOLE + rows // _ROWS

    def _sent(self, rule: NormalRule) -> int:
        """The cost of the rows that shares of a rule have: those of groups are few, others as many
        as it reads, or more.
        """
        rows = (self._sizes.get(name, 0) for name in rule.reads)
        return 0 if rule.aggregates else max(rows, default=0) // _ROWS

    def _shares(
        self, schema: RelationSchema, rules: list[Rule]
    ) -> tuple[int, int, Placement] | None:
        """Parts derive shares, each rule cut by the variable that is cheapest for it.

        What cannot be cut is found by every part, which makes no difference to rows, but is counted
        as often: aggregates are not so placed.
        """
        normal = [rule for rule in rules if isinstance(rule, NormalRule)]
        if (
            len(normal) < len(rules)
            or not all(map(decomposable, normal))
            or not any(rule.atoms for rule in normal)
        ):
            return None
        if any(rule.aggregates and next(self._leads(rule), None) is None for rule in normal):
            return None
        cost, leads = 0, list[Lead]()
        for rule in normal:
            least, lead = min(
                ((self._cost(rule, lead, {}), lead) for lead in self._leads(rule)),
                default=(0, None),
                key=itemgetter(0),
            )
            cost += least + self._sent(rule)
            leads.append(lead)
        return (
            cost + _SHARES,
            schema.arity,
            Placement(self._merge_home(schema, normal), tuple(leads), shares=True),
        )

    @staticmethod
    def _merge_home(schema: RelationSchema, rules: list[NormalRule]) -> int:
        columns = [
            place
            for place in home_columns(schema)
            if all(isinstance(rule.head[place], Ref) for rule in rules)
        ]
        return columns[0] if columns else ONE

    def _cost_at(self, rule: Rule, column: int, homes: Mapping[str, int]) -> int:
        """The cost of a rule when its head's rows are to be where this column says; _ONCE_ONLY when
        that is impossible.
        """
        if isinstance(rule, FunctorRule):
            home = self._home(rule.domain, homes)
            return 0 if column < len(rule.types) and home in (None, column) else _ONCE_ONLY
        lead = lead_at(rule, column)
        return _ONCE_ONLY if lead is None else self._cost(rule, lead, homes)

    def _cost(self, rule: NormalRule, lead: Lead, homes: Mapping[str, int]) -> int:
        read = {}
        for atom in (*rule.atoms, *rule.negated):
            home = self._home(atom.relation, homes)
            cut = cut_of(atom, lead, home)
            read[atom.relation, cut] = self._reading(atom.relation, cut) + (
                _TRAVEL if home is not None and cut != home else 0
            )
        return sum(read.values())

    def _home(self, relation: str, homes: Mapping[str, int]) -> Cut | None:
        """Home of a derived relation, None for a base relation, which may be read in any cut."""
        return (
            homes[relation]
            if relation in homes
            else self.found[relation].home
            if relation in self.found
            else None
        )

    # ── hubs ──────────────────────────────────────────────────────────────────────────────────────
    def _split(self, placed: Placement, schema: RelationSchema, rules: list[Rule]) -> Placement:
        """The same, but for hubs, which are cut by a second variable where that leaves it to the
        parts what they derive, or to shares.

        Rows of a view that would have to travel as shares only for that, as many as it has, stay.
        """
        normal = [rule for rule in rules if isinstance(rule, NormalRule)]
        home = placed.home
        if len(normal) < len(rules) or schema.choice or isinstance(home, HubCut):
            return placed
        columns = [
            place
            for place in home_columns(schema)
            if all(isinstance(rule.head[place], Ref) for rule in normal)
        ]
        leads = self._pairs(normal, placed.leads)
        cuts = [
            HubCut(home, second, self._hubs.of(schema.columns[home][1]))
            for second in columns
            if home in columns and second != home
        ]
        if placed.shares:
            heavy = any(
                isinstance(term := rule.head[cut.column], Ref)
                and self._hubs.heavy(rule, term.variable)
                for cut in cuts
                for rule in normal
            )
            return replace(placed, home=cuts[0] if heavy else home, leads=leads)
        if leads == placed.leads:
            return placed
        options = [option for cut in cuts if (option := self._staying(cut, normal)) is not None]
        if not options and len(normal) == 1 and normal[0].aggregates and decomposable(normal[0]):
            return Placement(home, leads, shares=True)
        return min(options, key=itemgetter(0), default=(0, placed))[1]

    def _staying(self, cut: HubCut, rules: list[NormalRule]) -> tuple[int, Placement] | None:
        """Rows live where they are derived, as all rules have a pair in the columns of the cut.
        With what it costs.
        """
        leads = [(rule, pair) for rule in rules if (pair := pair_at(rule, cut)) is not None]
        if len(leads) < len(rules):
            return None
        return sum(self._cost(*each, {}) for each in leads), Placement(
            cut, tuple(pair for _, pair in leads)
        )

    def _pairs(self, rules: list[NormalRule], leads: Sequence[Lead]) -> tuple[Lead, ...]:
        """Pairs in place of heavy leading variables, where there are any."""
        found = list[Lead]()
        for rule, lead in zip(rules, leads, strict=True):
            options = (
                [pair for pair in pairs(rule, self._hubs.of) if pair.first == lead]
                if self._hubs.heavy(rule, lead)
                else []
            )
            found.append(min(options, key=lambda pair: self._cost(rule, pair, {}), default=lead))
        return tuple(found)

    # ── recursive strata ──────────────────────────────────────────────────────────────────────────
    def _recursive(self, stratum: Stratum) -> dict[str, Placement]:
        kept = self._kept(stratum)
        if kept is not None and kept[0] < _HUGE:
            return kept[1]
        supersteps = exchanged(
            stratum, self._program, lambda rule, lead: self._cost(rule, lead, {})
        )
        options = [found for found in (kept, supersteps) if found is not None]
        if options:
            return min(options, key=lambda option: option[0])[1]
        return {name: alone(rules_of(stratum, name)) for name in stratum.relations}

    def _kept(self, stratum: Stratum) -> tuple[int, dict[str, Placement]] | None:
        """Placement by a column of each relation that every rule keeps: then each part has a
        fixpoint of its own; and its cost.
        """
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
            name: Placement(
                column, tuple(lead_at(rule, column) for rule in rules_of(stratum, name))
            )
            for name, column in best[1].items()
        }
        return best[0], placed


def _keeps(rule: Rule, homes: Mapping[str, int]) -> bool:
    """Test for a recursive rule that reads rows of its own stratum only from the part of the row
    that it derives.
    """
    if isinstance(rule, FunctorRule):
        return rule.domain not in homes or homes[rule.domain] == homes[rule.relation]
    lead = lead_at(rule, homes[rule.relation])
    return lead is not None and all(
        atom.args[homes[atom.relation]] == Ref(lead)
        for atom in rule.atoms
        if atom.relation in homes
    )
