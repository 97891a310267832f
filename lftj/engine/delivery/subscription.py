# SPDX-License-Identifier: Apache-2.0
"""Delivery of change sets to subscribers.

Change sets are delivered after the commit, in the order of the commits, by the thread that
committed. A callback cannot undo the commit: what it raises is logged (logger `lftj`) and the next
callback is called. A callback may itself commit; its change set is delivered after those that are
already waiting.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from lftj.engine.calls.uncopied import Uncopied
from lftj.engine.delivery.writer_lock import taken
from lftj.engine.versions.result import Result
from lftj.errors import TransactionError
from lftj.program.alteration import Alteration
from lftj.scantree.process.forking import held_while_forking, put_right_in_child

Callback = Callable[[Result], object]
News = tuple["Subscription", Result]
"""A subscription, and a change set for it."""
_NO_NAMES: Mapping[str, str] = {}

_log = logging.getLogger("lftj")


class Subscription(Uncopied):
    """A standing request for the changes of one relation. `cancel()` ends it; so does leaving a
    `with` block.
    """

    kind, instead = "subscription", "subscribe anew, where the changes are to be told"

    def __init__(self, relation: str, callback: Callback, cancel: Callable[[Subscription], None]):
        self.relation = relation
        self.callback = callback
        self._cancel = cancel
        self._cancelled = False

    def cancel(self) -> None:
        """No more calls from now on. Harmless when repeated."""
        self._cancel(self)
        self._cancelled = True

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def __repr__(self) -> str:
        return f"<Subscription to {self.relation}{', cancelled' if self._cancelled else ''}>"


class Subscriptions:
    """The subscriptions of one workspace and the change sets that wait for delivery."""

    def __init__(self) -> None:
        self._by_relation: dict[str, tuple[Subscription, ...]] = {}
        self.waiting: deque[News] = deque()
        """Queue of change sets to deliver. With the writer lock held, add what is `addressed`; then
        `deliver` without it.
        """
        self._lock = threading.Lock()
        self._delivering = threading.Lock()
        self._deliverer: int | None = None
        held_while_forking(self._lock)
        put_right_in_child(self, Subscriptions._without_others)

    def _without_others(self) -> None:
        """Reset a forked child's queue: no other thread goes on with what it was delivering."""
        if self._deliverer != threading.get_ident():
            self._delivering = threading.Lock()

    def add(self, relation: str, callback: Callback, snapshot: Result | None) -> Subscription:
        """A new subscription; `snapshot` is delivered to it first. Call with the writer lock held,
        so that no commit comes between.
        """
        if not callable(callback):
            hint = "write subscribe(relation, function): it is called with a Result"
            raise TransactionError(
                f"{callback!r} cannot be called with changes", code="E326", hint=hint
            )
        subscription = Subscription(relation, callback, self._remove)
        with self._lock:
            self._by_relation[relation] = (*self._by_relation.get(relation, ()), subscription)
            if snapshot is not None:
                self.waiting.append((subscription, snapshot))
        return subscription

    def _remove(self, subscription: Subscription) -> None:
        with self._lock:
            left = tuple(
                one
                for one in self._by_relation.get(subscription.relation, ())
                if one is not subscription
            )
            self._by_relation[subscription.relation] = left
            if not left:
                del self._by_relation[subscription.relation]

    def relations(self) -> list[str]:
        """The relations that someone asked for."""
        with self._lock:
            return list(self._by_relation)

    def follow(self, alterations: Iterable[Alteration]) -> None:
        """Have subscriptions to relations that were renamed go on under the new names."""
        for each in alterations:
            if each.name != each.relation:
                with self._lock:
                    moved = self._by_relation.pop(each.relation, ())
                    for subscription in moved:
                        subscription.relation = each.name
                    if moved:
                        others = self._by_relation.get(each.name, ())
                        self._by_relation[each.name] = (*others, *moved)

    def addressed(
        self,
        changed: Iterable[str],
        make: Callable[[str], Result],
        names: Mapping[str, str] = _NO_NAMES,
    ) -> list[News]:
        """The change sets of a commit, made for those who asked. Call before it is published, as
        making them may fail. `names`: those under which relations were asked for, where they were
        renamed.
        """
        found: list[News] = []
        for relation in changed:
            subscribers = self._by_relation.get(names.get(relation, relation))
            if subscribers:
                result = make(relation)
                if len(result) or result.kind == "schema":
                    found += [(subscription, result) for subscription in subscribers]
        return found

    def deliver(self) -> None:
        """Deliver what waits, unless some thread is at it already (it will then deliver this too).
        KeyboardInterrupt and the like pass: what waits then is delivered the next time.
        """
        while self.waiting and taken(self._delivering, 0):
            try:
                self._deliverer = threading.get_ident()
                while self.waiting:
                    self._deliver_first()
            finally:
                self._deliverer = None
                self._delivering.release()

    def _deliver_first(self) -> None:
        """Call the callback; log what it raises. What is interrupted before the call goes on
        waiting.
        """
        subscription, changes = self.waiting[0]
        listening = subscription in self._by_relation.get(subscription.relation, ())
        try:
            if listening:
                subscription.callback(changes)
        except Exception:
            _log.exception(
                "a subscriber of %s failed on version %d; the commit stands",
                subscription.relation,
                changes.version,
            )
        finally:
            self.waiting.popleft()
