# SPDX-License-Identifier: Apache-2.0
"""Subject of a page: a workspace and its last version, as far as the page looks at them. `lftj.api`
has both, and the page knows nothing else of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lftj.engine.calls.limits import LimitStack
    from lftj.engine.programs.handles import RuleHandle
    from lftj.engine.versions.noted_work import Noted
    from lftj.engine.versions.result import Result
    from lftj.explain.figures.profile import Profile
    from lftj.explain.figures.views import Overview
    from lftj.explain.plans.plan_report import PlanReport
    from lftj.program.normal_form import RelationSchema
    from lftj.program.program import Program
    from lftj.proofs.missing import WhyNot
    from lftj.proofs.proof import Proof


class ShownVersion(Protocol):
    """One committed version."""

    @property
    def number(self) -> int:
        """Number of the commit that made it."""
        ...

    @property
    def program(self) -> Program:
        """Relations and rules, numbered as the handles of this process are."""
        ...

    def sample(self, schema: RelationSchema, rows: int) -> list[tuple[Any, ...]]:
        """About so many rows of a relation."""
        ...

    def query(self, question: object, values: Sequence[object]) -> Result:
        """Answers to a question."""
        ...

    def plan(self, rule: RuleHandle | None, passes: bool) -> PlanReport:
        """Plans of one rule, or of all."""
        ...

    def overview(self) -> Overview:
        """Relations with their rows."""
        ...

    def explain(
        self, what: object, row: object, rows: int, proofs: int | None
    ) -> Proof | Iterator[Proof]:
        """The smallest proof of a row, or so many proofs. Raises ExplanationError."""
        ...

    def why_not(self, what: object, row: object, rows: int, changes: int) -> WhyNot:
        """The reason why a row is not there."""
        ...


class Log(Protocol):
    """The record of commits."""

    def log(self) -> Result:
        """The records as a table."""
        ...

    def works(self, known: Collection[int]) -> list[Noted]:
        """The noted works of rules, but for these versions."""
        ...


class Subject(Protocol):
    """A workspace that is shown."""

    limits: LimitStack
    """Limits of explanations, for the thread that set them."""

    @property
    def version(self) -> int:
        """Number of the last version."""
        ...

    @property
    def title(self) -> str:
        """Name of the place where it is, as strangers may read it."""
        ...

    def current(self) -> ShownVersion:
        """The last version."""
        ...

    def timeline(self, capability: str) -> Log:
        """Access to the past. Raises DistributedError over parts."""
        ...

    def memory(self) -> Result:
        """Rows and bytes."""
        ...

    def profile(self, last: int | None) -> Profile:
        """Costs of the last commits."""
        ...

    def wait_for(self, version: int, timeout: float | None) -> bool:
        """Wait until a version is there, at most so many seconds."""
        ...
