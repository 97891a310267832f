"""Derivations of rows from rows of lower ranks: which rows lose one, and which have one left.

A row that loses a derivation from lower ranks is in doubt. If it has another one, it stays, and
nothing that rests on it is looked at. Backward/forward [Motik, Nenov, Piro and Horrocks, AAAI 2015]
searches for a proof of a row in doubt before it deletes it; here ranks tell in one step that a
proof does not rest on the row itself. A row without one is deleted, though it may have a derivation
from higher ranks: `rederive` brings it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from lftj.join.context import Context
from lftj.maintenance.cost.cost_model import ITERATION, LOOK_UP
from lftj.maintenance.deletion.over_delete import appeared_name, over_deleting
from lftj.maintenance.rules.full_evaluation import head_rows
from lftj.program.normal_form import (
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
)
from lftj.scantree.rows import difference, sort_rows
from lftj.storage.database import base_name
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types import INT
from lftj.types.sources import Role, Source, in_role, named_once, without_role

Relations = Mapping[str, RelationVersion]


@named_once
def deleted_name(relation: str) -> Source:
    """The name for the rows that a relation lost."""
    return Source(relation, Role.DELETED)


@named_once
def ranked_name(relation: str) -> Source:
    """The name for a relation's rows with their ranks."""
    return Source(relation, Role.RANKED)


@named_once
def _doubted_name(relation: str) -> Source:
    return Source(relation, Role.DOUBTED)


def lost_name(name: str, given: Collection[str]) -> str:
    """The name for what a relation lost that rules read; `given`: the names of rows that are given
    to relations of the stratum.
    """
    if isinstance(name, Source) and name in given:
        return base_name(deleted_name(name.name))
    return deleted_name(name)


def with_rank(name: str, schema: RelationSchema) -> RelationSchema:
    """The schema of rows with their ranks, by another name."""
    return RelationSchema(name, (*schema.columns, ("rank", INT)))


class Supports:
    """The rules of a stratum over ranked rows."""

    def __init__(self, schemas: Mapping[str, RelationSchema], rules: Sequence[NormalRule]):
        self.schemas, self.rules = schemas, rules
        self._given = {base_name(name) for name in schemas}
        self._checks: dict[tuple[int, frozenset[str]], NormalRule] = {}

    @cached_property
    def deleting(self) -> list[NormalRule]:
        """The rules by which rows lose a derivation from lower ranks."""
        found: list[NormalRule] = []
        for rule in self.rules:
            ranked = self._ranked(rule)
            head = ranked.head_in(ranked_name(rule.relation))
            found.extend(
                replace(each, atoms=(*each.atoms, head))
                for each in over_deleting(ranked, deleted_name(rule.relation), self._lost)
            )
        return found

    def checks(
        self, name: str, deleted: frozenset[str], below: Collection[str]
    ) -> Iterator[NormalRule]:
        """The rules that find rows of a relation in doubt which have a derivation from lower ranks
        left: without rows of `deleted` relations of the stratum, and without what changed `below`,
        by the names that it is read by.
        """
        for number, rule in enumerate(self.rules):
            if rule.relation == name:
                lost = (self._lost(atom.relation) for atom in rule.atoms)
                came = map(appeared_name, rule.negated)
                changed = deleted.union(each for each in (*lost, *came) if each in below)
                if (number, changed) not in self._checks:
                    self._checks[number, changed] = self._check(rule, changed)
                yield self._checks[number, changed]

    def _check(self, rule: NormalRule, changed: Collection[str]) -> NormalRule:
        ranked = self._ranked(rule)
        negated = list(ranked.negated)
        for atom in ranked.atoms:
            args = (*atom.args[:-1], None) if in_role(atom.relation, Role.RANKED) else atom.args
            if (
                without_role(atom.relation, Role.RANKED) in changed
                or self._lost(atom.relation) in changed
            ):
                negated.append(NegatedAtom(self._lost(atom.relation), args))
        for none in ranked.negated:
            if (came := appeared_name(none)) in changed:
                negated.append(NegatedAtom(came, none.bound_in(came).args))
        sought = ranked.head_in(_doubted_name(rule.relation))
        return replace(ranked, atoms=(sought, *ranked.atoms), negated=tuple(negated))

    def _lost(self, name: str) -> str:
        return lost_name(without_role(name, Role.RANKED), self._given)

    def _ranked(self, rule: NormalRule) -> NormalRule:
        """The rule over ranked rows. Its last head column is the head's rank, which exceeds those
        of its atoms.
        """
        variables = [*rule.variables, RuleVariable("_rank", INT)]
        own, filters = Ref(len(rule.variables)), list(rule.filters)
        atoms: list[PositiveAtom] = []
        for atom in rule.atoms:
            if atom.relation in self.schemas:
                rank = Ref(len(variables))
                variables.append(RuleVariable("_rank", INT))
                filters.append(Filter("<", rank, own))
                atom = PositiveAtom(ranked_name(atom.relation), (*atom.args, rank))
            atoms.append(atom)
        return replace(
            rule,
            head=(*rule.head, own),
            variables=tuple(variables),
            atoms=tuple(atoms),
            filters=tuple(filters),
        )


class SupportCheck:
    """The test of rows in doubt at one commit. `base`: rows that are given to relations of the
    stratum, by relation; `lower`: all that the rules read beside what is deleted.
    """

    def __init__(self, supports: Supports, base: Relations, lower: Relations, context: Context):
        self._supports, self._base = supports, base
        self._lower, self._context = lower, context

    def unsupported(self, name: str, rows: Columns, deleted: Relations) -> Columns:
        """Select the ranked rows of a relation, sorted, that have no derivation from lower ranks
        without the rows that are `deleted` so far, by relation.
        """
        if name in self._base and len(rows[0]):
            given = self._base[name].contains(rows[:-1])
            rows = [column[~given] for column in rows]
        schema = with_rank(_doubted_name(name), self._supports.schemas[name])
        gone = {deleted_name(each): version for each, version in deleted.items() if version.count}
        some = frozenset(each.name for each in gone)
        for check in self._supports.checks(name, some, self._lower):
            if not len(rows[0]):
                break
            self._context.budget.charge(ITERATION + LOOK_UP * len(rows[0]))
            doubted = TransientRelation(schema, self._context.resources.arena, rows)
            read = {**self._lower, **gone, schema.name: doubted}
            found = head_rows(check, read, self._context, lasting=True)
            rows = difference(rows, sort_rows(found)) if len(found[0]) else rows
        return rows
