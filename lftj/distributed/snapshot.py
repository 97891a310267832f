"""Reading over parts: one committed version."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.distributed.bounds import Bounds
from lftj.distributed.draft import RelationOrName
from lftj.distributed.query import answer
from lftj.distributed.result import DistributedResult, relation_rows
from lftj.distributed.store import Store
from lftj.handles import Relation
from lftj.result import Result
from lftj.state import name_of
from lftj.syntax.builder import Predicate


class DistributedSnapshot:
    """One version of a distributed workspace; it never changes."""

    def __init__(self, store: Store):
        """For the workspace."""
        self._store, self._present = store, store.present

    @property
    def version(self) -> int:
        """Number of the commit that it shows."""
        return self._present.manifest.version

    def __getitem__(self, relation: RelationOrName) -> DistributedResult:
        """All rows of a relation, base and derived."""
        present = self._present
        schema = present.plan.program.catalog.relation(name_of(relation))
        return relation_rows(present.executor, present.manifest, present.plan, schema)

    def query(self, question: object) -> Result:
        """The answers to an atom or a body; see `DistributedWorkspace.query`.

        Of a version that is not the last one, what the question reads is read from files by the parts.
        """
        last = self._store.present
        held = self._present.manifest.token == last.manifest.token
        present = last if held else self._present
        return answer(present, question, Bounds(self._store.limits.current), held=held)

    def __contains__(self, relation: object) -> bool:
        name = relation.name if isinstance(relation, Predicate) else relation
        return name in self._present.plan.program.catalog.relations

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return {name: Relation(schema) for name, schema in self._present.plan.program.catalog.relations.items()}
