"""Reading: one committed version, held for as long as the reader likes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.handles import Relation, RuleHandle
from lftj.options import with_named_options
from lftj.query import answer
from lftj.result import Result
from lftj.state import State
from lftj.syntax.builder import Predicate
from lftj.uncopied import Uncopied
from lftj.verify import Discrepancy, discrepancies

if TYPE_CHECKING:
    from lftj.engine import Engine


@with_named_options
class Snapshot(Uncopied):
    """One version of a workspace. Any number of threads may read it while others commit; it never changes and needs no closing.

    The memory of the rows that only this version holds is reused once the snapshot and all results read from it are gone.
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
        """All rows of a relation, base and derived. O(1) until the result is read. Raises UnknownNameError."""
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
        return {name: Relation(schema) for name, schema in self._state.program.catalog.relations.items()}

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
