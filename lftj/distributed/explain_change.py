# SPDX-License-Identifier: Apache-2.0
"""Explaining why a row came or went by a commit of parts, on copies of two versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lftj.distributed.copies import Copies, engine_for
from lftj.engine.commit import Proposal, Staging, carry_out
from lftj.engine.versions import State
from lftj.explain.changes import changed_row, explain_change
from lftj.explain.missing import writing
from lftj.explain.present import relations_below
from lftj.proofs import ChangeExplanation
from lftj.storage import RelationVersion

if TYPE_CHECKING:
    from lftj.distributed.committed_version import Present
    from lftj.distributed.draft import PartsDraft
    from lftj.distributed.store import Store


class Compared(NamedTuple):
    """Copies of a version, and of the one after a commit or the draft that would make it."""

    before: Copies
    after: Copies | PartsDraft

    @staticmethod
    def by_commit(store: Store, before: Present, after: Present) -> Compared:
        """The versions of a commit; nothing is read yet."""
        copies = _copies(store, before)
        return Compared(copies, Copies.of(after, copies.engine, copies))

    @staticmethod
    def by_draft(store: Store, before: Present, draft: PartsDraft) -> Compared:
        """The last version, and a draft on it; nothing is read yet."""
        return Compared(_copies(store, before), draft)

    def explain_change(self, what: object, row: object, rows: int) -> ChangeExplanation:
        """The reason why the row came or went; see `Transaction.explain_change`."""
        before, after = self.before.state, self._program_after()
        relation, values = changed_row(before, after, what, row)
        rules = [each.rule for state in (before, after) for each in state.program.sources.values()]
        names = relations_below(rules, [relation])
        before = self.before.below(names)
        if isinstance(self.after, Copies):
            after = self.after.below(names, self.before)
        else:
            after = _proposed(self.before, self.after, names)
        return explain_change(self.before.engine, before, after, relation, values, rows)

    def _program_after(self) -> State:
        """A state that knows the relations and rules of the version after, if not its rows."""
        if isinstance(self.after, Copies):
            return self.after.state
        return replace(self.before.state, program=self.after.program)


def _copies(store: Store, present: Present) -> Copies:
    """Copies of a version, the ones that were asked last if it is the same."""
    if store.copies is not None and store.copies.shows(present):
        return store.copies
    return Copies.of(present, engine_for(present, store.limits))


def _proposed(copies: Copies, draft: PartsDraft, names: dict[str, None]) -> State:
    """The state that a draft would make of these relations; it is not published."""
    engine, state = copies.engine, copies.state
    staged: dict[str, Staging] = {}
    with engine.dictionary.in_use(), writing(engine):
        for schema, change in draft.changes_of(names.keys(), engine.dictionary):
            known = schema.name in state.database
            base = state.base(schema.name) if known else None
            staging = Staging(base or RelationVersion.empty(schema, engine.arena))
            staging.add("delete", change.erases)
            staging.add("insert", change.inserts)
            staged[schema.name] = staging
        changed = draft.program.revised_since(state.program)
        proposal = Proposal(draft.program, draft.views, {}, changed, staged)
        return carry_out(state, proposal, engine.context({})).state
