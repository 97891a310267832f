"""What every part does, in stages: what it is sent before each, which local rules it runs, and what it tells the others.

Inside a stage a part needs nobody. What it derives and others read travels between stages, as entries: rows in another cut, and shares.
Every part has the same plan. It is a function of the program's description alone, so driver and workers make the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lftj.distributed.cuts import ALL, ONE, local_name
from lftj.distributed.partials import share_column, split_aggregate, split_projection
from lftj.distributed.placement import Placement, Placing, Rule, cut_of, home_columns, rules_of
from lftj.distributed.programs import restored
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.program.program import Program
from lftj.storage.database import base_name

SHARE_SUFFIX = "%"
"""Behind the name of a relation: its shares."""


@dataclass(frozen=True)
class Feed:
    """Rows that come to a part before a stage: those of the entries of `relation`, in a cut, into the local relation `schema`.

    `checked`: the key of base rows is checked here, and their net change told."""

    relation: str
    cut: int
    schema: RelationSchema
    stage: int = 0
    checked: bool = False


@dataclass(frozen=True)
class Output:
    """What a stage's change of a local relation is written as: entries of `relation`, in these cuts, the home first."""

    local: str
    schema: RelationSchema
    stage: int
    cuts: tuple[int, ...]
    shares: bool = False

    @property
    def relation(self) -> str:
        """The name of the entries."""
        return self.schema.name


@dataclass(frozen=True)
class Stage:
    """Local strata in order: those of every part, and those of the first part alone."""

    strata: tuple[Stratum, ...]
    alone: tuple[bool, ...]

    def of(self, part: int) -> tuple[Stratum, ...]:
        """What one part runs."""
        return tuple(stratum for stratum, alone in zip(self.strata, self.alone, strict=True) if part == 0 or not alone)

    @property
    def reads(self) -> frozenset[str]:
        """The local relations whose change makes this stage have work."""
        own = (frozenset(map(base_name, stratum.relations)) for stratum in self.strata)
        return frozenset().union(*(stratum.reads for stratum in self.strata), *own)


@dataclass(frozen=True)
class PartPlan:
    """The plan of all parts. `local`: schemas by local name; `homes`: the cut in which each of the user's relations lives."""

    program: Program
    views: frozenset[str]
    local: Mapping[str, RelationSchema]
    feeds: tuple[Feed, ...]
    stages: tuple[Stage, ...]
    outputs: tuple[Output, ...]
    homes: Mapping[str, int]
    placements: Mapping[str, Placement] = field(default_factory=dict)

    def feeds_of(self, stage: int) -> list[Feed]:
        """The feeds before a stage."""
        return [feed for feed in self.feeds if feed.stage == stage]

    def cuts(self, relation: str) -> tuple[int, ...]:
        """The cuts in which base rows of a relation are read, its home first."""
        read = [feed.cut for feed in self.feeds if feed.relation == base_name(relation)]
        return tuple(dict.fromkeys((self.homes[relation], *(cut for cut in read if cut != ALL))))

    def derived(self, relation: str) -> bool:
        """Whether a relation of the user's has rules."""
        return relation in self.placements


def plan_of(description: Mapping[str, Any]) -> PartPlan:
    """The plan of a described program. About a millisecond a rule."""
    program, views = restored(description)
    return _Planner(program, views, description.get("sizes", {})).plan()


class _Planner:
    def __init__(self, program: Program, views: frozenset[str], sizes: Mapping[str, int]):
        self.program, self.views = program, views
        self.stratified = program.stratified
        self.placements = Placing(self.stratified, sizes).found
        self.local: dict[str, RelationSchema] = {}
        self.read_cuts: dict[str, dict[int, None]] = {}
        self.ready: dict[str, int] = {}
        self.feeds: dict[str, Feed] = {}
        self.strata: list[list[tuple[Stratum, bool]]] = []
        self.made: list[tuple[str, RelationSchema, int, bool]] = []

    def plan(self) -> PartPlan:
        for stratum in self.stratified.strata:
            self._stratum(stratum)
        homes = {name: self._home(name) for name in self.program.catalog.relations}
        for name, home in homes.items():
            self._base(name, home)
        outputs = tuple(self._output(*made) for made in self.made if self._told(made[1].name))
        stages = tuple(Stage(tuple(s for s, _ in each), tuple(alone for _, alone in each)) for each in self.strata or [[]])
        return PartPlan(self.program, self.views, self.local, tuple(self.feeds.values()), stages, outputs, homes, self.placements)

    # ── strata ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _stratum(self, stratum: Stratum) -> None:
        """Local rules, in the first stage in which all that they read is there."""
        shared = next((name for name in stratum.relations if self.placements[name].shares), None)
        if shared is not None:
            self._by_shares(self.stratified.relations[shared], rules_of(stratum, shared))
            return
        homes = {name: self.placements[name].home for name in stratum.relations}
        rules: list[Rule] = []
        for name, home in homes.items():
            self._local(local_name(name, home), self.stratified.relations[name])
            for rule, lead in zip(rules_of(stratum, name), self.placements[name].leads, strict=True):
                rules.append(self._localized(rule, lead, local_name(name, home), homes))
        stage = self._add(Stratum(tuple(local_name(*each) for each in homes.items()), tuple(rules), stratum.recursive))
        for name, home in homes.items():
            self.made.append((local_name(name, home), self.stratified.relations[name], stage, False))

    def _by_shares(self, schema: RelationSchema, rules: list[Rule]) -> None:
        placement = self.placements[schema.name]
        name, home = schema.name + SHARE_SUFFIX, placement.home
        merged = replace(schema, name=local_name(schema.name, home))
        locals_: list[Rule] = []
        splits = []
        for rule, lead in zip(map(_normal, rules), placement.leads, strict=True):
            split = split_aggregate(rule, name, merged.name) if rule.aggregates else split_projection(rule, name, merged)
            splits.append(split)
            locals_.append(self._localized(split.local, lead, name, {}))
        shares = splits[0].shares
        self._local(name, RelationSchema(name, shares.columns[1:]))
        stage = self._add(Stratum((name,), tuple(locals_), False))
        self.made.append((name, shares, stage, True))
        cut = ONE if home == ONE else share_column(_normal(rules[0]), home)
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

    def _localized(self, rule: Rule, lead: int | None, head: str, homes: Mapping[str, int]) -> Rule:
        """The rule over local names; notes what is read in which cut. `homes`: of the rule's own stratum."""
        alone = head.endswith(local_name("", ONE))
        if isinstance(rule, FunctorRule):
            home = self.placements[rule.relation].home
            return replace(rule, relation=head, domain=self._reading(rule.domain, home, homes))
        cuts = [
            ONE if alone else cut_of(atom, lead, homes.get(atom.relation, self._home_or_none(atom.relation)))
            for atom in (*rule.atoms, *rule.negated)
        ]
        names = [self._reading(atom.relation, cut, homes) for atom, cut in zip((*rule.atoms, *rule.negated), cuts, strict=True)]
        atoms = tuple(replace(atom, relation=name) for atom, name in zip(rule.atoms, names, strict=False))
        negated = tuple(replace(atom, relation=name) for atom, name in zip(rule.negated, names[len(atoms) :], strict=True))
        return replace(rule, relation=head, atoms=atoms, negated=negated, span=None)

    def _reading(self, relation: str, cut: int, own: Mapping[str, int]) -> str:
        """The local name of a relation in a cut, which from now on comes to each part if it is not derived there."""
        name = local_name(relation, cut)
        if relation in own or name in self.feeds:
            return name
        self.read_cuts.setdefault(relation, {})[cut] = None
        home = self._home_or_none(relation)
        if home == cut:
            return name
        schema = self.stratified.relations[relation]
        self._local(name, RelationSchema(relation, schema.columns))
        stage = 0 if home is None else self.ready[local_name(relation, home)] + 1
        self.feeds[name] = Feed(base_name(relation) if home is None else relation, cut, self.local[name], stage)
        self.ready[name] = stage
        return name

    def _add(self, stratum: Stratum, *, alone: bool | None = None) -> int:
        """Into the first stage where what it reads is ready; returns that."""
        stage = max((self.ready[name] for name in stratum.reads if name not in stratum.relations), default=0)
        while len(self.strata) <= stage:
            self.strata.append([])
        if alone is None:
            alone = all(name.endswith(local_name("", ONE)) for name in stratum.relations)
        self.strata[stage].append((stratum, alone))
        self.ready |= dict.fromkeys(stratum.relations, stage)
        return stage

    # ── base rows and outputs ─────────────────────────────────────────────────────────────────────────────────────────
    def _home(self, name: str) -> int:
        """Where a relation of the user's lives; a base relation in a cut that rules read, if its key admits one."""
        if name in self.placements:
            return self.placements[name].home
        allowed = home_columns(self.stratified.relations[name])
        read = [cut for cut in self.read_cuts.get(name, ()) if cut in allowed]
        return (read or allowed or [ONE])[0]

    def _base(self, name: str, home: int) -> None:
        schema, local = self.stratified.relations[name], local_name(name, home)
        if name in self.placements:
            if name in self.views:
                return
            local = base_name(local)
        self._local(local, schema)
        self.feeds[local] = Feed(base_name(name), home, self.local[local], 0, checked=True)

    def _output(self, local: str, schema: RelationSchema, stage: int, shares: bool) -> Output:
        read = [cut for cut in self.read_cuts.get(schema.name, {}) if cut != ALL]
        home = read[0] if shares else self.placements[schema.name].home
        return Output(local, schema, stage, tuple(dict.fromkeys((home, *read))), shares)

    def _told(self, name: str) -> bool:
        """Users read their relations, and other stages what comes to them."""
        return name in self.program.catalog.relations or any(feed.relation == name for feed in self.feeds.values())

    def _home_or_none(self, relation: str) -> int | None:
        return self.placements[relation].home if relation in self.placements else None

    def _local(self, name: str, schema: RelationSchema) -> None:
        self.local[name] = replace(schema, name=name)


def _normal(rule: Rule) -> NormalRule:
    assert isinstance(rule, NormalRule), "placement gives shares to such rules only"
    return rule
