"""Reading over parts: one committed version."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.distributed.bounds import Bounds
from lftj.distributed.draft import RelationOrName
from lftj.distributed.query import answer
from lftj.distributed.result import DistributedResult, relation_rows
from lftj.distributed.store import Store
from lftj.distributed.verify import discrepancies
from lftj.engine.handles import Relation, RuleHandle
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.engine.state import name_of
from lftj.engine.uncopied import Uncopied
from lftj.engine.verify import Discrepancy
from lftj.syntax.builder import Predicate
from scantree.interrupts import interrupts_as_such


@with_named_options
class DistributedSnapshot(Uncopied):
    """One version of a distributed workspace; it never changes, and its files stay as long as it is
    held and the workspace is open.
    """

    kind, instead = "snapshot", "hand on what it shows, snapshot[name], or snapshot[name].arrow()"

    def __init__(self, store: Store):
        """For the workspace."""
        self._store, self._present, self._program = store, store.present, store.program
        store.held.hold(self, self._present.manifest.files)

    @property
    def version(self) -> int:
        """Number of the commit that it shows."""
        return self._present.manifest.version

    def __getitem__(self, relation: RelationOrName) -> DistributedResult:
        """All rows of a relation, base and derived."""
        present = self._present
        schema = present.plan.program.catalog.relation(name_of(relation))
        return relation_rows(present.executor, present.manifest, present.plan, schema).held_by(
            self._store.held
        )

    @interrupts_as_such()
    def query(self, question: object) -> Result:
        """The answers to an atom or a body; see `DistributedWorkspace.query`.

        Of a version that is not the last one, what the question reads is read from files by the
        parts.
        """
        last = self._store.present
        held = self._present.manifest.token == last.manifest.token
        present = last if held else self._present
        with self._store.described("query"):
            found = answer(present, question, Bounds(self._store.limits.current), held=held)
        return found.held_by(self._store.held) if isinstance(found, DistributedResult) else found

    def __contains__(self, relation: object) -> bool:
        name = relation.name if isinstance(relation, Predicate) else relation
        return name in self._present.plan.program.catalog.relations

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return {
            name: Relation(schema)
            for name, schema in self._present.plan.program.catalog.relations.items()
        }

    @property
    def rules(self) -> list[RuleHandle]:
        """The rules in the order they were added."""
        return [RuleHandle(source, self._program.rule(source)) for source in self._program.sources]

    @interrupts_as_such()
    def verify(self) -> list[Discrepancy]:
        """Derive every view anew from the base rows and compare; see `DistributedWorkspace.verify`.
        Nobody compacts meanwhile.

        Raises DistributedError (E403) for a version of which files are gone.
        """
        with self._store.writer.held(), self._store.described("verification"):
            return discrepancies(self._present.executor, self._present.manifest, self._present.plan)

    def __repr__(self) -> str:
        return f"<DistributedSnapshot of version {self.version}, {len(self.relations)} relations>"
