"""The arrays that compiled rounds run on: the trees of a stratum and the questions that its moving rows ask (`rounds_kernels`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.join.prepared import PreparedPlan
from lftj.program.normal_form import RelationSchema
from lftj.recursion.update import rounds_kernels as at
from lftj.recursion.update import settle_kernels as tree_at
from lftj.recursion.update.choosing import Choosing
from lftj.recursion.update.elastic_query import ElasticQuery
from lftj.recursion.update.iterated_relation import ITERATED, IteratedRelation
from lftj.recursion.update.rounds_kernels import Questions
from lftj.recursion.update.rule_queries import BEFORE, LOST, MOVED
from lftj.recursion.update.settle_kernels import Trees
from lftj.storage.relation import Order
from scantree import Arena, Tree
from scantree.layout import words_to_change
from scantree.page_kernels import MAX_HEIGHT, REFERENCES, release

CANDIDATES = "#candidates"
RANKING = "#ranking"


class Question(NamedTuple):
    """A query about rows of a relation that move, or (`lost`) that are lost, which have this schema; it proves rows of `head`."""

    relation: str
    lost: bool
    query: ElasticQuery
    head: str
    schema: RelationSchema

    @property
    def changes(self) -> str:
        """The name under which the query reads them."""
        return self.schema.name


class TreeTable:
    """The trees of a stratum by number: each relation's, in its key orders, then those of what moves and of what is lost."""

    def __init__(
        self,
        relations: Mapping[str, IteratedRelation],
        choosing: Mapping[str, Choosing],
        plans: Mapping[Question, PreparedPlan],
        arena: Arena,
    ):
        self._arena = arena
        self._relations = relations
        self._choosing = choosing
        self._numbers: dict[tuple[str, Order], int] = {}
        self._trees: list[Tree] = []
        asked = [(atom.relation, atom.order) for prepared in plans.values() for atom in prepared.plan.atoms]
        widest = max(relation.identity.key_width for relation in relations.values())
        bounds = np.zeros((len(relations), tree_at.RELATION_WORDS), np.int64)
        for record, (name, relation) in zip(bounds, relations.items(), strict=True):
            width = relation.identity.key_width
            record[tree_at.ARITY] = width
            if name in choosing:
                record[tree_at.DOMAIN] = choosing[name].width
                relation.tree(choosing[name].by_domain)
                for kind, tree in (CANDIDATES, choosing[name].rows.identity), (RANKING, choosing[name].ranking):
                    self._number(name + kind, tuple(range(width + 1)), tree, record, tree_at.MOVING)
            for order in relation.orders():
                self._number(name + ITERATED, order, relation.tree(order), record, tree_at.MOVING)
            record[tree_at.CURRENT] = record[tree_at.OWN] = record[tree_at.MOVING] - len(relation.orders())
            if name in choosing:
                record[tree_at.OWN] = self._numbers[name + CANDIDATES, tuple(range(width + 1))]
                record[tree_at.BY_DOMAIN] = self._numbers[name + ITERATED, choosing[name].by_domain]
            for kind, keys, end in ((MOVED, width + 1, tree_at.LOSING), (LOST, width, tree_at.TREES_END)):
                record[end] = record[end - 1]
                for order in dict.fromkeys(order or tuple(range(keys)) for read, order in asked if read == name + kind):
                    self._number(name + kind, order, Tree.empty(arena, keys), record, end)
        orders = np.zeros((len(self._trees), widest + 1), np.int64)
        for (_, order), number in self._numbers.items():
            orders[number, : len(order)] = order
        records = np.zeros((len(self._trees), tree_at.TREE_WORDS), np.int64)
        layouts = np.array([tree.layout for tree in self._trees], np.int64)
        self.words = Trees(bounds, records, layouts, orders)

    def _number(self, name: str, order: Order, tree: Tree, record: np.ndarray, end: int) -> None:
        self._numbers[name, order] = len(self._trees)
        self._trees.append(tree)
        record[end] = len(self._trees)

    def number(self, name: str, order: Order) -> tuple[int, int] | None:
        """The number of the tree that an atom reads, and whether as it was before the round; None for one that rounds leave alone."""
        before = name.endswith(BEFORE)
        plain = name.removesuffix(BEFORE) + ITERATED if before else name
        if (found := self._numbers.get((plain, order))) is None and not order:
            found = next((number for (other, _), number in self._numbers.items() if other == plain), None)
        return None if found is None else (found, int(before))

    def need(self, rows: int) -> int:
        """No fewer words of the arena than a round takes in which so many rows of each relation are due."""
        return sum(words_to_change(tree.layout, MAX_HEIGHT, 2 * rows, rows, self._arena.memory.size) for tree in self._trees)

    def hold(self) -> None:
        """Give every tree's root a reference of the rounds' own. Call with the arena's lock held, as `publish`."""
        for record, tree in zip(self.words.records, self._trees, strict=True):
            record[tree_at.ROOT] = record[tree_at.ROOT_BEFORE] = tree.root
            record[tree_at.HEIGHT] = record[tree_at.HEIGHT_BEFORE] = tree.height
            if tree.root:
                self._arena.memory[tree.root + REFERENCES] += 1

    def publish(self) -> dict[str, IteratedRelation]:
        """The relations as rounds left them, which takes the references back."""
        found: dict[str, IteratedRelation] = {}
        for name, relation in self._relations.items():
            own = {order: number for (read, order), number in self._numbers.items() if read == name + ITERATED}
            trees = {order: self._published(number) for order, number in own.items()}
            same = trees[next(iter(trees))] is relation.identity
            found[name] = relation if same else relation.followed_by(trees)
            if name in self._choosing:
                order = tuple(range(relation.identity.key_width + 1))
                candidates, ranking = (self._published(self._numbers[name + kind, order]) for kind in (CANDIDATES, RANKING))
                self._choosing[name].become(candidates, ranking)
        return found

    def _published(self, number: int) -> Tree:
        root, height = (int(word) for word in self.words.records[number, : tree_at.HEIGHT + 1])
        tree = self._trees[number]
        if root != tree.root:
            tree = tree.version(root, height)
        release(self._arena.memory, root)
        return tree


def question_words(
    questions: Sequence[Question],
    plans: Mapping[Question, PreparedPlan],
    trees: TreeTable,
    bindings: Mapping[Question, tuple[Sequence[Tree], Sequence[Tree]]],
    names: Sequence[str],
) -> Questions:
    """The questions' records, those of one relation together; sets the relations' ranges. `bindings`: the trees that plans read."""
    records = np.zeros((len(questions), at.QUESTION_WORDS), np.int64)
    bound: list[tuple[int, int, int]] = []
    picks: list[int] = []
    for number, (record, question) in enumerate(zip(records, questions, strict=True)):
        ends = trees.words.relations[names.index(question.relation)]
        first, last = (tree_at.FIRST_LOST, tree_at.LAST_LOST) if question.lost else (tree_at.FIRST_MOVED, tree_at.LAST_MOVED)
        ends[first] = ends[first] if ends[last] else number
        ends[last] = number + 1
        if (prepared := plans.get(question)) is None:
            continue
        record[at.READY] = 1
        record[at.FIRST_BOUND] = len(bound)
        for atom, tree, parts in zip(prepared.plan.atoms, bindings[question][0], prepared.parts, strict=True):
            if (read := trees.number(atom.relation, atom.order)) is not None:
                bound += [(part, *read) for part in parts]
            elif not len(tree):
                record[at.READY] = at.BARREN
        record[at.LAST_BOUND] = len(bound)
        record[at.FIRST_PICK] = len(picks)
        picks += question.query.picks
        record[at.LAST_PICK] = len(picks)
        record[at.VALUES] = question.query.values
        record[at.PROVES] = names.index(question.head)
        _tell_arrays(record, prepared)
    return Questions(records, np.array(bound, np.int64).reshape(-1, 3), np.array(picks, np.int64))


def _tell_arrays(record: np.ndarray, prepared: PreparedPlan) -> None:
    plan, state, fresh, out, log = prepared.arrays()
    for word, array in zip((at.PLAN, at.STATE, at.FRESH, at.OUT, at.LOG), (plan, state, fresh, out, log), strict=True):
        record[word] = array.__array_interface__["data"][0]
    record[at.STATE_WORDS] = len(state)
    record[at.COLUMNS], record[at.ROOM] = len(out) - 1, out.shape[1]
