# SPDX-License-Identifier: Apache-2.0
"""The engine of this process as a backend, in memory or with files at a path."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from operator import call
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.api.engine_versions import CommitChanges, EngineVersion, EngineVersions
from lftj.engine.branches.branches import Branches, branches_of
from lftj.engine.calls.limits import short_of_memory
from lftj.engine.calls.refusals import Kind, refused
from lftj.engine.commit.commit import Outcome
from lftj.engine.live.engine import Engine
from lftj.engine.transaction.draft import Draft
from lftj.engine.transaction.preparing import prepared
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.versions.ancestry import MAIN, Ancestry
from lftj.engine.versions.past import Entry
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import State
from lftj.program.schema import bound_as
from lftj.scantree.process.interrupts import interrupts_as_such, interrupts_wait
from lftj.syntax.user_function import UserFunction

if TYPE_CHECKING:
    from lftj.explain.figures.profile import Profile
    from lftj.proofs.change import ChangeExplanation


class InProcess(Engine):
    """An engine whose versions are read and committed through the classes of users."""

    instead_of_copies = "hand on what it holds, ws[name].arrow()"

    @property
    def kind(self) -> Kind:
        """Memory, or files."""
        return Kind.MEMORY if self.durable is None else Kind.PATH

    @property
    def where(self) -> str:
        """The path, if there is one."""
        return self._where(os.fspath)

    @property
    def title(self) -> str:
        """The same, of the path its name only."""
        return self._where(os.path.basename)

    def _where(self, shown: Callable[[Path], str]) -> str:
        branch = [] if self.name == MAIN else [f"branch {self.name}"]
        if self.durable is not None:
            place = shown(self.durable.path)
            branch.append(f"at {place}{'' if self.durable.write else ', to read'}")
        return ", ".join(branch)

    @property
    def reopened_by(self) -> str:
        """Call that opens another one."""
        path = "" if self.durable is None else repr(str(self.durable.path))
        branch = "" if self.name == MAIN else f".branch({self.name!r})"
        return f"lftj.connect({path}){branch}"

    @property
    def version(self) -> int:
        """Number of the committed version."""
        return (self.shown or self).state.version

    def current(self) -> EngineVersion:
        """The committed version of this moment."""
        engine = self.shown or self
        return EngineVersion(engine, engine.state)

    def bind(self, function: UserFunction) -> bool:
        """Use a function that the program knows already, by the same code; False where it does
        not.
        """
        known = self.state.program.catalog.functions.get(function.name)
        if known is None or not bound_as(function, known):
            return False
        self.functions[known.name, known.version] = function
        return True

    def draft(self) -> Draft:
        """An empty draft on the committed version."""
        if self.durable is not None:
            self.durable.require_writable()
            if not self.durable.group:
                self.state = self.durable.caught_up(self)
        return Draft(self)

    def commit(self, draft: Draft) -> None:
        """Make a draft the committed version, and queue its change sets for subscribers."""
        outcome = self._outcome(draft)
        with short_of_memory("the transaction was rolled back", "commit less at a time"):
            news, changes = self.news(outcome), self._changes(outcome)
        state = outcome.state
        entry = self.entry(outcome, draft.message, time.perf_counter() - draft.begun)
        hold, held = self.past.waiting.extend, self._held(state, entry)
        tell = partial(self.subscriptions.waiting.extend, news)
        ancestry = None if draft.merged is None else self._ancestry(draft, state)
        adopt = [] if ancestry is None else [partial(setattr, self.branches, "ancestry", ancestry)]
        acknowledge = partial(self.positions.update, draft.positions)
        if outcome.was is not state.program.catalog:
            adopt.append(partial(self.subscriptions.follow, outcome.alterations))
        rest = map(call, (tell, acknowledge, *adopt))

        def publish() -> None:
            hold(held)  # the next commit takes its place where an interrupt comes
            # Python handles no interrupt from here until `list` has returned, as all that it calls
            # is C's: all of this happens, or nothing.
            self.state, draft.committed = state, changes
            list(rest)

        def finish() -> None:
            self.published.notify()
            self.pin()
            self.past.enter()
            self.history.append((state.version, (*draft.compilations(), *outcome.works)))
            if entry.works:
                self.spent.add(entry.works)
            self.forget_strings()

        if not self._together(draft, outcome, entry, lambda: (publish(), finish())):
            if (durable := self.durable) is None:
                publish()
            else:
                with interrupts_wait():
                    durable.append(self, outcome, entry, draft.positions, draft.merged, ancestry)
                    publish()
            finish()

    def _together(
        self, draft: Draft, outcome: Outcome, entry: Entry, publish: Callable[[], object]
    ) -> bool:
        """Commit together with threads that wait to, without the writer lock, where there are
        some. Raises DurableError; then it has not happened.
        """
        if (durable := self.durable) is None:
            return False
        alone = draft.merged is not None or (
            outcome.was is not outcome.state.program.catalog and outcome.alterations
        )
        if not alone and (self.writer.waiting or durable.group):
            with interrupts_wait():
                wait = durable.enter(self, draft.before, outcome, entry, draft.positions, publish)
                if wait is not None:
                    draft.unlocked = True
                    self.writer.release()
                    wait()
                    return True
        durable.group.flush()
        durable.group.require_sound(draft.before is self.state)
        return False

    def _ancestry(self, draft: Draft, after: State) -> Ancestry | None:
        """The ancestry of branches after a merge; None where it stays."""
        if (source := draft.merged) is None or self.branches is None:
            return None
        if after.version == draft.before.version and after.program is draft.before.program:
            return None  # nothing was merged, and nothing is written
        return self.branches.ancestry.merged(self.name, source.name, source.state)

    def _outcome(self, draft: Draft) -> Outcome:
        """The outcome of a draft, computed once as long as nothing is added to the draft."""
        if draft.outcome is None:
            draft.outcome = self.carry_out(draft.proposal())
        return draft.outcome

    def _held(self, state: State, entry: Entry) -> list[tuple[State, Entry | None, int]]:
        """The next version for `past`, with about the bytes that this one costs in addition: pages
        that the next one does not share. If only rules have changed it is this one, with the new
        rules.
        """
        before, self.pages = self.pages, self.arena.bytes_in_use
        cost = min(before, max(0, self.pages - before))
        return [(state, entry if state.version > self.tip.version else None, cost)]

    def _changes(self, outcome: Outcome) -> CommitChanges:
        return CommitChanges(
            self,
            self.tip,
            outcome.state,
            outcome.state.program.catalog,
            self.dictionary.texts(),
            outcome.state.version,
            outcome.work,
            outcome.changes,
            outcome.base_changes,
        )

    def timeline(self, capability: str) -> EngineVersions:
        """Access to the past: all of it works here."""
        return EngineVersions(self)

    def branching(self, capability: str) -> Branches:
        """Access to branches: all of it works here."""
        return branches_of(self)

    def preview(self, draft: Draft) -> CommitChanges:
        """The changes that a draft would make. Its commit then computes nothing again."""
        return self._changes(self._outcome(draft))

    def explain_change(
        self, draft: Draft | None, committed: Any, what: object, row: object, rows: int
    ) -> ChangeExplanation:
        """Proofs from the versions before and after a commit, or after a dry run of a draft."""
        from lftj.explain.changes.why_changed import after_proposal, explain_change  # as `why_not`

        if draft is None:
            return explain_change(self, committed.before, committed.after, what, row, rows)
        with interrupts_as_such(), self.dictionary.in_use():
            after = after_proposal(self, draft.before, draft.proposal())
            return explain_change(self, draft.before, after, what, row, rows)

    def memory(self) -> Result:
        """Rows and bytes of the committed version."""
        from lftj.explain.figures.memory import memory_report  # as above

        engine = self.shown or self
        return memory_report(engine, engine.state)

    def profile(self, last: int | None) -> Profile:
        """One row per commit and rule that had work."""
        from lftj.explain.figures.profile import profile_report  # as above

        return profile_report(self, last)

    def feed(
        self, relation: RelationOrName, stream: str, sign: str | None, options: dict[str, Any]
    ) -> Callable[[Any, int], None]:
        """Refuse: only workspaces over parts note micro-batches."""
        raise refused("feed", self.kind)

    def save_as(self, path: str | os.PathLike[str], durability: str) -> None:
        """Go on in files."""
        if self.durable is not None:
            raise refused("save_as", self.kind, self.durable.path)
        from lftj.engine.durable.opening import save  # SQLite is imported where there are files

        save(self, path, durability)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the files."""
        if self.durable is None:
            raise refused("backup", self.kind)
        self.durable.backup(Path(path))

    def compact(self) -> int:
        """Write all pages into one file, where there are files."""
        if self.durable is None:
            return 0
        self.durable.require_writable()
        return self.durable.compact()

    def prepare(self) -> None:
        """Have the first change of each relation find what it needs; see `Workspace.prepare`."""
        if self.durable is not None:
            self.durable.require_writable()
            self.durable.group.flush()
            self.state = self.durable.caught_up(self)
        self.state = prepared(self, self.state)

    def rebalance(self) -> bool:
        """Change nothing: there are no parts."""
        return False

    def repartition(self, parts: int) -> bool:
        """Change nothing: there are no parts."""
        return False

    def close(self) -> None:
        """Let others write to the path; memory goes with the last who refers to it."""
        for engine in self.family():
            engine.published.end()
        if self.branches is not None:
            self.branches.closed = True
        if self.durable is not None:
            self.durable.close()
