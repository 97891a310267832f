# SPDX-License-Identifier: Apache-2.0
"""Answers to questions in this process: the rule that a question stands for is evaluated on the
reader's own version, and forgotten.

Constants lead the variable order, so `reach(1, y)` seeks and does not scan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from lftj.engine.calls.limits import short_of_memory
from lftj.engine.commit.commit import begin_calls
from lftj.engine.machine_code.compiled_ahead import compile_for
from lftj.engine.questions.bound_search import search_for
from lftj.engine.questions.question import Asked, Questions
from lftj.engine.versions.result import ANSWERS, Result
from lftj.engine.versions.state import State
from lftj.heads.user import UserAggregate
from lftj.join.context import Context
from lftj.join.plan.cardinality import Statistics
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.storage.database import Database
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.syntax.attention import attending
from lftj.types.dictionary import Dictionary
from lftj.types.texts import Texts
from lftj.views.runner import refresh
from lftj.views.states import NO_STATES


class Evaluating(Protocol):
    """The parts of an engine that evaluate."""

    questions: Questions
    statistics: Statistics

    @property
    def arena(self) -> Arena:
        """Memory of all pages."""
        ...

    @property
    def dictionary(self) -> Dictionary:
        """Strings and their codes."""
        ...

    def context(self, aggregates: Mapping[str, UserAggregate], /) -> Context:
        """The surroundings of one evaluation."""
        ...


class Answering(Evaluating, Protocol):
    """The parts of an engine that answer."""

    def passing_context(self, aggregates: Mapping[str, UserAggregate], /) -> Context:
        """The surroundings of an evaluation of which nothing is kept."""
        ...

    def whole(
        self, read: Callable[[], Columns], schema: RelationSchema, texts: Texts, /
    ) -> Callable[[], Columns]:
        """`read`, with an error in the place of damaged rows."""
        ...


def read(engine: Evaluating, state: State, question: object) -> Asked:
    """Read a question, and compile what it needs. Raises what a rule with this body would raise."""
    known = engine.questions.known(state.program, question)
    if known is not None:
        return known
    with attending(engine.context(state.aggregates).budget.read_on):
        asked = engine.questions.asked(
            state.program, question, partial(engine.statistics.size, state.database)
        )
        compile_for(asked.fresh.values(), asked.program.order.strata)
    return asked


def evaluated(
    engine: Evaluating, state: State, asked: Asked, context: Context, codes: Sequence[int] = ()
) -> Database:
    """The version with the rows of the relations that a question is about; `codes`: the values of
    its parameters. Raises what evaluation raises.
    """
    empty = {name: RelationVersion.empty(each, engine.arena) for name, each in asked.fresh.items()}
    if asked.values is not None:
        row = [np.array([code], np.int64) for code in codes]
        empty[asked.values.name] = RelationVersion.build(asked.values, engine.arena, row)
    database = state.database.replace(empty)
    begin_calls(state, context)
    with attending(context.budget.plan_on):
        return refresh(
            asked.program,
            database,
            database,
            {},
            NO_STATES,
            context,
            changed_rules=frozenset(asked.fresh),
        ).database


def answer(
    engine: Answering, state: State, question: object, values: Sequence[object] = ()
) -> Result:
    """The distinct bindings of the question's variables, one column each in order of appearance;
    without variables one row for yes. `values`: of its parameters.

    Raises what a rule with this body would raise: ProgramErrors with places in the text,
    LimitError, ValueRangeError …, and what a value of a wrong type raises.
    """
    asked = read(engine, state, question)
    asked.question.require(values)
    schema = asked.schema
    with (
        interrupts_as_such(),
        engine.dictionary.in_use(),
        short_of_memory("there is no answer", "ask for less at a time"),
    ):
        found, count = _rows(engine, state, asked, values)
        texts = engine.dictionary.texts()
        return Result(
            schema.columns,
            engine.whole(found, schema, texts),
            count,
            texts,
            version=state.version,
            name=ANSWERS,
        )


def _rows(
    engine: Answering, state: State, asked: Asked, values: Sequence[object]
) -> tuple[Callable[[], Columns], int]:
    """The rows of the answers, and their number."""
    codes: list[int] = []
    if asked.values is not None:
        codes = asked.question.encoded(asked.values, values, engine.dictionary)
        context = engine.context(state.aggregates)
        with attending(context.budget.plan_on):
            search = search_for(asked, codes, state.database, context)
        if search is not None:
            rows = search.rows(codes, state.database, context)
            asked.searches.append(search)
            return lambda: rows, len(rows[0])
    context = engine.passing_context(state.aggregates)
    found = evaluated(engine, state, asked, context, codes)[asked.schema.name]
    return found.columns, found.count
