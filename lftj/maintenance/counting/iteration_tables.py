# SPDX-License-Identifier: Apache-2.0
"""The arrays that compiled iterations run on: the trees of a stratum and the questions for its
moving rows (`iteration_kernels`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.counting import apply_iteration_kernels as tree_at
from lftj.maintenance.counting import question_kernels as at
from lftj.maintenance.counting.choice_update import Choosing
from lftj.maintenance.counting.elastic_query import ElasticQuery
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.numbered_trees import NumberedTrees
from lftj.maintenance.counting.question_kernels import Questions
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source, in_role

MOVED, LOST, DOUBTED = range(3)
"""Subjects of a question: rows that move, rows lost or in doubt, and rows in doubt only."""


class Question(NamedTuple):
    """A query about rows of a relation that move, are lost or are in doubt, which have this schema;
    it proves rows of `head`.
    """

    relation: str
    about: int
    query: ElasticQuery
    head: str
    schema: RelationSchema

    @property
    def changes(self) -> str:
        """The name under which the query reads them."""
        return self.schema.name

    @property
    def picks(self) -> list[int]:
        """The head's columns among the outputs."""
        return self.query.picks

    @property
    def values(self) -> int:
        """Outputs before the standings."""
        return self.query.values


class Asked(Protocol):
    """Question of an iteration about the rows of a relation that move, are lost or are in doubt
    (`about`): it proves rows of `head`.

    Column i of these is output `picks[i]` of its plan, which has so many `values` before derivation
    counts.
    """

    @property
    def relation(self) -> str: ...
    @property
    def about(self) -> int: ...
    @property
    def head(self) -> str: ...
    @property
    def picks(self) -> Sequence[int]: ...
    @property
    def values(self) -> int: ...


class Before(NamedTuple):
    """The rows of a stratum before an update, and its base rows then: rows in doubt are counted
    among them.
    """

    rows: Mapping[str, IteratedRelation]
    given: Mapping[str, RelationVersion]


class TreeTable(NumberedTrees):
    """The trees of a stratum: each relation's, in its key orders, then those of what moves and of
    what is lost, and where ranks stay those `before` the update.
    """

    def __init__(
        self,
        relations: Mapping[str, IteratedRelation],
        choosing: Mapping[str, Choosing],
        plans: Mapping[Question, PreparedPlan],
        arena: Arena,
        before: Before | None,
    ):
        super().__init__(len(relations), tree_at.RELATION_WORDS, arena)
        self._relations = relations
        self._choosing = choosing
        asked = [
            (atom.relation, atom.order)
            for prepared in plans.values()
            for atom in prepared.plan.atoms
        ]
        for record, (name, relation) in zip(self.ends, relations.items(), strict=True):
            width = relation.identity.key_width
            record[tree_at.ARITY], record[tree_at.FIXED] = width, before is not None
            if name in choosing:
                record[tree_at.DOMAIN] = choosing[name].width
                relation.tree(choosing[name].by_domain)
                for kind, tree in (
                    (Role.CANDIDATES, choosing[name].rows.identity),
                    (Role.RANKING, choosing[name].ranking),
                ):
                    self._number(
                        Source(name, kind), tuple(range(width + 1)), tree, record, tree_at.MOVING
                    )
            for order in relation.orders():
                self._number(
                    Source(name, Role.ITERATED), order, relation.tree(order), record, tree_at.MOVING
                )
            record[tree_at.CURRENT] = record[tree_at.OWN] = record[tree_at.MOVING] - len(
                relation.orders()
            )
            if name in choosing:
                record[tree_at.OWN] = self._numbers[
                    Source(name, Role.CANDIDATES), tuple(range(width + 1))
                ]
                record[tree_at.BY_DOMAIN] = self._numbers[
                    Source(name, Role.ITERATED), choosing[name].by_domain
                ]
            for kind, keys, end in (
                (Role.MOVED, width + 1, tree_at.OVER_DELETED),
                (Role.DELETED, width, tree_at.TREES_END),
            ):
                record[end] = record[end - 1]
                for order in dict.fromkeys(
                    order or tuple(range(keys))
                    for read, order in asked
                    if read == Source(name, kind)
                ):
                    self._number(Source(name, kind), order, Tree.empty(arena, keys), record, end)
            if before is not None:
                self._number_before(name, before, record)

    def _number_before(self, name: str, before: Before, record: np.ndarray) -> None:
        record[tree_at.GIVEN] = tree_at.NOWHERE
        trees = [(Role.BEFORE_UPDATE, before.rows[name].identity, tree_at.BEFORE)]
        if name in before.given:
            trees.append((Role.BASE, before.given[name].identity, tree_at.GIVEN))
        for kind, tree, word in trees:
            self._number(Source(name, kind), tuple(range(tree.key_width)), tree, record, word)
            record[word] -= 1  # the number itself

    def _version(self, name: str) -> tuple[str, bool]:
        before = in_role(name, Role.BEFORE_MOVE)
        return (Source(name.name, Role.ITERATED) if before else name), before

    def publish(self) -> dict[str, IteratedRelation]:
        """The relations as iterations left them, which takes the references back."""
        found: dict[str, IteratedRelation] = {}
        for name, relation in self._relations.items():
            for kind in (Role.BEFORE_UPDATE, Role.BASE):
                self._published(Source(name, kind))
            trees = self._published(Source(name, Role.ITERATED))
            same = trees[next(iter(trees))] is relation.identity
            found[name] = relation if same else relation.followed_by(trees)
            if name in self._choosing:
                self._choosing[name].become(
                    *(
                        next(iter(self._published(Source(name, kind)).values()))
                        for kind in (Role.CANDIDATES, Role.RANKING)
                    )
                )
        return found


A = TypeVar("A", bound=Asked)


def question_words(
    questions: Sequence[A],
    plans: Mapping[A, PreparedPlan],
    trees: NumberedTrees,
    bindings: Mapping[A, tuple[Sequence[Tree], Sequence[Tree]]],
    names: Sequence[str],
) -> Questions:
    """The questions' records, those of one relation together; sets the relations' ranges.
    `bindings`: the trees that plans read.
    """
    records = np.zeros((len(questions), at.QUESTION_WORDS), np.int64)
    bound: list[tuple[int, int, int]] = []
    picks: list[int] = []
    for number, (record, question) in enumerate(zip(records, questions, strict=True)):
        ends = trees.ends[names.index(question.relation)]
        first, last = (
            word + 2 * question.about for word in (tree_at.FIRST_MOVED, tree_at.LAST_MOVED)
        )
        ends[first] = ends[first] if ends[last] else number
        ends[last] = number + 1
        if (prepared := plans.get(question)) is None:
            continue
        record[at.READY] = 1
        record[at.FIRST_BOUND] = len(bound)
        for atom, tree, parts in zip(
            prepared.plan.atoms, bindings[question][0], prepared.parts, strict=True
        ):
            if (read := trees.number(atom.relation, atom.order)) is not None:
                bound += [(part, *read) for part in parts]
            elif not len(tree):
                record[at.READY] = at.BARREN
        record[at.LAST_BOUND] = len(bound)
        record[at.FIRST_PICK] = len(picks)
        picks += question.picks
        record[at.LAST_PICK] = len(picks)
        record[at.VALUES] = question.values
        record[at.PROVES] = names.index(question.head)
        _tell_arrays(record, prepared)
    return Questions(records, np.array(bound, np.int64).reshape(-1, 3), np.array(picks, np.int64))


def _tell_arrays(record: np.ndarray, prepared: PreparedPlan) -> None:
    plan, state, fresh, out, log = prepared.arrays()
    for word, array in zip(
        (at.PLAN, at.STATE, at.FRESH, at.OUT, at.LOG), (plan, state, fresh, out, log), strict=True
    ):
        record[word] = array.__array_interface__["data"][0]
    record[at.STATE_WORDS] = len(state)
    record[at.COLUMNS], record[at.ROOM] = len(out) - 1, out.shape[1]
