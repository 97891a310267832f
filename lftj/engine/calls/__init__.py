# SPDX-License-Identifier: Apache-2.0
"""Rules of every call of a user, whatever it does: its options, the limits it runs under, word of
its progress, and what a backend refuses.
"""

from __future__ import annotations

from lftj.engine.calls.limits import Limits, LimitStack, in_time, short_of_memory, while_reading
from lftj.engine.calls.refusals import Kind, opened_to_read, refused

__all__ = [
    "Kind",
    "LimitStack",
    "Limits",
    "in_time",
    "opened_to_read",
    "refused",
    "short_of_memory",
    "while_reading",
]
