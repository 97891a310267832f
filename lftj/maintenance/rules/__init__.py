"""Maintenance of relations that do not depend on themselves: delta queries, extremes,
initial evaluation.
"""

from __future__ import annotations

from lftj.maintenance.rules.failures import placed_in
from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.maintenance.rules.row_checks import check_rows
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.maintenance.rules.shared_head import SharedHead
from lftj.maintenance.rules.view_states import ViewState, ViewStates, shown_key

__all__ = [
    "RelationState",
    "RuleState",
    "SharedHead",
    "ViewState",
    "ViewStates",
    "check_rows",
    "head_picks",
    "placed_in",
    "shown_key",
]
