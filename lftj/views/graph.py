# SPDX-License-Identifier: Apache-2.0
"""The graph of views other than recursive ones: by which nodes each relation is derived, and who
shares them. A value: rules that come and go make another one, which shares the nodes that stay.

Equal nodes are one node. Rules with one body and one grouping read one group node; rules without
aggregates whose bodies and heads are equal read one join. Keys of nodes are made of definitions, so
they are the same in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from operator import itemgetter

from lftj.maintenance.inputs.affected import Held
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.program.stratification import Stratification
from lftj.scantree.frozen import frozen
from lftj.tuning import Tuning
from lftj.views.arms import Arm, BoundedArm, ExtremesArm, FunctorArm, GroupArm, JoinArm
from lftj.views.bounded import Bounded
from lftj.views.bounded_rules import bounded_of
from lftj.views.extremes import Extremes, extremes_of
from lftj.views.families import Arms, Families, Reader
from lftj.views.family import Family, Pattern
from lftj.views.group_node import Group, Member
from lftj.views.join_node import Join, digest
from lftj.views.union_node import Union

Rules = tuple[NormalRule | FunctorRule, ...]
Apart = Callable[[str], str]
"""A tag that keeps a relation's nodes apart from equal ones of relations that are brought up to
date at another time.
"""
HeadReader = Callable[[NormalRule], Extremes | Bounded | None]
"""Reader of an aggregated rule's head off key orders, if there is one."""


@frozen
class Graph:
    """Nodes by key: `unions` by relation; `groups`; `joins` with the number of arms that read
    each; the keys of the groups over each body; joins that differ in constants alone; and to a
    group the one over the same body that groups most finely of those that know all that it needs:
    the change of the finer group's assignments has that of its own.
    """

    unions: Mapping[str, Union] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    joins: Mapping[str, tuple[Join, int]] = field(default_factory=dict)
    bodies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    families: Families = field(default_factory=Families)
    finer: Mapping[str, str] = field(default_factory=dict)

    def with_strata(
        self,
        strata: Iterable[Stratum],
        schemas: Mapping[str, RelationSchema],
        tuning: Tuning,
        apart: Apart,
    ) -> Graph:
        """The graph in which the relations of these strata are derived by their rules of now; the
        recursive ones have no nodes. O(rules of these), and dictionaries are copied.
        """
        change = GraphChange(self, partial(reader_of, tuning=tuning), apart)
        for stratum in strata:
            for name in stratum.relations:
                rules = tuple([rule for rule in stratum.rules if rule.relation == name])
                change.derive(schemas[name], None if stratum.recursive else rules)
        return change.done()

    def without(self, relations: Iterable[str]) -> Graph:
        """The graph without these relations, and without what no other reads."""
        change = GraphChange(self, lambda rule: None, str)
        for name in relations:
            change.drop(name)
        return change.done()

    def with_groups(self, groups: Mapping[str, Group]) -> Graph:
        """The graph with other groups of the same keys and bodies."""
        after = {**self.groups, **groups}
        finer = _finer(self, groups.keys(), after, self.bodies)
        return Graph(self.unions, after, self.joins, self.bodies, self.families, finer)

    def held(self, order: Stratification) -> Held[Family] | None:
        """Strata to which changes of relations matter only where families tell so. O(nodes of
        families), once for an order.
        """
        return self.families.held(order, self._arms_of)

    def _arms_of(self, relation: str) -> Arms:
        union = self.unions.get(relation)
        return [(arm.node_key, arm.rule.reads) for arm in (union.arms if union is not None else ())]

    def sharing(self, rule: NormalRule | FunctorRule) -> list[NormalRule | FunctorRule]:
        """The rules that are evaluated together with one, itself among them."""
        union = self.unions.get(rule.relation)
        for arm in union.arms if union is not None else ():
            if arm.rule is rule and isinstance(arm, GroupArm):
                return [member.rule for member in self.groups[arm.group_key].members]
        return [rule]

    def below(self, relation: str) -> Iterator[str]:
        """The keys of the nodes that a relation is derived by."""
        union = self.unions.get(relation)
        for arm in union.arms if union is not None else ():
            if isinstance(arm, JoinArm):
                yield arm.key
            elif isinstance(arm, GroupArm):
                yield arm.group_key

    def gone_since(self, before: Graph) -> Iterator[str]:
        """Keys of nodes that an earlier graph had."""
        yield from before.unions.keys() - self.unions.keys()
        yield from before.groups.keys() - self.groups.keys()
        yield from before.joins.keys() - self.joins.keys()

    def groups_since(self, before: Graph) -> Iterator[tuple[str, Group]]:
        """The groups that are others than in an earlier graph."""
        yield from sorted(self.groups.items() - before.groups.items(), key=itemgetter(0))


NO_VIEWS = Graph()


def reader_of(rule: NormalRule, tuning: Tuning, **wide: int) -> Extremes | Bounded | None:
    """Reader of an aggregated rule's head off key orders, if there is one. `wide`: as of
    `extremes_of`.
    """
    return extremes_of(rule, tuning, **wide) or bounded_of(rule, tuning)


def together(_: str) -> str:
    """All relations are brought up to date together: equal nodes are one."""
    return ""


class GraphChange:
    """A change of a graph, relation by relation; groups are made once, with all their members."""

    def __init__(self, graph: Graph, read: HeadReader, apart: Apart):
        self._graph, self._read, self._apart = graph, read, apart
        self._unions = dict(graph.unions)
        self._joins = dict(graph.joins)
        self._members: dict[str, list[Member]] = {}
        self._less: list[Reader] = []
        self._more: list[Reader] = []

    def derive(self, schema: RelationSchema, rules: Rules | None) -> None:
        """Derive a relation by these rules; by no nodes where there are none."""
        before = self._unions.get(schema.name)
        if before is not None and rules is not None and before.made_of(schema, rules):
            return
        self.drop(schema.name)
        if rules is not None:
            arms = [self._arm(rule) for rule in rules]
            union = self._unions[schema.name] = Union(schema, rules, arms)
            self._more += _readers(union)

    def drop(self, name: str) -> None:
        """Leave a relation out."""
        union = self._unions.pop(name, None)
        self._less += _readers(union)
        for arm in union.arms if union is not None else ():
            if isinstance(arm, GroupArm):
                members = self._of(arm.group_key)
                members[:] = [each for each in members if each.rule is not arm.rule]
            elif isinstance(arm, JoinArm):
                join, readers = self._joins.pop(arm.key)
                if readers > 1:
                    self._joins[arm.key] = join, readers - 1

    def share(self, rules: Iterable[NormalRule]) -> str:
        """Let rules of equal groups read one group node, in this order; its key."""
        found = {self._join_group(Member.of(rule)) for rule in rules}
        (key,) = found
        return key

    def done(self) -> Graph:
        """The graph after all of it."""
        groups, bodies = dict(self._graph.groups), dict(self._graph.bodies)
        for key, members in self._members.items():
            before = groups.pop(key, None)
            self._less += _readers_of(before)
            if before is not None:
                left = bodies.pop(before.body) - {key}
                bodies |= {before.body: left} if left else {}
            if members:
                group = groups[key] = self._made(key, members, before)
                bodies[group.body] = bodies.get(group.body, frozenset()) | {key}
                self._more += _readers_of(group)
        families = self._graph.families.changed(self._less, self._more)
        finer = _finer(self._graph, self._members.keys(), groups, bodies)
        return Graph(self._unions, groups, self._joins, bodies, families, finer)

    def _of(self, key: str) -> list[Member]:
        """The members of a group so far."""
        if key not in self._members:
            before = self._graph.groups.get(key)
            self._members[key] = [] if before is None else list(before.members)
        return self._members[key]

    def _arm(self, rule: NormalRule | FunctorRule) -> Arm:
        if isinstance(rule, FunctorRule):
            return FunctorArm(rule)
        if not rule.aggregates:
            made = Join.of(rule, self._apart(rule.relation))
            join, readers = self._joins.get(made.key, (made, 0))
            self._joins[join.key] = join, readers + 1
            return JoinArm(rule, join)
        reader = self._read(rule)
        if isinstance(reader, Extremes):
            return ExtremesArm(rule, reader)
        if reader is not None:
            return BoundedArm(rule, reader)
        member = Member.of(rule)
        columns = [column.text for column in member.head.columns]
        return GroupArm(rule, self._join_group(member), repr(columns))

    def _join_group(self, member: Member) -> str:
        """Make a rule a member of its group. The group's key."""
        rule = member.rule
        key = digest(f"{self._apart(rule.relation)} {member.head.key}")
        members = self._of(key)
        if not any(each.rule is rule for each in members):
            members.append(member)
        return key

    def _made(self, key: str, members: list[Member], before: Group | None) -> Group:
        """A group with these members: the one before where it has them."""
        if before is None:
            return Group(members, key, self._apart(members[0].rule.relation))
        same = list(map(id, before.members)) == list(map(id, members))
        return before if same else Group(members, key, before.apart, before)


def _finer(
    before: Graph,
    changed: Collection[str],
    groups: Mapping[str, Group],
    bodies: Mapping[str, frozenset[str]],
) -> dict[str, str]:
    """To each group its finer one, where there is one, after these groups changed."""
    finer = {key: other for key, other in before.finer.items() if key in groups}
    of = [each[key].body for each in (before.groups, groups) for key in changed if key in each]
    for body in {*of} & bodies.keys():
        keys = bodies[body]
        texts = {key: frozenset(groups[key].texts) for key in keys}
        for key in keys:
            known = finer.pop(key, "")
            moved = key in changed or known in changed
            among = (keys if moved else keys.intersection(changed) | {known}) - {key, ""}
            found = [(len(texts[each]), each) for each in among if texts[key] <= texts[each]]
            if found:
                finer[key] = max(found)[1]
    return finer


def _readers(union: Union | None) -> Iterator[Reader]:
    """The joins with patterns that a relation reads without groups; none of a relation with choice,
    which may be chosen anew as a whole.
    """
    if union is None or union.schema.choice:
        return
    for arm in union.arms:
        if isinstance(arm, JoinArm) and (patterns := Pattern.of(arm.join)):
            yield patterns, arm.key, union.schema.name


def _readers_of(group: Group | None) -> Iterator[Reader]:
    """The relations that read a group, where its join has a pattern."""
    if group is None or not (patterns := Pattern.of(group.join)):
        return
    for member in group.members:
        yield patterns, group.key, member.rule.relation
