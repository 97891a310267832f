# SPDX-License-Identifier: Apache-2.0
"""Committed versions as values: the state of one, the past ones that a process holds, what branches
have in common, and rows on the way out.
"""

from __future__ import annotations

from lftj.engine.versions.ancestry import base_rows
from lftj.engine.versions.past import Entry
from lftj.engine.versions.result import ANSWERS, Result, change_result
from lftj.engine.versions.state import State, name_of

__all__ = ["ANSWERS", "Entry", "Result", "State", "base_rows", "change_result", "name_of"]
