# SPDX-License-Identifier: Apache-2.0
"""Runs of iterations in which a small number of rows moves, in compiled code (`iteration_kernels`):
a long chain costs microseconds an iteration.

A run leaves an iteration that it cannot do (too many rows at a time, an expression that fails) as
if it had not begun; the update then continues one iteration at a time, and tries a compiled run
again some iterations later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np

from lftj.errors import LimitError
from lftj.join.context import Context
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.counting import iteration_kernels
from lftj.maintenance.counting import question_kernels as at
from lftj.maintenance.counting.choice_update import Choosing
from lftj.maintenance.counting.compiled_runs import CompiledRuns
from lftj.maintenance.counting.derivation_queue import (
    DerivationQueue,
    by_relation,
    drained,
    heap_of,
    left,
    waiting_rows,
)
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.iteration_tables import Before, Question, TreeTable, question_words
from lftj.maintenance.rules.last_found import note_last
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import stored_width
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, Source

_PROVEN = 8192  # proofs found in an iteration
_COMPILED_ROWS = 512
"""Rows due in an iteration up to which compiled code does it."""


class CompiledIterations(CompiledRuns):
    """The runs of one update. `readings` are what its queries read: the relations' present names
    are kept up to date in it.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        choosing: Mapping[str, Choosing],
        questions: Callable[[], Iterable[Question]],
        readings: dict[str, RelationVersion],
        context: Context,
        before: Before | None,
    ):
        super().__init__(_COMPILED_ROWS, at.RUN_WORDS, context)
        self.assignments = 0
        self.went = False  # whether any iterations were left to a run
        self.plans: dict[Question, PreparedPlan] = {}
        self._choosing, self._before = choosing, before
        self._names, self._schemas = list(schemas), list(schemas.values())
        self._widths = [stored_width(schema.arity) for schema in schemas.values()]
        self._questions_of_update = questions
        self._readings = readings

    @cached_property
    def _questions(self) -> list[Question]:
        """Questions by number, those of one relation together."""
        return sorted(
            self._questions_of_update(),
            key=lambda question: (self._names.index(question.relation), question.about),
        )

    def worth_trying(self, rows: int) -> bool:
        """Test for iterations that may be left to a run, after one in which so many rows were
        due.
        """
        return self._few_for_long(rows) and all(each.by_code for each in self._choosing.values())

    def go(self, relations: dict[str, IteratedRelation], waiting: DerivationQueue) -> None:
        """Do iterations while it goes well; `relations` and `waiting` are as they leave them.
        Raises what `spend` and `charge` raise.
        """
        self.went = True
        records = drained(waiting, self._names, max(self._widths))
        control, iterations, going = self._control, 0, True
        while going:
            records = self._slice(relations, records)
            iterations += int(control[at.ITERATIONS])
            status = control[at.STATUS]
            if status == at.UNPLANNED:
                for question in self._to_plan(
                    int(control[at.QUESTION]), self._questions, self.plans
                ):
                    self._plan(question)
            going = status in (at.LIMIT, at.UNPLANNED) or (
                status == at.FULL and control[at.ITERATIONS] > 0
            )
        for name, proofs in by_relation(records, self._names, self._widths):
            waiting.add(name, proofs)
        self._came_to(iterations)

    def _plan(self, question: Question) -> None:
        """Make the plan of a question, or a new one when the relations have other sizes than they
        had.
        """
        name = question.changes
        if name not in self._readings or not self._readings[name].count:
            one_row = [np.zeros(1, np.int64)] * stored_width(question.schema.arity)
            self._readings[name] = TransientRelation(
                question.schema, self._context.resources.arena, one_row
            )
        self.plans[question] = question.query.prepared(self._readings, self._context)

    def _slice(self, relations: dict[str, IteratedRelation], records: np.ndarray) -> np.ndarray:
        """Do iterations until there is something to look at: `control` says what. The records that
        wait.
        """
        context, control = self._context, self._control
        heap = heap_of(records, len(records) + 2 * _PROVEN)
        due, proven = (
            np.empty((self._few + 1, records.shape[1]), np.int64),
            np.empty((_PROVEN, records.shape[1]), np.int64),
        )
        for question in self.plans:
            self._plan(question)
        self._set_limits()
        control[at.SIZE] = len(records)
        with self._surroundings() as around:
            # the trees of relations below are held by this, and key orders that are missing made
            bindings = {
                question: prepared.bind(self._readings) for question, prepared in self.plans.items()
            }
            trees = TreeTable(
                relations, self._choosing, self.plans, context.resources.arena, self._before
            )
            questions = question_words(self._questions, self.plans, trees, bindings, self._names)
            control[at.NEED] = trees.room_for(self._few)
            trees.hold()
            try:
                iteration_kernels.run_iterations(
                    context.resources.arena.memory,
                    around,
                    trees.words,
                    questions,
                    heap,
                    due,
                    proven,
                    control,
                )
            finally:
                relations.update(trees.publish())
        for name, relation in relations.items():
            self._readings[Source(name, Role.ITERATED)] = self._readings[
                Source(name, Role.BEFORE_MOVE)
            ] = relation
        self.assignments += int(control[at.ASSIGNMENTS])
        records = left(heap, int(control[at.SIZE]), due[: int(control[at.DUE])])
        context.budget.charge(int(control[at.COST]))
        try:
            context.budget.spend(int(control[at.WORK]))
        except LimitError as error:
            note_last(error, waiting_rows(records, self._schemas), context)
            raise
        return records
