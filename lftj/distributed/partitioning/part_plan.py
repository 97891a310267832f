# SPDX-License-Identifier: Apache-2.0
"""Plan of every part, in stages: the rows it receives before each, its local rules, and the rows it
sends to others.

Inside a stage a part needs no other. Rows that others read travel between stages, as entries: rows
in another cut, and shares. A stage of supersteps has one recursive stratum, whose parts exchange
new rows until there are none. Every part has the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from lftj.distributed.partitioning.cuts import ALL, Cut, local_name
from lftj.distributed.partitioning.hub_columns import Hubs
from lftj.distributed.partitioning.placement import Placement
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.program import Program, RelationSchema, Stratum
from lftj.scantree import frozen
from lftj.storage import base_name
from lftj.types import Role, in_role, without_role


@frozen
class Feed:
    """Rows that come to a part before a stage: those of the entries of `relation`, in a cut, into
    the local relation `schema`.

    `checked`: the key of base rows is checked here, and their net change told. `standing`: what the
    stage itself derived in supersteps; entries of commits before are read when a part is built or
    brought forward, and none in a commit.
    """

    relation: str
    cut: Cut
    schema: RelationSchema
    stage: int = 0
    checked: bool = False
    standing: bool = False


@frozen
class Output:
    """Output of a stage for a local relation: its change is written as entries of `relation`, in
    these cuts, the home first.
    """

    local: str
    schema: RelationSchema
    stage: int
    cuts: tuple[Cut, ...]
    shares: bool = False

    @property
    def relation(self) -> str:
        """The name of the entries."""
        return self.schema.name


@frozen
class Stage:
    """Local strata in order: those of every part, and those of the first part alone; or one that is
    derived in supersteps.
    """

    strata: tuple[Stratum, ...]
    alone: tuple[bool, ...]
    supersteps: Supersteps | None = None

    def of(self, part: int) -> tuple[Stratum, ...]:
        """Strata that one part runs."""
        return tuple(
            stratum
            for stratum, alone in zip(self.strata, self.alone, strict=True)
            if part == 0 or not alone
        )

    @property
    def reads(self) -> frozenset[str]:
        """The local relations whose change makes this stage have work."""
        if self.supersteps is not None:
            return self.supersteps.below
        own = (frozenset(map(base_name, stratum.relations)) for stratum in self.strata)
        return frozenset().union(*(stratum.reads for stratum in self.strata), *own)


@frozen
class PartPlan:
    """The plan of all parts. `local`: schemas by local name; `homes`: the cut in which each of the
    user's relations lives; `hubs`: what it knows of them.
    """

    program: Program
    views: frozenset[str]
    local: Mapping[str, RelationSchema]
    feeds: tuple[Feed, ...]
    stages: tuple[Stage, ...]
    outputs: tuple[Output, ...]
    homes: Mapping[str, Cut]
    placements: Mapping[str, Placement] = field(default_factory=dict)
    hubs: Hubs = field(default_factory=lambda: Hubs({}, {}))

    @cached_property
    def held(self) -> dict[str, tuple[str, Cut]]:
        """Relations that parts hold, and their cuts, by local name; of one that has rules, own rows
        are `name#base`.
        """
        derived = {
            local_name(name, placed.home): (name, placed.home)
            for name, placed in self.placements.items()
        }
        fed = ((feed.schema.name, feed.relation, feed.cut) for feed in self.feeds)
        return derived | {
            local: (name if in_role(local, Role.BASE) else without_role(name, Role.BASE), cut)
            for local, name, cut in fed
        }

    @cached_property
    def reads(self) -> dict[str, set[Cut]]:
        """Cuts in which parts read entries in a commit, by the name of the entries."""
        found: dict[str, set[Cut]] = {base_name(name): {home} for name, home in self.homes.items()}
        read = [(feed.relation, feed.cut) for feed in self.feeds]
        read += [
            each
            for stage in self.stages
            if stage.supersteps is not None
            for each in stage.supersteps.read
        ]
        for relation, cut in read:
            found.setdefault(relation, set()).add(cut)
        return found

    @cached_property
    def _stages(self) -> dict[str, str]:
        """The stage of each relation that parts derive, as text."""
        return {
            name: str(number)
            for number, stage in enumerate(self.stages)
            for stratum in stage.strata
            for name in stratum.relations
        }

    def stage_named(self, relation: str) -> str:
        """The stage that derives a relation: what tells its nodes from equal ones of others."""
        return self._stages.get(relation, "")

    def feeds_of(self, stage: int) -> list[Feed]:
        """The feeds before a stage."""
        return [feed for feed in self.feeds if feed.stage == stage]

    def cuts(self, relation: str) -> tuple[Cut, ...]:
        """The cuts in which base rows of a relation are read, its home first."""
        read = [feed.cut for feed in self.feeds if feed.relation == base_name(relation)]
        return tuple(dict.fromkeys((self.homes[relation], *(cut for cut in read if cut != ALL))))

    def derived(self, relation: str) -> bool:
        """Test for a relation of the user's that has rules."""
        return relation in self.placements
