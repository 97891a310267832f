# SPDX-License-Identifier: Apache-2.0
"""Makes the plan of a program: where each stratum is derived, over which local relations, in which
stage.

It is a function of the program's description alone, so driver and workers make the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lftj.distributed.partitioning.cuts import ALL, ONE, Cut, HubCut, is_local_to_one, local_name
from lftj.distributed.partitioning.hub_columns import Hubs
from lftj.distributed.partitioning.part_plan import Feed, Output, PartPlan, Stage
from lftj.distributed.partitioning.partials import share_column, split_aggregate, split_projection
from lftj.distributed.partitioning.partition_keys import (
    Lead,
    Pair,
    Placement,
    Rule,
    cut_of,
    home_columns,
    rules_of,
)
from lftj.distributed.partitioning.placement import Partitioner
from lftj.distributed.partitioning.programs import restored
from lftj.distributed.partitioning.superstep_cuts import asked_cut, asking, own_cut
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.partitioning.witnesses import Witnessed, witnessed
from lftj.errors import DeclarationError
from lftj.program import (
    FunctorRule,
    Lattice,
    NormalRule,
    PositiveAtom,
    Program,
    RelationSchema,
    Stratum,
    lattices,
    optimal_support,
)
from lftj.scantree import PAGE_COLUMNS
from lftj.storage import base_name
from lftj.types import Role, Source


def plan_of(description: Mapping[str, Any]) -> PartPlan:
    """The plan of a described program. About a millisecond a rule."""
    program, views = restored(description)
    hubs = Hubs(description.get("hubs", {}), program.catalog.relations)
    partitioner = Partitioner(program.stratified, description.get("sizes", {}), hubs)
    return Planner(program, views, partitioner.found, hubs).plan()


class Planner:
    """Plans strata one after the other, which are placed. `held`: local relations that are there,
    whatever they come from.
    """

    def __init__(
        self,
        program: Program,
        views: frozenset[str],
        placements: Mapping[str, Placement],
        hubs: Hubs,
        held: frozenset[str] = frozenset(),
    ):
        self.program, self.views, self.placements, self.hubs, self.held = (
            program,
            views,
            dict(placements),
            hubs,
            held,
        )
        self.relations = dict(program.stratified.relations)
        self.local: dict[str, RelationSchema] = {}
        self.read_cuts: dict[str, dict[Cut, None]] = {}
        self.cuts: dict[str, Cut] = {}
        self.ready: dict[str, int] = {}
        self.made_at: dict[str, int] = {}
        self.supersteps: dict[int, Supersteps] = {}
        self.feeds: dict[str, Feed] = {}
        self.strata: list[list[tuple[Stratum, bool]]] = []
        self.made: list[tuple[str, RelationSchema, int, bool]] = []

    def plan(self) -> PartPlan:
        """Plan of the whole program."""
        for stratum in self.program.stratified.strata:
            self._stratum(stratum)
        homes = {name: self._home(name) for name in self.program.catalog.relations}
        for name, home in homes.items():
            self._base(name, home)
        outputs = tuple(self._output(*made) for made in self.made if self._reported(made[1].name))
        # Relations that parts have whole come first: so the workers of a machine give their strings
        # the same codes, and can share the pages.
        feeds = tuple(sorted(self.feeds.values(), key=lambda feed: feed.cut != ALL))
        return PartPlan(
            self.program,
            self.views,
            self.local,
            feeds,
            self._stages(),
            outputs,
            homes,
            self.placements,
            self.hubs,
        )

    def _stages(self) -> tuple[Stage, ...]:
        return tuple(
            Stage(
                tuple(s for s, _ in each),
                tuple(alone for _, alone in each),
                self.supersteps.get(number),
            )
            for number, each in enumerate(self.strata or [[]])
        )

    # ── strata ────────────────────────────────────────────────────────────────────────────────────
    def _stratum(self, stratum: Stratum) -> None:
        """Local rules, in the first stage in which all that they read is there."""
        shared = next((name for name in stratum.relations if self.placements[name].shares), None)
        if shared is not None:
            self._by_shares(self.relations[shared], rules_of(stratum, shared))
            return
        if any(self.placements[name].cuts for name in stratum.relations):
            self._in_supersteps(stratum)
            return
        homes = {name: self.placements[name].home for name in stratum.relations}
        rules: list[Rule] = []
        for name, home in homes.items():
            self._local(local_name(name, home), self.relations[name])
            for rule, lead in zip(
                rules_of(stratum, name), self.placements[name].leads, strict=True
            ):
                rules.append(self._localized(rule, lead, local_name(name, home), homes))
        stage = self._add(
            Stratum(
                tuple(local_name(*each) for each in homes.items()), tuple(rules), stratum.recursive
            )
        )
        for name, home in homes.items():
            self.made.append((local_name(name, home), self.relations[name], stage, False))
            self.made_at[name] = stage

    def _by_shares(self, schema: RelationSchema, rules: list[Rule]) -> None:
        placement = self.placements[schema.name]
        name, home = Source(schema.name, Role.SHARE), placement.home
        merged = replace(schema, name=local_name(schema.name, home))
        locals_: list[Rule] = []
        splits = []
        for rule, lead in zip(map(_normal, rules), placement.leads, strict=True):
            split = (
                split_aggregate(rule, name, merged.name)
                if rule.aggregates
                else split_projection(rule, name, merged)
            )
            splits.append(split)
            locals_.append(self._localized(split.local, lead, name, {}))
        shares = splits[0].shares
        if shares.arity > PAGE_COLUMNS:
            raise _too_wide(schema.name, shares, _normal(rules[0]))
        self._local(name, RelationSchema(name, shares.columns[1:]))
        stage = self._add(Stratum((name,), tuple(locals_), False))
        self.made.append((name, shares, stage, True))
        cut = _share_cut(_normal(rules[0]), home)
        read = local_name(name, cut)
        self._local(read, shares)
        self.feeds[read] = Feed(name, cut, self.local[read], stage + 1)
        self.read_cuts.setdefault(name, {})[cut] = None
        self.ready[read] = stage + 1
        self._local(merged.name, schema)
        merge = splits[0].merge
        merge = replace(merge, atoms=(replace(merge.atoms[0], relation=read),))
        stage = self._add(Stratum((merged.name,), (merge,), False), alone=home == ONE)
        self.made.append((merged.name, schema, stage, False))
        self.made_at[schema.name] = stage

    def _in_supersteps(self, stratum: Stratum) -> None:
        """A stage of its own: rules over what parts hold in each cut, whose heads have the
        role `NEWS`.
        """
        found, sound = lattices(stratum.rules), optimal_support(stratum.rules)
        wide = self._witnessed(stratum, found) if sound else None
        if wide is not None:
            stratum, found = wide.stratum, wide.lattices
        cuts = {name: self.placements[name].cuts for name in stratum.relations}
        led = [
            (_normal(rule), lead)
            for name in cuts
            for rule, lead in zip(rules_of(stratum, name), self.placements[name].leads, strict=True)
        ]
        rules = tuple(self._exchanging(rule, lead, cuts) for rule, lead in led)
        asked = tuple(asked_cut(rule, lead, cuts[rule.relation]) for rule, lead in led)
        asks = tuple(asking(rule, lead, cuts, self.read_cuts) for rule, lead in led)
        users = {} if wide is None else wide.plain
        plain: dict[str, str] = {
            local_name(name, cuts[name][0]): local_name(user, cuts[name][0])
            for name, user in users.items()
        }
        supersteps = Supersteps(cuts, rules, asked, asks, found, sound, plain=plain)
        stage = max(
            (self.ready[name] for name in supersteps.below if name in self.ready), default=0
        )
        while stage < len(self.strata) and (self.strata[stage] or stage in self.supersteps):
            stage += 1
        self.strata += [[] for _ in range(len(self.strata), stage + 1)]
        self.supersteps[stage] = supersteps
        for name in cuts:
            self._local(Source(name, Role.NEWS), RelationSchema(name, self.relations[name].columns))
        for name in (*cuts, *users.values()):
            schema, held = self.relations[name], self.placements[name].cuts
            for cut in held:
                local = local_name(name, cut)
                self._local(local, schema)
                self.feeds[local] = Feed(name, cut, self.local[local], stage, standing=True)
                self.ready[local] = stage + 1
            self.made_at[name] = stage
            self.made.append((local_name(name, held[0]), schema, stage, False))

    def _witnessed(self, stratum: Stratum, lattices: Mapping[str, Lattice]) -> Witnessed | None:
        """The stratum with witnesses, if it can have them; what it is made of is placed as it was
        without.
        """
        found = witnessed(stratum, lattices, self.relations, self.placements)
        if found is not None:
            self.relations |= found.schemas
            self.placements |= found.placements
        return found

    def _exchanging(
        self, rule: NormalRule, lead: Lead, cuts: Mapping[str, tuple[int, ...]]
    ) -> NormalRule:
        """A rule of a stratum in supersteps, over local names."""
        names: list[str] = []
        for atom in (*rule.atoms, *rule.negated):
            if isinstance(atom, PositiveAtom) and atom.relation in cuts:
                names.append(local_name(atom.relation, own_cut(atom, lead, cuts[atom.relation])))
            else:
                names.append(
                    self._reading(
                        atom.relation, cut_of(atom, lead, self._home_or_none(atom.relation)), {}
                    )
                )
        atoms = tuple(
            replace(atom, relation=name) for atom, name in zip(rule.atoms, names, strict=False)
        )
        negated = tuple(
            replace(atom, relation=name)
            for atom, name in zip(rule.negated, names[len(atoms) :], strict=True)
        )
        return replace(
            rule, relation=Source(rule.relation, Role.NEWS), atoms=atoms, negated=negated
        )

    def _localized(self, rule: Rule, lead: Lead, head: str, homes: Mapping[str, Cut]) -> Rule:
        """The rule over local names; notes what is read in which cut. `homes`: of the rule's own
        stratum.
        """
        alone = is_local_to_one(head)
        if isinstance(rule, FunctorRule):
            home = self.placements[rule.relation].home
            return replace(rule, relation=head, domain=self._reading(rule.domain, home, homes))
        cuts = [
            ONE
            if alone
            else cut_of(atom, lead, homes.get(atom.relation, self._home_or_none(atom.relation)))
            for atom in (*rule.atoms, *rule.negated)
        ]
        names = [
            self._reading(atom.relation, cut, homes)
            for atom, cut in zip((*rule.atoms, *rule.negated), cuts, strict=True)
        ]
        atoms = tuple(
            replace(atom, relation=name) for atom, name in zip(rule.atoms, names, strict=False)
        )
        negated = tuple(
            replace(atom, relation=name)
            for atom, name in zip(rule.negated, names[len(atoms) :], strict=True)
        )
        first = lead.first if isinstance(lead, Pair) else lead
        first = first if isinstance(first, int) and not alone else None
        return replace(rule, relation=head, atoms=atoms, negated=negated, lead=first)

    def _reading(self, relation: str, cut: Cut, own: Mapping[str, Cut]) -> str:
        """The local name of a relation in a cut, which from now on comes to each part if it is not
        derived there.
        """
        name = local_name(relation, cut)
        self.cuts[name] = cut
        if relation in own or name in self.feeds or name in self.held:
            return name
        self.read_cuts.setdefault(relation, {})[cut] = None
        home = self._home_or_none(relation)
        if home == cut:
            return name
        assert home is None or local_name(relation, home) != name, (
            "cuts by the same columns have the same hubs"
        )
        schema = self.relations[relation]
        self._local(name, RelationSchema(relation, schema.columns))
        stage = 0 if home is None else self.made_at[relation] + 1
        self.feeds[name] = Feed(
            base_name(relation) if home is None else relation, cut, self.local[name], stage
        )
        self.ready[name] = stage
        return name

    def _add(self, stratum: Stratum, *, alone: bool | None = None) -> int:
        """Into the first stage where what it reads is ready; returns that."""
        stage = max(
            (self.ready[name] for name in stratum.reads if name not in stratum.relations), default=0
        )
        while stage in self.supersteps:
            stage += 1
        while len(self.strata) <= stage:
            self.strata.append([])
        if alone is None:
            alone = all(map(is_local_to_one, stratum.relations))
        self.strata[stage].append((stratum, alone))
        self.ready |= dict.fromkeys(stratum.relations, stage)
        return stage

    # ── base rows and outputs ─────────────────────────────────────────────────────────────────────
    def _home(self, name: str) -> Cut:
        """Home of a relation of the user's; for a base relation a cut that rules read, if its key
        admits one.
        """
        if name in self.placements:
            return self.placements[name].home
        allowed = home_columns(self.relations[name])
        columns = (
            (cut, {cut.column, cut.second} if isinstance(cut, HubCut) else {cut})
            for cut in self.read_cuts.get(name, ())
        )
        read = [cut for cut, by in columns if by <= set(allowed)]
        return (read or allowed or [ONE])[0]

    def _base(self, name: str, home: Cut) -> None:
        schema, local = self.relations[name], local_name(name, home)
        if name in self.placements:
            if name in self.views:
                return
            local = base_name(local)
        self._local(local, schema)
        self.feeds[local] = Feed(base_name(name), home, self.local[local], 0, checked=True)

    def _output(self, local: str, schema: RelationSchema, stage: int, shares: bool) -> Output:
        read = [cut for cut in self.read_cuts.get(schema.name, {}) if cut != ALL]
        if not shares:
            read += [cut for cut in self.placements[schema.name].cuts if cut != ALL]
        home = read[0] if shares else self.placements[schema.name].home
        return Output(local, schema, stage, tuple(dict.fromkeys((home, *read))), shares)

    def _reported(self, name: str) -> bool:
        """Users read their relations, and other stages what comes to them."""
        return name in self.program.catalog.relations or any(
            feed.relation == name for feed in self.feeds.values()
        )

    def _home_or_none(self, relation: str) -> Cut | None:
        return self.placements[relation].home if relation in self.placements else None

    def _local(self, name: str, schema: RelationSchema) -> None:
        self.local[name] = replace(schema, name=name)


def _too_wide(relation: str, shares: RelationSchema, rule: NormalRule) -> DeclarationError:
    message = (
        f"parts would tell {shares.arity} values of each group of `{relation}`; {PAGE_COLUMNS} "
        f"is the most there may be"
    )
    hint = (
        "divide the aggregates among relations with fewer: a `sum` of integers is told by 2 "
        "values, a `mean` by 3"
    )
    return DeclarationError(message, code="E168", span=rule.span, hint=hint)


def _share_cut(rule: NormalRule, home: Cut) -> Cut:
    """The cut of shares that brings them to the home of what they are put together to."""
    if isinstance(home, HubCut):
        second = None if home.second is None else share_column(rule, home.second)
        return HubCut(share_column(rule, home.column), second, home.hubs)
    return ONE if home == ONE else share_column(rule, home)


def _normal(rule: Rule) -> NormalRule:
    assert isinstance(rule, NormalRule), "placement gives shares to such rules only"
    return rule
