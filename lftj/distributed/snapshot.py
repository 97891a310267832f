"""Reading over parts: one committed version."""

from __future__ import annotations

from lftj.distributed.draft import RelationOrName
from lftj.distributed.present import Present
from lftj.distributed.result import DistributedResult, relation_rows
from lftj.state import name_of


class DistributedSnapshot:
    """One version of a distributed workspace; it never changes."""

    def __init__(self, present: Present):
        """For the workspace."""
        self._present = present

    @property
    def version(self) -> int:
        """Number of the commit that it shows."""
        return self._present.manifest.version

    def __getitem__(self, relation: RelationOrName) -> DistributedResult:
        """All rows of a relation, base and derived."""
        present = self._present
        schema = present.plan.program.catalog.relation(name_of(relation))
        return relation_rows(present.executor, present.manifest, present.plan, schema)
