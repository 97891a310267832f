# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum whose parts exchange what they find: the rules of a part, and those of what a
change takes from it.

What the stratum loses follows by rules too: a row may have lost a derivation if one of its
derivations, among the rows as they were, used a row that went or may have lost one, or the absence
of a row that came. So `Supersteps.over_deletion` is a program in supersteps like the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from lftj.distributed.partitioning.cuts import local_name
from lftj.maintenance.deletion import over_deleting
from lftj.program import Lattice, NormalRule
from lftj.scantree import frozen
from lftj.storage import base_name
from lftj.types import Role, Source, in_role, without_role


@frozen
class Supersteps:
    """A recursive stratum whose parts exchange what they find.

    `cuts`: per relation the cuts in which parts hold it, the home first. Bodies of `rules` read
    relations in these cuts, by their local names; heads have the role `NEWS`. `asked`: per
    rule a cut in which parts are given rows of its head, if these are to be where the rule may
    derive them; `asking`: where that would be all parts, a rule for the values of its leading
    variable under which rows that may be lost had a derivation, if these can be told where such a
    row lies. `lattices`: the relations that keep one value per group. `optimal_support`: whether
    what these hold tells what rests on a value (`lftj.program.lattice_deletion_check`). `further`:
    cuts besides in which nobody holds a relation, and in which its rows are told all the same.
    `plain`: by the local name of a relation with `witnesses` that of the user's, whose rows are the
    same without.
    """

    cuts: Mapping[str, tuple[int, ...]]
    rules: tuple[NormalRule, ...]
    asked: tuple[int, ...] = ()
    asking: tuple[NormalRule | None, ...] = ()
    lattices: Mapping[str, Lattice] = field(default_factory=dict)
    optimal_support: bool = True
    further: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    plain: Mapping[str, str] = field(default_factory=dict)

    def local(self, relation: str) -> list[str]:
        """The local names of a relation, the home's first."""
        return [local_name(relation, cut) for cut in self.cuts[relation]]

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """Per rule the local name under which a part looks for rows of its head: in the cut in
        which it is given them.
        """
        return tuple(
            local_name(without_role(rule.relation, Role.NEWS), cut)
            for rule, cut in zip(self.rules, self.asked, strict=True)
        )

    def names(self, relation: str) -> list[str]:
        """The local names of a relation, and those under which it is looked for."""
        sought = (
            name
            for name, rule in zip(self.sought, self.rules, strict=True)
            if rule.relation == Source(relation, Role.NEWS)
        )
        return list(dict.fromkeys((*self.local(relation), *sought)))

    def base(self, relation: str) -> str:
        """The local name of a relation's own rows."""
        return base_name(self.local(relation)[0])

    @property
    def below(self) -> frozenset[str]:
        """Relations that the rules read and do not derive, and the relations' own rows."""
        own = {name for relation in self.cuts for name in self.local(relation)}
        return frozenset(
            {name for rule in self.rules for name in rule.reads} - own
            | set(map(self.base, self.cuts))
        )

    @cached_property
    def over_deletion(self) -> Supersteps:
        """Program of supersteps that finds the rows that may have lost a derivation: of relations
        in the role `GONE`, in the same cuts.

        It has a rule for each atom of each rule; its other atoms, and its negated ones, read
        relations as they were. For relations that keep one value per group the results are offers,
        and only those that a group took are rows; the part of the row knows.
        """
        rules = tuple(
            each
            for rule in self.rules
            for each in over_deleting(rule, collected_lost(rule.relation), self.lost)
        )
        cuts: dict[str, tuple[int, ...]] = {
            Source(relation, Role.GONE): cuts for relation, cuts in self.cuts.items()
        }
        return Supersteps(cuts, rules, further={} if self.lattices else self.sought_in)

    @cached_property
    def sought_in(self) -> Mapping[str, tuple[int, ...]]:
        """The cuts in which rows that may be lost are told to those who are asked for them and do
        not hold them, by their names then.
        """
        return self._further(self.asked)

    @property
    def read(self) -> Iterator[tuple[str, int]]:
        """The names of what parts tell each other, with the cuts in which they read it."""
        for relation, cuts in self.cuts.items():
            for cut in cuts:
                yield Source(relation, Role.NEWS), cut
                yield Source(Source(relation, Role.GONE), Role.NEWS), cut
        for relation, cuts in self.sought_in.items():
            for cut in cuts:
                yield Source(relation, Role.NEWS), cut

    @cached_property
    def blind(self) -> Mapping[str, tuple[int, ...]]:
        """Cuts of `sought_in` that belong to rules for which it is not known which parts to ask."""
        return self._further(
            [
                cut if asking is None else None
                for cut, asking in zip(self.asked, self.asking, strict=True)
            ]
        )

    def _further(self, asked: Iterable[int | None]) -> Mapping[str, tuple[int, ...]]:
        """Cuts among these, one per rule, in which nobody holds the rows of its head, by the
        relations' names for lost rows.
        """
        found: dict[str, list[int]] = {relation: [] for relation in self.cuts}
        for rule, cut in zip(self.rules, asked, strict=True):
            relation = without_role(rule.relation, Role.NEWS)
            if cut is not None and cut not in (*self.cuts[relation], *found[relation]):
                found[relation].append(cut)
        return {self._reported(relation): tuple(cuts) for relation, cuts in found.items()}

    def _reported(self, relation: str) -> Source:
        """The name for rows that may be lost, for who is asked about them."""
        gone = Source(relation, Role.GONE)
        return Source(gone, Role.SOUGHT) if self.lattices else gone

    def lost(self, name: str) -> str:
        """The local name for what a local relation lost."""
        for relation, cuts in self.cuts.items():
            for cut in cuts:
                if without_role(name, Role.BASE) == local_name(relation, cut):
                    lost = local_name(Source(relation, Role.GONE), cut)
                    return base_name(lost) if in_role(name, Role.BASE) else lost
        return Source(name, Role.GONE)


def collected_lost(collected: str) -> str:
    """Name of the relation that collects the lost rows of a rule's head."""
    return Source(Source(without_role(collected, Role.NEWS), Role.GONE), Role.NEWS)
