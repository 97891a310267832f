# SPDX-License-Identifier: Apache-2.0
"""Word of commits to those who wait for them: one writer after another, subscribers, consumers."""

from __future__ import annotations

from lftj.engine.delivery.subscription import News, Subscriptions
from lftj.engine.delivery.writer_lock import WriterLock

__all__ = ["News", "Subscriptions", "WriterLock"]
