# SPDX-License-Identifier: Apache-2.0
"""All queries of the elastic update for one rule of a recursive stratum [Elastic, Algorithm 3].

A change below the stratum changes proofs at once, in all iterations together. Rows that moved
inside the stratum change the proofs that use them. And for a row that lost its proofs a query finds
its proofs in later iterations. An instantiation that several changed atoms find counts once because
atoms are taken in turn: atoms before the changed one read the state after the change, atoms after
it the state before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from lftj.maintenance.counting.elastic_query import ElasticQuery
from lftj.maintenance.inputs.versions import CHANGE, Versions
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom
from lftj.storage.relation import Order, RelationVersion
from lftj.types.sources import Role, Source, without_role


class RuleQueries:
    """The queries of one rule, planned when first asked. Shared by all versions of a state: they
    are kept for speed only.
    """

    def __init__(self, rule: NormalRule, members: frozenset[str]):
        self.rule = rule
        self.members = members

    @cached_property
    def below(self) -> list[ElasticQuery]:
        """Proofs won and lost by a change of one relation below, one query per atom."""
        queries: list[ElasticQuery] = []
        rule = self.rule
        for i, atom in enumerate(rule.atoms):
            if atom.relation not in self.members:
                later = self._atoms(rule.atoms[i + 1 :], Role.PREVIOUS, Role.ITERATED)
                atoms = (
                    *self._atoms(rule.atoms[:i], None, Role.ITERATED),
                    PositiveAtom(CHANGE, atom.args),
                    *later,
                )
                queries.append(
                    ElasticQuery(
                        replace(rule, atoms=atoms, negated=_as_they_were(rule.negated)),
                        atom.relation,
                    )
                )
        for i, gone in enumerate(rule.negated):
            negated = (*rule.negated[:i], *_as_they_were(rule.negated[i + 1 :]))
            body = replace(
                rule,
                atoms=(gone.bound_in(CHANGE), *self._atoms(rule.atoms, None, Role.ITERATED)),
                negated=negated,
            )
            queries.append(ElasticQuery(body, gone.relation, gone.bound_columns))
        return queries

    @cached_property
    def moved(self) -> list[ElasticQuery]:
        """Proofs won and lost by rows that move, one query per atom of the stratum."""
        rule = self.rule
        queries: list[ElasticQuery] = []
        for i, atom in enumerate(rule.atoms):
            if atom.relation in self.members:
                before = self._atoms(rule.atoms[:i], None, Role.ITERATED)
                moved = PositiveAtom(Source(atom.relation, Role.MOVED), atom.args)
                atoms = (*before, moved, *self._atoms(rule.atoms[i + 1 :], None, Role.BEFORE_MOVE))
                queries.append(ElasticQuery(replace(rule, atoms=atoms), atom.relation))
        return queries

    @cached_property
    def rediscovery(self) -> ElasticQuery:
        """The proofs that lost rows had before the update."""
        rule = self.rule
        head = rule.head_in(Source(rule.relation, Role.DELETED))
        atoms = (head, *self._atoms(rule.atoms, Role.PREVIOUS, Role.BEFORE_UPDATE))
        return ElasticQuery(replace(rule, atoms=atoms, negated=_as_they_were(rule.negated)))

    @cached_property
    def added(self) -> ElasticQuery:
        """All proofs by a rule that comes: the rule as a fact that is inserted, its body the delta
        query of that fact [DYRE].
        """
        return ElasticQuery(
            replace(self.rule, atoms=self._atoms(self.rule.atoms, None, Role.ITERATED))
        )

    @cached_property
    def removed(self) -> ElasticQuery:
        """All proofs by a rule that goes."""
        rule = self.rule
        atoms = self._atoms(rule.atoms, Role.PREVIOUS, Role.ITERATED)
        return ElasticQuery(replace(rule, atoms=atoms, negated=_as_they_were(rule.negated)))

    @property
    def ranked(self) -> set[tuple[str, Order]]:
        """Key orders of relations with ranks that its queries have read."""
        made = [each for each in vars(self).values() if isinstance(each, ElasticQuery)]
        for name in ("below", "moved"):
            made += vars(self).get(name, ())
        return set[tuple[str, Order]]().union(*[query.ranked for query in made])

    @property
    def recursive(self) -> bool:
        """Test for a rule that reads relations of the stratum."""
        return any(atom.relation in self.members for atom in self.rule.atoms)

    def _atoms(
        self, atoms: tuple[PositiveAtom, ...], below: Role | None, inside: Role
    ) -> tuple[PositiveAtom, ...]:
        """Give relations of the stratum one role and those below it another."""

        def name(relation: str) -> str:
            role = inside if relation in self.members else below
            return relation if role is None else Source(relation, role)

        return tuple(PositiveAtom(name(atom.relation), atom.args) for atom in atoms)


def _as_they_were(negated: tuple[NegatedAtom, ...]) -> tuple[NegatedAtom, ...]:
    return tuple(NegatedAtom(Source(atom.relation, Role.PREVIOUS), atom.args) for atom in negated)


# What the queries of an elastic update read, and which rules read what.


class Readings(dict[str, RelationVersion]):
    """Relations that the queries read, by the names in their bodies; relations below are looked up
    when first read.
    """

    def __init__(self, versions: Versions):
        super().__init__()
        self._versions = versions

    def __missing__(self, name: str) -> RelationVersion:
        plain = without_role(name, Role.PREVIOUS)
        # a rule that goes may be the last to read a hidden relation, which goes with it
        self[name] = found = (
            self._versions[name] if plain in self._versions else self._versions.old[plain]
        )
        return found


def readers_of(
    rules: Iterable[RuleQueries], members: Iterable[str]
) -> dict[str, list[RuleQueries]]:
    """The rules that read each relation of a stratum."""
    readers: dict[str, list[RuleQueries]] = {name: [] for name in members}
    for queries in rules:
        for name in {atom.relation for atom in queries.rule.atoms} & readers.keys():
            readers[name].append(queries)
    return readers
