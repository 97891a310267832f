"""What a commit over all parts changed, as everybody sees it who asks: the transaction, and
subscribers.
"""

from __future__ import annotations

from dataclasses import dataclass

from lftj.distributed.committed_version import Present
from lftj.distributed.parts.outcome import Outcome
from lftj.distributed.result import change_rows, relation_rows, replaced_rows
from lftj.engine.result import Result
from lftj.program.normal_form import RelationSchema


@dataclass(frozen=True)
class Changes:
    """Those of one commit on a version."""

    before: Present
    outcome: Outcome

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
            old = relation_rows(executor, self.before.manifest, self.before.plan, schema)
            new = relation_rows(executor, outcome.manifest, outcome.plan, schema)
            return replaced_rows(old, new, schema)
        found = outcome.changes.get(name, [])
        return change_rows(
            executor, schema, outcome.plan.homes[name], found, outcome.manifest.version
        )

    def _moved(self, name: str) -> bool:
        """Whether a relation has or had rules, so that after a change of rules only comparing tells
        what changed.
        """
        return self.outcome.plan.derived(name) or self.before.plan.derived(name)
