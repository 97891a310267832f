"""Reading: one committed version, held for as long as the reader likes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lftj.engine.ahead import compile_for
from lftj.engine.handles import Relation, RuleHandle
from lftj.engine.limits import short_of_memory
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.engine.state import State
from lftj.engine.uncopied import Uncopied
from lftj.engine.verify import Discrepancy, discrepancies
from lftj.maintenance.commit import refresh
from lftj.storage.relation import RelationVersion
from lftj.syntax.attention import attending
from lftj.syntax.builder import Predicate
from lftj.types.dictionary import PassingNames
from scantree.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

# Answers to questions: the rule that a question stands for is evaluated on the reader's own
# version, and forgotten.
#
# Constants lead the variable order, so `reach(1, y)` seeks and does not scan.


def answer(engine: Engine, state: State, question: object) -> Result:
    """The distinct bindings of the question's variables, one column each in order of appearance;
    without variables one row for yes.

    Raises what a rule with this body would raise: ProgramErrors with places in the text,
    LimitError, ValueRangeError …
    """
    reading = engine.context(state.aggregates)
    with attending(reading.read_on):
        program, schema, fresh = engine.questions.asked(
            state.program, question, partial(engine.statistics.repeats, state.database)
        )
    compile_for(fresh.values(), program.order.strata)
    with (
        interrupts_as_such(),
        engine.dictionary.in_use(),
        short_of_memory("there is no answer", "ask for less at a time"),
    ):
        context = engine.context(state.aggregates)
        context.keep, context.prepared, context.dictionary = (
            False,
            {},
            PassingNames(engine.dictionary),
        )
        database = state.database.replace(
            {name: RelationVersion.empty(each, engine.arena) for name, each in fresh.items()}
        )
        with attending(context.plan_on):
            database = refresh(
                program, database, database, {}, {}, context, changed_rules=frozenset(fresh)
            ).database
        rows = database[schema.name]
        return Result(
            schema.columns,
            rows.columns,
            rows.count,
            engine.dictionary.texts(),
            version=state.version,
            name="answers",
        )


@with_named_options
class Snapshot(Uncopied):
    """One version of a workspace. Any number of threads may read it while others commit; it never
    changes and needs no closing.

    The memory of the rows that only this version holds is reused once the snapshot and all results
    read from it are gone.
    """

    kind, instead = "snapshot", "hand on what it shows, snapshot[name], or snapshot[name].arrow()"

    def __init__(self, engine: Engine, state: State):
        """For the workspace: use `ws.snapshot()`."""
        self._engine = engine
        self._state = state

    @property
    def version(self) -> int:
        """Number of the commit this snapshot shows; 0 before the first."""
        return self._state.version

    def __getitem__(self, relation: str | Predicate) -> Result:
        """All rows of a relation, base and derived. O(1) until the result is read. Raises
        UnknownNameError.
        """
        return self._engine.result(self._state, self._state.schema(relation))

    def __contains__(self, relation: object) -> bool:
        name = relation.name if isinstance(relation, Predicate) else relation
        return name in self._state.program.catalog.relations

    __iter__ = None
    """What can be indexed must not look like a sequence; `relations` lists the names."""

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.relations)

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return {
            name: Relation(schema) for name, schema in self._state.program.catalog.relations.items()
        }

    @cached_property
    def rules(self) -> list[RuleHandle]:
        """The rules in the order they were added."""
        program = self._state.program
        return [RuleHandle(source, program.rule(source)) for source in program.sources]

    def query(self, question: object) -> Result:
        """The answers to an atom or a body, as text or expression; see `Workspace.query`."""
        return answer(self._engine, self._state, question)

    def verify(self) -> list[Discrepancy]:
        """Recompute every view from the base rows and compare; see `Workspace.verify`."""
        return discrepancies(self._engine, self._state)

    def __repr__(self) -> str:
        return f"<Snapshot of version {self.version}, {len(self.relations)} relations>"
