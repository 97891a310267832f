# SPDX-License-Identifier: Apache-2.0
"""Commits: from a state and what a transaction proposes to the next state. Nothing here publishes
one.
"""

from __future__ import annotations

from lftj.engine.commit.commit import Proposal, begin_calls, carry_out
from lftj.engine.commit.keys import check_key
from lftj.engine.commit.staging import Staging, codes_of, last_of_keys, require_key

__all__ = [
    "Proposal",
    "Staging",
    "begin_calls",
    "carry_out",
    "check_key",
    "codes_of",
    "last_of_keys",
    "require_key",
]
