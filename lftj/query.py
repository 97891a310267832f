"""Answers to questions: the rule that a question stands for is evaluated on the reader's own version, and forgotten.

Constants lead the variable order, so `reach(1, y)` seeks and does not scan.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lftj.ahead import compile_for
from lftj.attention import attending
from lftj.dictionary import PassingNames
from lftj.limits import short_of_memory
from lftj.refresh import refresh
from lftj.result import Result
from lftj.state import State
from lftj.storage.relation import RelationVersion
from scantree.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine import Engine


def answer(engine: Engine, state: State, question: object) -> Result:
    """The distinct bindings of the question's variables, one column each in order of appearance; without variables one row for yes.

    Raises what a rule with this body would raise: ProgramErrors with places in the text, LimitError, ValueRangeError …
    """
    reading = engine.context(state.aggregates)
    with attending(reading.read_on):
        program, schema, fresh = engine.questions.asked(state.program, question, partial(engine.statistics.repeats, state.database))
    compile_for(fresh.values(), program.order.strata)
    with interrupts_as_such(), engine.dictionary.in_use(), short_of_memory("there is no answer", "ask for less at a time"):
        context = engine.context(state.aggregates)
        context.keep, context.prepared, context.dictionary = False, {}, PassingNames(engine.dictionary)
        database = state.database.replace({name: RelationVersion.empty(each, engine.arena) for name, each in fresh.items()})
        with attending(context.plan_on):
            database = refresh(program, database, database, {}, {}, context, changed_rules=frozenset(fresh)).database
        rows = database[schema.name]
        return Result(schema.columns, rows.columns, rows.count, engine.dictionary.texts(), version=state.version, name="answers")
