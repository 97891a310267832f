"""One writer at a time: the lock that a transaction holds from its start to its end."""

from __future__ import annotations

import threading

from lftj.errors import TransactionError


class WriterLock:
    """Held by at most one transaction. Knows its thread, so that a second transaction in the same thread is an error, not a deadlock."""

    def __init__(self, timeout: float):
        self.timeout = timeout
        self._lock = threading.Lock()
        self._owner: int | None = None

    @property
    def mine(self) -> bool:
        """True when this thread holds the lock."""
        return self._owner == threading.get_ident()

    def acquire(self) -> None:
        """Take the lock, waiting up to `timeout` seconds for another thread's transaction. Raises TransactionError (E322, E323)."""
        if self.mine:
            hint = "use the open transaction, or end it first with commit() or rollback()"
            raise TransactionError("this thread already has an open transaction on the workspace", code="E322", hint=hint)
        if not self._lock.acquire(timeout=self.timeout):
            hint = "end the other transaction, or wait longer: lftj.connect(writer_timeout=seconds)"
            raise TransactionError(f"another thread's transaction is still open after {self.timeout:g} s", code="E323", hint=hint)
        self._owner = threading.get_ident()

    def release(self) -> None:
        """Give the lock back; any thread may do it."""
        self._owner = None
        self._lock.release()
