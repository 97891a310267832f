# SPDX-License-Identifier: Apache-2.0
"""A branch as a workspace."""

from __future__ import annotations

from lftj.api.in_process import InProcess
from lftj.api.workspace import Workspace
from lftj.engine.branches.branches import branches_of
from lftj.engine.calls.options import with_named_options
from lftj.errors import BranchError, LftjError


@with_named_options
class Branch(Workspace):
    """A workspace of its own, which `ws.branch(name)` begins: no other branch sees its commits and
    rules. Closing it ends the use of this object only; `drop` ends the branch.
    """

    kind = "branch"

    def __init__(self, backend: InProcess):
        """For the workspace."""
        super().__init__(backend)
        self.name = backend.name
        """Name of the branch; `main` for the one that every workspace has."""

    @property
    def _backend(self) -> InProcess:
        backend: InProcess = super()._backend  # type: ignore[assignment]
        branches = branches_of(backend)
        if branches.closed:
            self.close()
            return super()._backend  # type: ignore[return-value]
        branches.require(backend)
        return backend

    def drop(self) -> None:
        """End the branch: its name is free, what only it holds is given back, and branches that
        began from it go on. Raises BranchError (E380) for main and where it was dropped before,
        TransactionError (E322) inside a transaction, DurableError.
        """
        backend = self._backend
        with backend.writer.held():
            branches_of(backend).drop(backend)

    def close(self) -> None:
        """End the use of this object. The branch, and the workspace, stay open."""
        if self._live is not None and self._live.writer.mine:
            raise LftjError(
                "a transaction is open", code="E342", hint="commit or roll it back, then close"
            )
        self._live = None

    def __repr__(self) -> str:
        try:
            return super().__repr__().replace("<Workspace", f"<Branch {self.name}", 1)
        except BranchError:
            return f"<Branch {self.name}, dropped>"
