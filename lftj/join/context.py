# SPDX-License-Identifier: Apache-2.0
"""Context of an evaluation besides its data, in three: resources, budget and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from lftj.join.budget import Budget
from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.index_upkeep import Upkeep
from lftj.join.resources import Resources
from lftj.scantree.frozen import frozen, record
from lftj.tuning import Tuning
from lftj.tuning.aids import KEPT_COUNTS


@frozen
class Forced:
    """Choices taken away from the planners, for tests and experiments."""

    orders: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The variable order of a rule: its id → variable names."""
    trace: Any = None
    """A `lftj.maintenance.trace.trace_planner.TraceOverride`; None: as planned."""


@record
class Context:
    """One evaluation's surroundings, and what it is made for."""

    resources: Resources
    budget: Budget = field(default_factory=Budget)
    statistics: Statistics = field(default_factory=Statistics)
    keep: bool = True
    """True when states are kept from which views can be updated later; queries keep none."""
    fraction: float = 0.2
    """Share of a full evaluation's work that an update may take before it is given up for one."""
    upkeep: Upkeep | None = None
    """During a commit: what it does for key orders."""
    forced: Forced = field(default_factory=Forced)

    def __post_init__(self) -> None:
        self.budget.memory = self.resources.taken

    @cached_property
    def tuning(self) -> Tuning:
        """Thresholds that choose between ways."""
        return self.statistics.tuning

    @property
    def keep_counts(self) -> bool:
        """Tell whether searches keep counts of proofs."""
        return KEPT_COUNTS not in self.tuning.without
