# SPDX-License-Identifier: Apache-2.0
"""Transactions: what users do between a beginning and an end, gathered in a draft."""

from __future__ import annotations

from lftj.engine.transaction.program_draft import Input, ProgramDraft, RelationOrName
from lftj.engine.transaction.table_feeds import moved, require_name
from lftj.engine.transaction.transaction_life import Writing

__all__ = ["Input", "ProgramDraft", "RelationOrName", "Writing", "moved", "require_name"]
