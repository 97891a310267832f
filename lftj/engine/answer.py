"""Answers to questions in this process: the rule that a question stands for is evaluated on the
reader's own version, and forgotten.

Constants lead the variable order, so `reach(1, y)` seeks and does not scan.
"""

from __future__ import annotations

from functools import partial

from lftj.engine.ahead import compile_for
from lftj.engine.engine import Engine
from lftj.engine.limits import short_of_memory
from lftj.engine.question import Asked
from lftj.engine.result import Result
from lftj.engine.state import State
from lftj.join.context import Context
from lftj.maintenance.commit import refresh
from lftj.storage.database import Database
from lftj.storage.relation import RelationVersion
from lftj.syntax.attention import attending
from scantree.interrupts import interrupts_as_such


def read(engine: Engine, state: State, question: object) -> Asked:
    """Read a question, and compile what it needs. Raises what a rule with this body would raise."""
    context = engine.context(state.aggregates)
    with attending(context.budget.read_on):
        asked = engine.questions.asked(
            state.program, question, partial(engine.statistics.repeats, state.database)
        )
        compile_for(asked.fresh.values(), asked.program.order.strata)
    return asked


def evaluated(engine: Engine, state: State, asked: Asked, context: Context) -> Database:
    """The version with the rows of the relations that a question is about. Raises what evaluation
    raises.
    """
    database = state.database.replace(
        {name: RelationVersion.empty(each, engine.arena) for name, each in asked.fresh.items()}
    )
    with attending(context.budget.plan_on):
        return refresh(
            asked.program, database, database, {}, {}, context, changed_rules=frozenset(asked.fresh)
        ).database


def answer(engine: Engine, state: State, question: object) -> Result:
    """The distinct bindings of the question's variables, one column each in order of appearance;
    without variables one row for yes.

    Raises what a rule with this body would raise: ProgramErrors with places in the text,
    LimitError, ValueRangeError …
    """
    asked = read(engine, state, question)
    schema = asked.schema
    with (
        interrupts_as_such(),
        engine.dictionary.in_use(),
        short_of_memory("there is no answer", "ask for less at a time"),
    ):
        context = engine.passing_context(state.aggregates)
        database = evaluated(engine, state, asked, context)
        rows, texts = database[schema.name], engine.dictionary.texts()
        return Result(
            schema.columns,
            engine.whole(rows.columns, schema, texts),
            rows.count,
            texts,
            version=state.version,
            name="answers",
        )
