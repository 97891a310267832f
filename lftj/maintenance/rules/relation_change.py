"""A relation that does not depend on itself at a commit, as its strategies see it, and what they
leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lftj.join.context import Context
from lftj.join.strategy import Exhausted, Why
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.rule_state import RelationState
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.delta import Delta


class Maintained(NamedTuple):
    """A relation after a commit: the net change of its rows, its state (None where nothing is
    kept), and what was done.
    """

    delta: Delta
    state: RelationState | None = None
    works: Sequence[RuleWork] = ()


class RelationChange:
    """A relation at a commit, that does not depend on itself, with the rules that derive it.

    `outcome`: the word for an evaluation in full, by what was tried before it; `begun`: the kernel
    steps before the first attempt.
    """

    def __init__(
        self,
        schema: RelationSchema,
        rules: tuple[NormalRule | FunctorRule, ...],
        versions: Versions,
        context: Context,
        heads: CommitHeads,
    ):
        self.schema, self.rules = schema, rules
        self.versions, self.context, self.heads = versions, context, heads
        self.outcome, self.begun = "full", context.budget.work

    def note(self, exhausted: Exhausted) -> None:
        """Take notice of a strategy that gave up."""
        self.outcome = "forecast" if exhausted.why is Why.FORECAST else "fallback"
