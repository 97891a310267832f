# SPDX-License-Identifier: Apache-2.0
"""Backends: everything that the classes of users ask of the place where the data lies.

`Workspace`, `Transaction`, `Snapshot`, `Result` and `Subscription` exist once. A backend keeps
committed versions, gathers the operations of a transaction, and commits them: the engine of this
process, in memory or at a path (`api/in_process.py`), or parts on an executor
(`distributed/backend.py`). Neither knows the classes above it. What a backend cannot do, it refuses
by the list in `engine/calls/refusals.py`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from lftj.engine.branches.branches import Branches
from lftj.engine.calls.limits import LimitStack
from lftj.engine.calls.refusals import Kind
from lftj.engine.delivery.consumers import Position
from lftj.engine.live.timeline import Timeline
from lftj.engine.live.verify import Discrepancy
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.programs.program_change import ProgramChange
from lftj.engine.questions.question import Question
from lftj.engine.transaction.bulk import Synced
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.transaction.requests import Request
from lftj.engine.transaction.transaction_life import Committed, Pending, Writable
from lftj.engine.versions.result import Result
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.syntax import tree
from lftj.syntax.user_function import UserFunction

if TYPE_CHECKING:
    from lftj.explain.figures.profile import Profile
    from lftj.explain.figures.views import Overview
    from lftj.explain.plans.analysis import PlanAnalysis
    from lftj.explain.plans.plan_report import PlanReport
    from lftj.proofs.change import ChangeExplanation
    from lftj.proofs.missing import WhyNot
    from lftj.proofs.proof import Proof

Options = dict[str, Any]
"""Options of reading data; see `frames.read_options`."""


class Version(Protocol):
    """One committed version. It never changes; what it reads stays there as long as it is held."""

    @property
    def number(self) -> int:
        """Number of the commit that made it; 0 before the first."""
        ...

    @property
    def program(self) -> Program:
        """Relations and rules, numbered as the handles of this process are."""
        ...

    @property
    def views(self) -> frozenset[str]:
        """The relations declared by `ws.view`, which take no rows of their own."""
        ...

    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation, base and derived."""
        ...

    def rows_as_change(self, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing."""
        ...

    def sample(self, schema: RelationSchema, rows: int) -> list[tuple[Any, ...]]:
        """About so many rows of a relation, from all of it."""
        ...

    def query(self, question: object, values: Sequence[object]) -> Result:
        """Answers to a question, with values for its parameters; see `Workspace.query`."""
        ...

    def check(self, question: Question) -> None:
        """Check a question without answering it; see `Workspace.prepare_query`."""
        ...

    def plan(self, rule: RuleHandle | None, passes: bool) -> PlanReport:
        """Plans of one rule, or of all; see `Workspace.plan`."""
        ...

    def explain_plan(self, what: object, analyze: bool) -> PlanAnalysis:
        """Plans with the cost of their levels; see `Workspace.explain_plan`."""
        ...

    def overview(self) -> Overview:
        """Relations with their rows; see `Workspace.to_dict`."""
        ...

    def explain(
        self, what: object, row: object, rows: int, proofs: int | None
    ) -> Proof | Iterator[Proof]:
        """The smallest proof of a row, or so many proofs; see `Workspace.explain`."""
        ...

    def why_not(self, what: object, row: object, rows: int, changes: int) -> WhyNot:
        """The reason why a row is not there; see `Workspace.why_not`."""
        ...

    def verify(self) -> list[Discrepancy]:
        """Views that are not what the rules derive; see `Workspace.verify`."""
        ...


class VersionsInOrder(Timeline, ABC):
    """Versions of an engine of this process; see `Timeline`."""

    @abstractmethod
    def version(self, number: int) -> Version:
        """A version to read. Raises PastError (E371)."""


class Draft(Pending, Protocol):
    """Operations of an open transaction; see the methods of `Transaction`. Errors leave it as it
    was.
    """

    @property
    def program(self) -> Program:
        """The program as it would be."""
        ...

    def insert(
        self, relation: RelationOrName, data: object, strict: bool, options: Options
    ) -> None:
        """Insert rows. `strict`: a row that is there already is an error."""
        ...

    def delete(
        self, relation: RelationOrName, data: object, strict: bool, options: Options
    ) -> None:
        """Delete rows. `strict`: a row that is not there is an error."""
        ...

    def upsert(self, relation: RelationOrName, data: object, options: Options) -> None:
        """Insert rows in place of the rows with the same keys."""
        ...

    def delete_where(self, relation: RelationOrName, values: dict[str, object]) -> int:
        """Delete the rows with these values; returns how many."""
        ...

    def declare(self, schema: RelationSchema, *, view: bool) -> None:
        """Declare a relation."""
        ...

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Let rules use an aggregate of the user's."""
        ...

    def add_function(self, function: UserFunction) -> None:
        """Let rules call a function of the user's."""
        ...

    def add_rules(
        self,
        text: str | tree.ParsedProgram,
        file: str | None,
        facts: str | os.PathLike[str] | None,
        allow_paths: bool,
    ) -> list[RuleHandle]:
        """Add a program."""
        ...

    def set_program(
        self,
        name: str,
        text: str,
        file: str | None,
        facts: str | os.PathLike[str] | None,
        allow_paths: bool,
        drop: bool,
        alter: bool,
    ) -> ProgramChange:
        """Have a text be the program of a name."""
        ...

    def delete_keys(
        self, relation: RelationOrName, keys: object, strict: bool, options: Options
    ) -> None:
        """Delete the rows with these values in some columns."""
        ...

    def apply_changes(
        self,
        relation: RelationOrName,
        changes: object,
        feed: str | None,
        position: int | str | None,
    ) -> int:
        """Apply changes that were captured elsewhere."""
        ...

    def sync(
        self,
        relation: RelationOrName,
        data: object,
        by: str | Sequence[str] | None,
        where: dict[str, object],
        options: Options,
    ) -> Synced:
        """Make a relation equal to a table."""
        ...

    def alter(self, relation: RelationOrName, request: Request) -> RelationSchema:
        """Change the schema of a relation."""
        ...

    def drop_relation(self, relation: RelationOrName) -> None:
        """Drop a relation."""
        ...

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact."""
        ...

    def acknowledge(self, consumer: str, position: Position) -> None:
        """Have a consumer go on from here with the commit."""
        ...

    def remove_rules(self, handles: list[RuleHandle]) -> None:
        """Remove rules, and the facts of handles of facts."""
        ...


class Backend(Writable[Any], Protocol):
    """Committed versions and the way to the next one. `limits` hold for the thread that set them.

    `where` is shown by `repr`, `reopened_by` and `instead_of_copies` are hints of errors.
    """

    limits: LimitStack
    instead_of_copies: str

    @property
    def kind(self) -> Kind:
        """Kind of the place, by which its refusals are found."""
        ...

    @property
    def reopened_by(self) -> str:
        """Call that opens another such workspace."""
        ...

    @property
    def where(self) -> str:
        """Place of the data in words; empty for this process."""
        ...

    @property
    def title(self) -> str:
        """The same for a page that is handed on: of a path its name, and no folder above."""
        ...

    def current(self) -> Version:
        """The committed version of this moment. O(1)."""
        ...

    def bind(self, function: UserFunction) -> bool:
        """Use a function that the program knows already; False where it does not."""
        ...

    def explain_change(
        self, draft: Any, committed: Any, what: object, row: object, rows: int
    ) -> ChangeExplanation:
        """The reason why a row came or went by a commit, or would by a draft that is open; see
        `Transaction.explain_change`.
        """
        ...

    def preview(self, draft: Any) -> Committed:
        """Changes that a draft would make; see `Transaction.preview`."""
        ...

    def timeline(self, capability: str) -> VersionsInOrder:
        """Access to the past, for what the caller is about to do."""
        ...

    def branching(self, capability: str) -> Branches:
        """Access to branches, for what the caller is about to do."""
        ...

    def memory(self) -> Result:
        """Rows and bytes; see `Workspace.memory`."""
        ...

    def profile(self, last: int | None) -> Profile:
        """Costs of the last commits; see `Workspace.profile`."""
        ...

    def feed(
        self, relation: RelationOrName, stream: str, sign: str | None, options: Options
    ) -> Callable[[Any, int], None]:
        """The function for `foreachBatch`; see `Workspace.feed`."""
        ...

    def compact(self) -> int:
        """Merge and remove files; see `Workspace.compact`."""
        ...

    def prepare(self) -> None:
        """Make ready what first changes need; see `Workspace.prepare`. With the lock held."""
        ...

    def rebalance(self) -> bool:
        """Divide rows anew where they outweigh a part; see `Workspace.rebalance`."""
        ...

    def repartition(self, parts: int) -> bool:
        """Cut rows for another number of parts; see `Workspace.repartition`. With the lock held."""
        ...

    def refresh(self) -> None:
        """Go on to the last commit of whoever writes; see `Workspace.refresh`."""
        ...

    def wait_for(self, version: int, timeout: float | None) -> bool:
        """Wait for a version; see `Workspace.wait_for`."""
        ...

    def save_as(self, path: str | os.PathLike[str], durability: str) -> None:
        """Go on in files. With the writer lock held; see `Workspace.save_as`."""
        ...

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the files; see `Workspace.backup`."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
