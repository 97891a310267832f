# SPDX-License-Identifier: Apache-2.0
"""Programs as users give them: declarations, handles on what was added, and what comes and goes
from one program to the next. Nothing here knows a row.
"""

from __future__ import annotations

from lftj.engine.programs.handles import RuleHandle, number_of, without

__all__ = ["RuleHandle", "number_of", "without"]
