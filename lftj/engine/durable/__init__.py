# SPDX-License-Identifier: Apache-2.0
"""Workspaces at a path: commits in a log, checkpoints that name pages, the past that both lead to,
and what outlives them.
"""

from __future__ import annotations

from lftj.engine.durable.opening import open_path, opened_to_read, save

__all__ = ["open_path", "opened_to_read", "save"]
