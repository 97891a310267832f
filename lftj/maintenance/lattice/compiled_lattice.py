# SPDX-License-Identifier: Apache-2.0
"""Runs of iterations with small numbers of offers each, in compiled code (`improvement_kernels`):
an iteration outside takes as long as fifty there.

A run leaves an iteration that it cannot do (too many offers at a time, an expression that fails) as
if it had not begun; the fixpoint then continues one iteration at a time, and tries a compiled run
again some iterations later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from lftj.errors import LimitError
from lftj.join.context import Context
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.counting import apply_iteration_kernels as tree_at
from lftj.maintenance.counting import question_kernels as run_at
from lftj.maintenance.counting.compiled_runs import CompiledRuns
from lftj.maintenance.counting.derivation_queue import waiting_rows
from lftj.maintenance.counting.iteration_tables import MOVED, question_words
from lftj.maintenance.counting.numbered_trees import NumberedTrees
from lftj.maintenance.counting.question_kernels import Questions
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW
from lftj.maintenance.lattice import improvement_kernels as at
from lftj.maintenance.rules.last_found import note_last
from lftj.maintenance.semi_naive import variant_plans
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.maintenance.semi_naive.variant_plans import VariantPlans
from lftj.maintenance.semi_naive.variants import Variant, delta_name, older_name
from lftj.program.monotone import Lattice
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.storage.delta import Columns, Delta, stored_width
from lftj.storage.relation import Order, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, in_role

_FOUND = 1024  # offers that an iteration makes
_NOTES = 1 << 14  # rows of which a run notes in which iteration it found them

Versions = Mapping[str, RelationVersion]
Plans = Mapping["_Question", PreparedPlan]
_COMPILED_OFFERS = 128
"""Offers of an iteration of a lattice up to which compiled code does it."""


class _Question:
    """Question for the offers that a variant makes of the rows of a delta."""

    about = MOVED

    def __init__(self, variant: Variant):
        self.variant = variant
        self.relation, self.head = variant.source, variant.rule.relation
        self.picks: Sequence[int] = variant.picks.tolist()
        self.values = len(variant.needed)


class CompiledLattice(CompiledRuns):
    """The runs of one fixpoint by these variants; `iterations`: in how many iterations, `taken`: of
    about how many groups, and `cost`: what they took (see `cost_model`). `trail`: what each of them
    found, where that is asked for.
    """

    trail: list[Iteration] | None = None

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        lattices: Mapping[str, Lattice],
        variants: Sequence[Variant],
        context: Context,
    ):
        super().__init__(_COMPILED_OFFERS, at.IMPROVEMENT_WORDS, context)
        self.iterations = self.cost = self.taken = 0
        self._schemas = schemas
        self._lattices = lattices
        self._variants = variants
        self._plans: dict[_Question, PreparedPlan] = {}

    @cached_property
    def _questions(self) -> list[_Question]:
        """Questions by number, those of one relation together."""
        names = list(self._schemas)
        return [
            _Question(each)
            for each in sorted(self._variants, key=lambda variant: names.index(variant.source))
        ]

    @cached_property
    def _by_code(self) -> bool:
        """Test for lattices whose values all order as their codes do."""
        return all(
            self._schemas[name].columns[lattice.column][1].name != "str"
            for name, lattice in self._lattices.items()
        )

    def worth_trying(self, offers: int) -> bool:
        """Test for iterations, the first of which has so many offers, that may be left to a run."""
        return self._few_for_long(offers) and offers > 0 and self._by_code

    def go(
        self,
        totals: dict[str, RelationVersion],
        below: Versions,
        offers: Mapping[str, np.ndarray],
        plans: VariantPlans,
        often: Callable[[Versions, int], bool],
    ) -> dict[str, np.ndarray]:
        """Do iterations while it goes well, and until groups are taken `often`, as rows and `taken`
        tell. `totals` are as they leave them. What is offered then.

        Offers are matrices of columns × rows. Raises what `spend` and `charge` raise.
        """
        records = self._records(offers)
        control, before, going = self._control, self.iterations, True
        while going:
            records = self._slice(totals, below, records, plans)
            status = control[run_at.STATUS]
            if status == run_at.UNPLANNED:
                readable = self._readable(totals, below)
                for question in self._to_plan(
                    int(control[run_at.QUESTION]), self._questions, self._plans
                ):
                    self._plans[question] = self._plan(question, readable, plans)
            going = not often(totals, self.taken) and (
                status in (run_at.LIMIT, run_at.UNPLANNED)
                or (status == run_at.FULL and control[run_at.ITERATIONS] > 0)
            )
        self._came_to(self.iterations - before)
        own = [
            (name, records[records[:, HEAD] == number]) for number, name in enumerate(self._schemas)
        ]
        return {
            name: rows[:, ROW : ROW + stored_width(self._schemas[name].arity)].T
            for name, rows in own
        }

    def _records(self, offers: Mapping[str, np.ndarray]) -> np.ndarray:
        width = max(stored_width(schema.arity) for schema in self._schemas.values())
        records = np.zeros(
            (sum(rows.shape[1] for rows in offers.values()), ROW + width + 1), np.int64
        )
        first = 0
        for number, name in enumerate(self._schemas):
            last = first + offers[name].shape[1]
            records[first:last, HEAD] = number
            records[first:last, ROW : ROW + len(offers[name])] = offers[name].T
            first = last
        return records

    def _readable(self, totals: Versions, below: Versions) -> dict[str, RelationVersion]:
        """Relations that rules read by name; a row that stands for those of any delta."""
        found = {
            **below,
            **totals,
            **{older_name(name): version for name, version in totals.items()},
        }
        for name, schema in self._schemas.items():
            one_row = [np.zeros(1, np.int64)] * stored_width(schema.arity)
            found[delta_name(name)] = TransientRelation(
                schema, self._context.resources.arena, one_row
            )
        return found

    def _plan(self, question: _Question, readable: Versions, plans: VariantPlans) -> PreparedPlan:
        plans.plan(question.variant, self._few, readable)
        with question.variant.assembled(readable, self._context) as prepared:
            return prepared  # nobody else uses it meanwhile

    def _slice(
        self,
        totals: dict[str, RelationVersion],
        below: Versions,
        records: np.ndarray,
        plans: VariantPlans,
    ) -> np.ndarray:
        """Do iterations until there is something to look at: `control` says what. The offers that
        are left.
        """
        context, control = self._context, self._control
        due = np.zeros((max(_FOUND, len(records)), records.shape[1]), np.int64)
        due[: len(records)] = records
        readable = self._readable(totals, below)
        self._plans = {question: self._plan(question, readable, plans) for question in self._plans}
        self._set_limits()
        control[run_at.DUE], control[at.MOST_DUE] = len(records), self._few
        notes = np.empty((0 if self.trail is None else _NOTES, due.shape[1]), np.int64)
        with self._surroundings() as around:
            # the trees of relations below are held by this, and key orders that are missing made
            bindings = {
                question: prepared.bind(readable) for question, prepared in self._plans.items()
            }
            trees = _Trees(
                self._schemas, totals, self._lattices, self._plans, context.resources.arena
            )
            questions = question_words(
                self._questions, self._plans, trees, bindings, list(self._schemas)
            )
            control[run_at.NEED] = trees.room_for(self._few)
            trees.hold()
            try:
                at.run_improvement(
                    context.resources.arena.memory,
                    around,
                    trees.words,
                    questions,
                    due,
                    np.empty_like(due),
                    notes,
                    control,
                )
            finally:
                totals.update(trees.publish())
        due = due[: int(control[run_at.DUE])]
        try:
            self._account(questions)
        except LimitError as error:
            note_last(error, waiting_rows(due, list(self._schemas.values())), context)
            raise
        self._follow(notes[: int(control[at.NOTED])])
        return due

    def _follow(self, notes: np.ndarray) -> None:
        """Add what iterations noted to the trail."""
        if self.trail is None or not len(notes):
            return
        ends = np.flatnonzero(np.diff(notes[:, DUE_IN])) + 1
        widths = [stored_width(schema.arity) for schema in self._schemas.values()]
        for each in np.split(notes, ends):
            found: dict[str, Columns] = {}
            for number, (name, width) in enumerate(zip(self._schemas, widths, strict=True)):
                rows = each[each[:, HEAD] == number]
                if len(rows):
                    found[name] = list(rows[:, ROW : ROW + width].T.copy())
            self.trail.append(found)

    def _account(self, questions: Questions) -> None:
        """Note what a run took. Raises what `spend` and `charge` raise."""
        for question, record in zip(self._questions, questions.records, strict=True):
            asked, answers, spent = (
                int(record[word]) for word in (run_at.ASKED, run_at.ANSWERS, run_at.SPENT)
            )
            if asked:
                variant_plans.account(question.variant, asked, spent, answers)
                self._context.budget.found += answers
        self.taken += int(questions.records[:, run_at.ASKED].sum()) // max(1, len(self._questions))
        iterations, cost = int(self._control[run_at.ITERATIONS]), int(self._control[run_at.COST])
        self.iterations += iterations
        self.cost += cost
        self._context.budget.charge(cost)
        self._context.budget.spend(int(self._control[run_at.WORK]) + iterations)


class _Trees(NumberedTrees):
    """The trees of a stratum: each relation's in the key orders that iterations read, then those of
    its delta.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        totals: Versions,
        lattices: Mapping[str, Lattice],
        plans: Plans,
        arena: Arena,
    ):
        super().__init__(len(schemas), at.IMPROVED_WORDS, arena)
        self._totals = totals
        self._schemas = schemas
        read = [
            (atom.relation, atom.order)
            for prepared in plans.values()
            for atom in prepared.plan.atoms
        ]
        for record, name in zip(self.ends, schemas, strict=True):
            version = totals[name]
            identity = tuple(range(stored_width(schemas[name].arity)))
            by_group = self._by_group(record, identity, lattices.get(name))
            record[tree_at.ARITY] = len(identity)
            record[tree_at.CURRENT] = record[tree_at.OWN] = len(self._trees)
            orders = [
                order for relation, order in read if order and self._version(relation)[0] == name
            ]
            for order in dict.fromkeys((identity, by_group, *orders)):
                self._number(name, order, version.tree(order), record, tree_at.MOVING)
            record[at.BY_GROUP] = self._numbers[name, by_group]
            record[tree_at.OVER_DELETED] = record[tree_at.MOVING]
            for order in dict.fromkeys(
                order or identity for relation, order in read if relation == delta_name(name)
            ):
                self._number(
                    delta_name(name),
                    order,
                    Tree.empty(arena, len(identity)),
                    record,
                    tree_at.OVER_DELETED,
                )
            record[tree_at.TREES_END] = record[tree_at.OVER_DELETED]

    def _by_group(self, record: np.ndarray, identity: Order, lattice: Lattice | None) -> Order:
        """The key order that begins with the columns of a group."""
        if lattice is None:
            record[at.GROUP] = len(identity)
            return identity
        record[at.GROUP] = len(identity) - 1
        record[at.RISING] = int(lattice.direction > 0)
        return (*(column for column in identity if column != lattice.column), lattice.column)

    def _version(self, name: str) -> tuple[str, bool]:
        before = in_role(name, Role.OLDER)
        return (name.name if before else name), before

    def publish(self) -> dict[str, RelationVersion]:
        """The relations as iterations left them, which takes the references back."""
        found: dict[str, RelationVersion] = {}
        for name in self._schemas:
            trees, before = self._published(name), self._totals[name]
            after = next(iter(trees.values()))
            found[name] = (
                before
                if after is before.identity
                else before.apply(Delta(*after.diff(before.identity)), trees)
            )
        return found
