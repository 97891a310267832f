# SPDX-License-Identifier: Apache-2.0
"""The reach of a change: sensitivity indices of leapfrog triejoins, tree surgeries, and the regions
to evaluate again.

A run's trace (`TraceLog`) becomes one `SensitivityIndex` per position of the body (`BodyShape`), at
a granularity that `granularity_choice` picks. A change of a relation becomes `surgeries` of its
trie, and `change_oracle` turns these and the indices into `Regions`.
"""

from lftj.sensitivity.granularity import EXACT, NONE, Granularity, hull, projected
from lftj.sensitivity.index import SensitivityIndex
from lftj.sensitivity.liveness import Liveness
from lftj.sensitivity.oracle import OracleWork, change_oracle, touched_intervals
from lftj.sensitivity.region import Regions
from lftj.sensitivity.shape import AtomShape, BodyShape, Constant, Position
from lftj.sensitivity.surgery import Surgeries, surgeries
from lftj.sensitivity.trace_log import NEGATIVE_INFINITY, POSITIVE_INFINITY, TraceLog

__all__ = [
    "EXACT",
    "NEGATIVE_INFINITY",
    "NONE",
    "POSITIVE_INFINITY",
    "AtomShape",
    "BodyShape",
    "Constant",
    "Granularity",
    "Liveness",
    "OracleWork",
    "Position",
    "Regions",
    "SensitivityIndex",
    "Surgeries",
    "TraceLog",
    "change_oracle",
    "hull",
    "projected",
    "surgeries",
    "touched_intervals",
]
