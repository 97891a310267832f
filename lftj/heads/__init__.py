# SPDX-License-Identifier: Apache-2.0
"""Heads: what turns satisfying assignments into the rows of a view, and the state each kind of head
keeps for that.
"""

from __future__ import annotations

from lftj.heads.built_in import built_in
from lftj.heads.float_sum import ExactSum
from lftj.heads.function import FIRST_KEYS
from lftj.heads.integer_sum import outside_range
from lftj.heads.user import UserAggregate

__all__ = ["FIRST_KEYS", "ExactSum", "UserAggregate", "built_in", "outside_range"]
