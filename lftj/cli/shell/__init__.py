# SPDX-License-Identifier: Apache-2.0
"""`lftj shell`: `session` is its state, `loop` runs statements, and each other module has the
commands of a kind.
"""

from __future__ import annotations

from lftj.cli.shell.loop import COMMANDS, Shell, run

__all__ = ["COMMANDS", "Shell", "run"]
