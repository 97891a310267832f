"""A recursive stratum whose parts exchange what they find: the rules of a part, and those of what a
change takes from it.

What the stratum loses follows by rules too: a row may have lost a derivation if one of its
derivations, among the rows as they were, used a row that went or may have lost one, or the absence
of a row that came. So `Rounds.losing` is a program in rounds like the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lftj.distributed.partitioning.cuts import local_name
from lftj.maintenance.dred.over_delete import losing
from lftj.program.monotone import Lattice
from lftj.program.normal_form import NormalRule
from lftj.storage.database import base_name

NEWS_SUFFIX = "~"
"""Behind the name of a relation that is derived in rounds: what parts found in one of them."""
LOST_SUFFIX = "-"
"""Behind the name of a relation: its rows that went, or, where it is derived in rounds, may have
to.
"""
SOUGHT_SUFFIX = "?"
"""Behind `LOST_SUFFIX`, where a relation keeps one value per group: those of its rows that are
known to be such, for who is asked.
"""


@dataclass(frozen=True)
class Rounds:
    """A recursive stratum whose parts exchange what they find.

    `cuts`: per relation the cuts in which parts hold it, the home first. Bodies of `rules` read
    relations in these cuts, by their local names; heads are named with `NEWS_SUFFIX`. `asked`: per
    rule a cut in which parts are given rows of its head, if these are to be where the rule may
    derive them; `asking`: where that would be all parts, a rule for the values of its leading
    variable under which rows that may be lost had a derivation, if these can be told where such a
    row lies. `lattices`: the relations that keep one value per group. `attained`: whether what
    these hold tells what rests on a value (`lftj.program.lattice_deletion_check`). `further`: cuts
    besides in which nobody holds a relation, and in which its rows are told all the same. `plain`:
    by the local name of a relation with `witnesses` that of the user's, whose rows are the same
    without.
    """

    cuts: Mapping[str, tuple[int, ...]]
    rules: tuple[NormalRule, ...]
    asked: tuple[int, ...] = ()
    asking: tuple[NormalRule | None, ...] = ()
    lattices: Mapping[str, Lattice] = field(default_factory=dict)
    attained: bool = True
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
            local_name(rule.relation.removesuffix(NEWS_SUFFIX), cut)
            for rule, cut in zip(self.rules, self.asked, strict=True)
        )

    def names(self, relation: str) -> list[str]:
        """The local names of a relation, and those under which it is looked for."""
        sought = (
            name
            for name, rule in zip(self.sought, self.rules, strict=True)
            if rule.relation == relation + NEWS_SUFFIX
        )
        return list(dict.fromkeys((*self.local(relation), *sought)))

    def base(self, relation: str) -> str:
        """The local name of a relation's own rows."""
        return base_name(self.local(relation)[0])

    @property
    def below(self) -> frozenset[str]:
        """What the rules read that they do not derive, and the relations' own rows."""
        own = {name for relation in self.cuts for name in self.local(relation)}
        return frozenset(
            {name for rule in self.rules for name in rule.reads} - own
            | set(map(self.base, self.cuts))
        )

    @cached_property
    def losing(self) -> Rounds:
        """Which rows may have lost a derivation, by rounds: of relations with `LOST_SUFFIX` behind
        their names, in the same cuts.

        A rule for each atom of each rule; its other atoms, and what it negates, read relations as
        they were. Of relations that keep one value per group these are offers, and only those that
        a group took are rows; the part of the row knows.
        """
        rules = tuple(
            each
            for rule in self.rules
            for each in losing(rule, collected_lost(rule.relation), self.lost)
        )
        cuts = {relation + LOST_SUFFIX: cuts for relation, cuts in self.cuts.items()}
        return Rounds(cuts, rules, further={} if self.lattices else self.sought_in)

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
                yield relation + NEWS_SUFFIX, cut
                yield relation + LOST_SUFFIX + NEWS_SUFFIX, cut
        for relation, cuts in self.sought_in.items():
            for cut in cuts:
                yield relation + NEWS_SUFFIX, cut

    @cached_property
    def blind(self) -> Mapping[str, tuple[int, ...]]:
        """Of the cuts of `sought_in` those of rules for which it is not known which
        parts to ask.
        """
        return self._further(
            [
                cut if asking is None else None
                for cut, asking in zip(self.asked, self.asking, strict=True)
            ]
        )

    def _further(self, asked: Iterable[int | None]) -> Mapping[str, tuple[int, ...]]:
        """Of these cuts, one per rule, those in which nobody holds the rows of its head, by what
        these are called once they may be lost.
        """
        found: dict[str, list[int]] = {relation: [] for relation in self.cuts}
        for rule, cut in zip(self.rules, asked, strict=True):
            relation = rule.relation.removesuffix(NEWS_SUFFIX)
            if cut is not None and cut not in (*self.cuts[relation], *found[relation]):
                found[relation].append(cut)
        suffix = LOST_SUFFIX + SOUGHT_SUFFIX if self.lattices else LOST_SUFFIX
        return {relation + suffix: tuple(cuts) for relation, cuts in found.items()}

    def lost(self, name: str) -> str:
        """The local name for what a local relation lost."""
        for relation, cuts in self.cuts.items():
            for cut in cuts:
                if name in (local := local_name(relation, cut), base_name(local)):
                    return local_name(relation + LOST_SUFFIX, cut) + name.removeprefix(local)
        return name + LOST_SUFFIX


def collected_lost(collected: str) -> str:
    """Where what the relation of a rule's head lost is collected."""
    return collected.removesuffix(NEWS_SUFFIX) + LOST_SUFFIX + NEWS_SUFFIX
