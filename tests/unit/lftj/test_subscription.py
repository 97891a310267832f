from __future__ import annotations

import logging

from lftj.engine.delivery.subscription import Subscriptions
from lftj.engine.versions.result import Result
from lftj.types import INT


def result(value: int) -> Result:
    return Result.of_rows((("n", INT),), [(value,)], version=value, name="r")


def announce(subscriptions: Subscriptions, changes):
    """As a commit does."""
    subscriptions.waiting.extend(subscriptions.addressed(changes, lambda name: changes[name]()))


def test_changes_go_to_those_who_asked_in_order():
    subscriptions, seen = Subscriptions(), []
    subscriptions.add("p", lambda changes: seen.append(("p", changes.version)), None)
    subscriptions.add("q", lambda changes: seen.append(("q", changes.version)), result(0))
    made = []

    def make(value):
        made.append(value)
        return result(value)

    announce(subscriptions, {"p": lambda: make(1), "unheard": lambda: make(99)})
    announce(subscriptions, {"q": lambda: make(2)})
    subscriptions.deliver()
    assert seen == [("q", 0), ("p", 1), ("q", 2)]
    assert made == [1, 2]


def test_a_cancelled_subscription_hears_no_more():
    subscriptions, seen = Subscriptions(), []
    with subscriptions.add("p", lambda changes: seen.append(changes.version), None) as subscription:
        announce(subscriptions, {"p": lambda: result(1)})
        subscriptions.deliver()
        announce(subscriptions, {"p": lambda: result(2)})
    subscriptions.deliver()
    subscription.cancel()
    assert seen == [1]
    assert repr(subscription) == "<Subscription to p, cancelled>"


def test_a_failing_callback_is_logged_and_the_others_are_called(caplog):
    subscriptions, seen = Subscriptions(), []

    def fail(_changes):
        raise ValueError("no")

    subscriptions.add("p", fail, None)
    subscriptions.add("p", lambda changes: seen.append(changes.version), None)
    announce(subscriptions, {"p": lambda: result(3)})
    with caplog.at_level(logging.ERROR, logger="lftj"):
        subscriptions.deliver()
    assert seen == [3]
    (record,) = caplog.records
    assert "a subscriber of p failed on version 3" in record.getMessage()
    assert record.exc_info is not None
    assert repr(record.exc_info[1]) == "ValueError('no')"


def test_what_a_callback_announces_is_delivered_after_what_waits():
    subscriptions, seen = Subscriptions(), []

    def again(changes):
        seen.append(changes.version)
        if changes.version == 1:
            announce(subscriptions, {"p": lambda: result(9)})
            subscriptions.deliver()

    subscriptions.add("p", again, None)
    announce(subscriptions, {"p": lambda: result(1)})
    announce(subscriptions, {"p": lambda: result(2)})
    subscriptions.deliver()
    assert seen == [1, 2, 9]
