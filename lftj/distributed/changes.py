# SPDX-License-Identifier: Apache-2.0
"""Changes of a commit over all parts, for the transaction and for subscribers."""

from __future__ import annotations

from lftj.distributed.committed_version import Present
from lftj.distributed.parts.outcome import Outcome
from lftj.distributed.result import change_rows, relation_rows, replaced_rows
from lftj.engine.versions import Result
from lftj.program import RelationSchema
from lftj.scantree import frozen


@frozen
class CommitChanges:
    """Changes of one commit on a version, and the version that it made."""

    before: Present
    after: Present
    outcome: Outcome

    @property
    def version(self) -> int:
        """Number of the version that it made, or left as it was."""
        return self.outcome.manifest.version

    @property
    def work(self) -> int:
        """Kernel steps that it took, in all parts."""
        return 0 if self.outcome.report is None else self.outcome.report.steps

    def inserted(self, name: str) -> int:
        """Number of rows of its own that a relation won."""
        return self.outcome.inserted.get(name, 0)

    def schema(self, name: str) -> RelationSchema:
        """The schema of a relation after the commit. Raises UnknownNameError."""
        return self.outcome.plan.program.catalog.relation(name)

    def names(self) -> list[str]:
        """The relations that changed. After a change of rules all rows of those with rules are
        compared.
        """
        outcome = self.outcome
        names = set(outcome.changes)
        if outcome.afresh:
            moved = [name for name in outcome.plan.program.catalog.relations if self._moved(name)]
            names = names.difference(moved) | {name for name in moved if len(self.of(name))}
        return sorted(names & outcome.plan.program.catalog.relations.keys())

    def may(self, name: str) -> bool:
        """False where it is certain without looking at rows that a relation is as it was."""
        return name in self.outcome.changes or (self.outcome.afresh and self._moved(name))

    def of(self, name: str) -> Result:
        """The difference of one relation: its rows with `__diff__` and `__version__`."""
        outcome, schema, executor = self.outcome, self.schema(name), self.before.executor
        if (
            name in self.before.plan.program.catalog.relations
            and outcome.afresh
            and self._moved(name)
        ):
            old, new = (relation_rows(version, schema) for version in (self.before, self.after))
            return replaced_rows(old, new, schema)
        found = outcome.changes.get(name, [])
        return change_rows(
            executor, schema, outcome.plan.homes[name], found, outcome.manifest.version
        )

    def _moved(self, name: str) -> bool:
        """Test for a relation that has or had rules. After a change of rules only a comparison
        shows its changes.
        """
        return self.outcome.plan.derived(name) or self.before.plan.derived(name)
