# SPDX-License-Identifier: Apache-2.0
"""A workspace while it lives: the engine, which shows one committed state after another, and what
readers ask of it.
"""

from __future__ import annotations

from lftj.engine.live.answers import answer, evaluated, read
from lftj.engine.live.engine import Engine
from lftj.engine.live.schema_history import rows_then
from lftj.engine.live.timeline import Timeline
from lftj.engine.live.verify import Discrepancy, discrepancies

__all__ = [
    "Discrepancy",
    "Engine",
    "Timeline",
    "answer",
    "discrepancies",
    "evaluated",
    "read",
    "rows_then",
]
