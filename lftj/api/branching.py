# SPDX-License-Identifier: Apache-2.0
"""Branches of a workspace, from any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from lftj.api.backend import Backend
from lftj.api.transaction import Transaction
from lftj.engine.branches.branches import difference
from lftj.engine.branches.merging import merge as merge_changes
from lftj.engine.calls.options import with_named_options
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.versions.ancestry import MAIN
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import name_of
from lftj.errors import BranchError
from lftj.scantree.process.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.api.branch import Branch
    from lftj.api.in_process import InProcess
    from lftj.engine.branches.branches import Branches
    from lftj.engine.live.engine import Engine
    from lftj.engine.transaction.draft import Draft


@with_named_options
class Branching(ABC):
    """Access to branches. Not over parts: DistributedError (E400)."""

    @property
    @abstractmethod
    def _backend(self) -> Backend:
        """The open backend. Raises LftjError (E341) where it is closed."""

    @interrupts_as_such()
    def branch(self, name: str) -> Branch:
        """The branch of this name, or a new one, which begins with the last version of this one: a
        workspace with commits, rules, readers and a past of its own.

        O(1): pages are shared until commits change them. At a path it lasts; there is one writer
        at a time over all branches. Raises DeclarationError (E160) for what is no name,
        TransactionError (E322) for a new one inside a transaction, DurableError.
        """
        from lftj.api.branch import Branch  # which is a workspace

        backend: Any = self._backend
        branches = backend.branching("branch")
        if not isinstance(name, str) or name not in branches.engines:
            with backend.writer.held():
                if not isinstance(name, str) or name not in branches.engines:
                    branches.begin(name, backend)
        engine = cast("InProcess", branches.engine(name))
        return Branch(engine)

    @property
    def branches(self) -> Mapping[str, Branch]:
        """All branches: `main`, then the others in the order of their names."""
        from lftj.api.branch import Branch  # as in `branch`

        engines = self._backend.branching("branches").engines
        names = sorted(engines, key=lambda name: (name != MAIN, name))
        return {name: Branch(cast("InProcess", engines[name])) for name in names}

    def diff(self, before: str | Branch, after: str | Branch, relation: RelationOrName) -> Result:
        """The change of a relation from one branch to another: the rows that only `after` has, with
        `__diff__` 1, and the rows that only `before` has, with −1; where the two have altered it,
        in the columns that a merge would give it.

        O(change), where the two share pages. Raises BranchError (E380) where both have altered the
        same, UnknownNameError.
        """
        branches = self._backend.branching("diff")
        name = name_of(relation)
        return difference(_engine(branches, before), _engine(branches, after), name)

    @interrupts_as_such()
    def merge(self, branch: str | Branch, *, message: str | None = None) -> int:
        """Make the changes of another branch here too, in one commit, and return the version:
        rows of its own that it has inserted and deleted since the last version that is part of
        both, its declarations and its rules. Views follow. The other one stays as it is.

        Raises MergeConflictError (E381) where a row, or two rows of one key, changed in both since;
        it lists them, and nothing has happened. Raises BranchError (E380), and what commits raise.
        `message`: for `log`. Costs what such a commit costs.
        """
        backend = self._backend
        branches = backend.branching("merge")
        source = _engine(branches, branch)
        note = f"merge {source.name}" if message is None else message
        with Transaction(backend, note) as tx:
            merge_changes(cast("Draft", tx._open()), source)
        return tx.version


def _engine(branches: Branches, branch: object) -> Engine:
    """The engine of a branch that is given by name, or as a workspace. Raises BranchError (E380)
    for anything else.
    """
    if isinstance(branch, str):
        return branches.engine(branch)
    engine: Any = getattr(branch, "_backend", None)
    if engine is None or getattr(engine, "branches", None) is not branches:
        raise BranchError(
            f"expected a branch of this workspace or its name, found {branch!r}",
            hint='write ws.merge("what-if")',
        )
    return engine
