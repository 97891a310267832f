# SPDX-License-Identifier: Apache-2.0
"""Files and other branches, which an engine may have beside it, as whoever knows the engine sees
them. The rooms `durable` and `branches` have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from lftj.engine.commit.commit import Outcome
from lftj.engine.delivery.consumers import Position
from lftj.engine.versions.ancestry import Ancestry
from lftj.engine.versions.past import Entry
from lftj.engine.versions.state import State
from lftj.program.schema import Catalog
from lftj.scantree.watched_files import Watch
from lftj.storage.delta import Delta

E = TypeVar("E")
"""The class of engines."""


class OtherBranches(Protocol[E]):
    """All branches of a workspace that has some. `engines` by name, main first."""

    engines: dict[str, E]
    ancestry: Ancestry
    closed: bool
    """True once the workspace is closed."""

    def engine(self, name: str) -> E:
        """The engine of a branch. Raises BranchError (E380)."""
        ...

    def leave(self, engine: E, /) -> None:
        """Forget a branch that has ended in the files, or was only in memory."""
        ...


class WaitingCommits(Protocol):
    """Commits of several threads, which wait for the log; False where there are none."""

    def __bool__(self) -> bool: ...

    def state(self, branch: int, published: State) -> State:
        """The state that the next commit of a branch begins with."""
        ...

    def flush(self) -> None:
        """Write and show all that waits."""
        ...

    def require_sound(self, sound: bool) -> None:
        """Raise DurableError (E354) where a commit that another one builds on was not written."""
        ...


class PastInFiles(Protocol):
    """Past versions of one branch, as its files have them."""

    def oldest(self) -> int:
        """The oldest version that is kept."""
        ...

    def state(self, version: int) -> State | None:
        """A version; None where it is not kept. Raises DurableError (E353)."""
        ...

    def entries(self) -> list[Entry]:
        """The records of the commits that are kept, and made a version."""
        ...

    def logged(self, version: int, catalog: Catalog) -> Iterator[tuple[int, dict[str, Delta]]]:
        """The changes of base rows by the commits that led to a version, the last first."""
        ...

    def acknowledge(self, name: str, position: Position | None) -> None:
        """Have a consumer go on from there, or end. Raises DurableError."""
        ...


class Files(Protocol[E]):
    """The files of one workspace and its branches. The writer lock is held for all that writes."""

    path: Path
    write: bool
    """False where the workspace was opened to read."""

    @property
    def group(self) -> WaitingCommits:
        """Commits that wait for the log."""
        ...

    def past_of(self, engine: E, /) -> PastInFiles:
        """The past of a branch."""
        ...

    # ── committing ────────────────────────────────────────────────────────────────────────────────
    def require_writable(self) -> None:
        """Raise DurableError (E356) where the workspace was opened to read."""
        ...

    def caught_up(self, engine: E, /) -> State:
        """The state that the log has of a branch."""
        ...

    def append(
        self,
        engine: E,
        outcome: Outcome,
        entry: Entry,
        positions: Mapping[str, Position],
        merged: E | None = None,
        ancestry: Ancestry | None = None,
        /,
    ) -> None:
        """Make a commit durable before anyone sees it. Raises DurableError."""
        ...

    def enter(
        self,
        engine: E,
        before: State,
        outcome: Outcome,
        entry: Entry,
        positions: Mapping[str, Position],
        publish: Callable[[], object],
        /,
    ) -> Callable[[], None] | None:
        """Have a commit wait to be logged and published with others; a call that waits for it, or
        None for one that is to be appended. Raises DurableError.
        """
        ...

    def begin_branch(self, name: str, parent: E, ancestry: Ancestry) -> int:
        """Make the beginning of a branch durable; the number that it has. Raises DurableError."""
        ...

    def drop_branch(self, engine: E, ancestry: Ancestry) -> None:
        """Make the end of a branch durable. Raises DurableError."""
        ...

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def refresh(self) -> list[tuple[E, Outcome]]:
        """Go on to the last commit of whoever writes; what has changed. Raises DurableError."""
        ...

    def last_version(self, engine: E, /) -> int:
        """The version of the last commit of a branch in the log."""
        ...

    def require_whole(self, watch: Watch | None = None) -> None:
        """Raise DurableError (E353) where mapped pages that were looked at are not what was
        written.
        """
        ...

    # ── care ──────────────────────────────────────────────────────────────────────────────────────
    def compact(self) -> int:
        """Write all pages into one file; how many files were removed. Raises DurableError."""
        ...

    def backup(self, target: Path) -> None:
        """Write a copy to another folder, while commits go on. Raises DurableError."""
        ...

    def close(self) -> None:
        """Write what is left, and let others write. Harmless when repeated."""
        ...
