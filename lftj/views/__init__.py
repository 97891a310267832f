# SPDX-License-Identifier: Apache-2.0
"""Views that every commit keeps up to date, as one graph of nodes: joins, groups, unions and
fixpoints.

`graph` says which nodes derive a relation, `runner` brings the nodes up to date that a commit
touches, `states` has what they keep. `lftj.maintenance` is the inside of fixpoints; its `trace`
serves joins only, its `rules` and `inputs` serve fixpoints and other nodes.
"""

from __future__ import annotations

from lftj.views.arms import Arm, BoundedArm, ExtremesArm, GroupArm, JoinArm
from lftj.views.failures import placed_in
from lftj.views.family import Family
from lftj.views.group_node import GroupState
from lftj.views.join_node import JoinState
from lftj.views.levels_state import LevelsState
from lftj.views.runner import Refreshed, refresh
from lftj.views.states import NO_STATES, ViewStates, shown_key, stratum_key
from lftj.views.union_node import UnionState

__all__ = [
    "NO_STATES",
    "Arm",
    "BoundedArm",
    "ExtremesArm",
    "Family",
    "GroupArm",
    "GroupState",
    "JoinArm",
    "JoinState",
    "LevelsState",
    "Refreshed",
    "UnionState",
    "ViewStates",
    "placed_in",
    "refresh",
    "shown_key",
    "stratum_key",
]
